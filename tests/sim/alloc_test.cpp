// What of the alloc scenario needs no GPU: what it refuses, and what it concludes.
#include "core/error.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

/// On a device that does not say that it is simulated: all memory but registering it is free of charge.
std::vector<Result> run_unmarked(const Words& command, const Otherwise& how = {}) {
  sim::SimMachine machine = machine_with<WillingDevice>(how);
  return run_on(machine.device(), command);
}

/// A result as if measured.
Result measured_as(const std::string& memory, const std::string& size, std::optional<double> copies) {
  Result r(cases_of({"alloc", "--memory", memory, "--size", size}).front().config);
  r.add("ready", 0.1, "s");
  if (copies) r.add("break_even_copies", *copies, "copies");
  return r;
}

TEST_F(OnSim, AllocIsSkippedWithTheReason) {
  expect_all(run({"alloc"}), Status::skipped, "the operating system's and the driver's", 8 * 3);
}

TEST(AllocOnSim, SkipsWhatTheDeviceLacks) {
  expect_all(run_unmarked({"alloc", "--memory", "managed", "--size", "2M"}), Status::skipped, "managed memory");
}

TEST(AllocOnSim, EveryKindOfMemoryIsVerified) {
  const Words all{"alloc", "--size", "2M", "--memory",
                  "malloc,malloc-huge,pinned,portable,write-combined,mapped,register,register-huge,device,device-pool"};
  const std::vector<Result> results = run_unmarked(all);
  expect_all(results, Status::ok);
  for (const Result& r : results) {
    EXPECT_NE(r.metric("ready"), nullptr) << r.config.key();
    EXPECT_NE(r.metric("free"), nullptr) << r.config.key();
  }
  const Otherwise shortens{.copy = [](sim::SimStream& stream, Copy c) {
    --c.bytes;
    stream.SimStream::copy(c);
  }};
  expect_all(run_unmarked(all, shortens), Status::failed, "byte offset 2097151");
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
  EXPECT_NEAR(median(r, "cycle"), begin + end, 1e-9);
  EXPECT_NEAR(median(r, "pageable-copy"), kBytes / p.pageable_h2d_rate, 20e-6);
  EXPECT_NEAR(median(r, "copy"), kBytes / p.h2d_rate, 20e-6);
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
  EXPECT_THROW(cases_of({"alloc", "--memory", "malloc-huge", "--size", "2097151"}), UsageError);
  EXPECT_THROW(cases_of({"alloc", "--memory", "register-huge", "--size", "4K"}), UsageError);
  EXPECT_EQ(cases_of({"alloc", "--memory", "malloc-huge", "--size", "2M"}).size(), 1U);
  EXPECT_EQ(cases_of({"alloc", "--memory", "malloc,register", "--size", "4K"}).size(), 2U);
}

TEST(AllocOnSim, SaysFromHowManyCopiesOnPinningPaysAtTheLargestSize) {
  const std::vector<Result> results{measured_as("pinned", "64M", 9),        measured_as("pinned", "256M", 4),
                                    measured_as("register", "256M", 1),     measured_as("write-combined", "256M", {}),
                                    measured_as("register-huge", "64M", 3), measured_as("malloc", "256M", {}),
                                    measured_as("device", "256M", {})};
  EXPECT_EQ(sentences(results),
            (Words{"cudaMallocHost of 256 MiB pays from 4 copies on, against malloc (h2d)",
                   "write-combined cudaHostAlloc of 256 MiB does not pay: its h2d copies are not faster",
                   "registering 256 MiB of small pages pays from 1 copy on (h2d)",
                   "registering 64 MiB of huge pages pays from 3 copies on (h2d)"}));
}

}  // namespace

}  // namespace xferbench::test
