// What of the alloc scenario needs no GPU: what it refuses, and what it concludes.
#include "core/error.hpp"
#include "parsing.hpp"
#include "run/findings.hpp"
#include "scenarios/scenarios.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

std::vector<PlannedCase> plan(const std::vector<std::string>& arguments) { return test::cases_of(arguments); }

/// Does not say that it is simulated, so that the scenario runs. On it, all memory but registering it is free of
/// charge.
class UnmarkedDevice : public DeviceOtherwise {
 public:
  UnmarkedDevice(sim::SimMachine& machine, const Otherwise& how)
      : DeviceOtherwise(machine, how), capabilities_(SimDevice::capabilities()) {
    capabilities_.environment.backend = "unmarked";
    capabilities_.memory_pools = true;
  }
  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }

 private:
  Capabilities capabilities_;
};

std::vector<Result> run_unmarked(const std::vector<std::string>& arguments, const Otherwise& how = {}) {
  sim::SimMachine machine = machine_with<UnmarkedDevice>(how);
  return run_all(plan(arguments), quick_bench(machine.device()));
}

double metric(const Result& r, const char* name) {
  const Metric* found = r.metric(name);
  if (found == nullptr) throw std::runtime_error(r.config.key() + " has no " + name + ": " + r.reason);
  return found->value;
}

constexpr const char* kAllButManaged =
    "malloc,malloc-huge,pinned,portable,write-combined,mapped,register,register-huge,device,device-pool";

/// A result as if measured.
Result measured(const std::string& memory, const std::string& size, std::optional<double> copies) {
  Result r(plan({"alloc", "--memory", memory, "--size", size}).front().config);
  r.add("ready", 0.1, "s");
  if (copies) r.add("break_even_copies", *copies, "copies");
  return r;
}

TEST(AllocOnSim, IsSkippedWithTheReason) {
  sim::SimMachine machine(profile("h200"));
  Device& device = machine.device();
  const auto results = run_all(plan({"alloc"}), quick_bench(device));
  EXPECT_EQ(results.size(), 8U * 3);
  for (const Result& r : results) {
    EXPECT_EQ(r.status, Status::skipped) << r.config.key();
    EXPECT_NE(r.reason.find("the operating system's and the driver's"), std::string::npos) << r.reason;
  }
}

TEST(AllocOnSim, SkipsWhatTheDeviceLacks) {
  const Result r = run_unmarked({"alloc", "--memory", "managed", "--size", "2M"}).front();
  EXPECT_EQ(r.status, Status::skipped);
  EXPECT_NE(r.reason.find("managed memory"), std::string::npos) << r.reason;
}

TEST(AllocOnSim, EveryKindOfMemoryIsVerified) {
  const std::vector<std::string> all{"alloc", "--memory", kAllButManaged, "--size", "2M"};
  for (const Result& r : run_unmarked(all)) {
    EXPECT_EQ(r.status, Status::ok) << r.config.key() << ": " << r.reason;
    EXPECT_NE(r.metric("ready"), nullptr) << r.config.key();
    EXPECT_NE(r.metric("free"), nullptr) << r.config.key();
  }
  const Otherwise shortens{.copy = [](sim::SimStream& stream, Copy c) {
    --c.bytes;
    stream.SimStream::copy(c);
  }};
  for (const Result& r : run_unmarked(all, shortens)) {
    EXPECT_EQ(r.status, Status::failed) << r.config.key();
    EXPECT_NE(r.reason.find("byte offset 2097151"), std::string::npos) << r.config.key() << ": " << r.reason;
  }
}

TEST(AllocOnSim, RegisteringHasToPayForUndoingItAsWell) {
  const Result r = run_unmarked({"alloc", "--memory", "register", "--size", "64M"}).front();
  ASSERT_EQ(r.status, Status::ok) << r.reason;
  const auto& p = profile("h200");
  constexpr double kBytes = 64. * 1024 * 1024;
  const double begin = p.register_call + kBytes / p.register_rate;
  const double end = p.unregister_call + kBytes / p.unregister_rate;
  EXPECT_NEAR(metric(r, "ready"), begin, 1e-9);
  EXPECT_NEAR(metric(r, "ready_per_gib"), 16 * begin, 1e-8);
  EXPECT_NEAR(metric(r, "free"), end, 1e-9);
  EXPECT_NEAR(r.measurement("cycle")->median, begin + end, 1e-9);
  EXPECT_NEAR(r.measurement("pageable-copy")->median, kBytes / p.pageable_h2d_rate, 20e-6);
  EXPECT_NEAR(r.measurement("copy")->median, kBytes / p.h2d_rate, 20e-6);
  // 2.4 ms once, 6.3 ms less for each copy.
  EXPECT_EQ(metric(r, "break_even_copies"), 1);
}

TEST(AllocOnSim, WhatIsNotPinnedHasNothingToPayFor) {
  for (const Result& r : run_unmarked({"alloc", "--memory", "malloc,malloc-huge,device", "--size", "2M"})) {
    EXPECT_EQ(r.metric("break_even_copies"), nullptr) << r.config.key();
    EXPECT_EQ(r.measurement("pageable-copy"), nullptr) << r.config.key();
  }
}

TEST(AllocOnSim, RefusesHugePagesForLessThanOne) {
  EXPECT_THROW(plan({"alloc", "--memory", "malloc-huge", "--size", "2097151"}), UsageError);
  EXPECT_THROW(plan({"alloc", "--memory", "register-huge", "--size", "4K"}), UsageError);
  EXPECT_EQ(plan({"alloc", "--memory", "malloc-huge", "--size", "2M"}).size(), 1U);
  EXPECT_EQ(plan({"alloc", "--memory", "malloc,register", "--size", "4K"}).size(), 2U);
}

TEST(AllocOnSim, SaysFromHowManyCopiesOnPinningPaysAtTheLargestSize) {
  const std::vector<Result> results{measured("pinned", "64M", 9),        measured("pinned", "256M", 4),
                                    measured("register", "256M", 1),     measured("write-combined", "256M", {}),
                                    measured("register-huge", "64M", 3), measured("malloc", "256M", {}),
                                    measured("device", "256M", {})};
  std::vector<std::string> texts;
  for (const Finding& f : conclude(scenarios(), results)) {
    EXPECT_EQ(f.kind, "break-even");
    texts.push_back(f.text);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "cudaMallocHost of 256 MiB pays from 4 copies on, against malloc (h2d)",
                       "write-combined cudaHostAlloc of 256 MiB does not pay: its h2d copies are not faster",
                       "registering 256 MiB of small pages pays from 1 copy on (h2d)",
                       "registering 64 MiB of huge pages pays from 3 copies on (h2d)"}));
}

}  // namespace

}  // namespace xferbench::test
