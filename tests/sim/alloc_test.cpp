// Scenario alloc without a GPU: cases that it refuses, and its findings.
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

/// Runs the command on a device that does not report itself as simulated, so that alloc runs. Only registering memory
/// costs time there.
std::vector<Result> run_unmarked(const Words& command, const Override& how = {}) {
  sim::SimMachine machine = machine_with<CapableDevice>(how);
  return run_on(machine.device(), command);
}

Measurement known(const char* name, double seconds, double doubt) {
  Measurement m;
  m.name = name;
  m.samples = {seconds};
  m.median = seconds;
  m.ci95 = Interval{(1 - doubt) * seconds, (1 + doubt) * seconds};
  return m;
}

/// A made-up result. Times in milliseconds: `cost` of allocating and freeing, one copy from this memory, and one copy
/// from pageable memory. Intervals are +- `doubt`, relative.
Result measured_as(const std::string& memory, const std::string& size, double cost, double copy, double pageable_copy,
                   double doubt = 0.001) {
  Result r(cases_of({"alloc", "--memory", memory, "--size", size}).front().config);
  r.add("ready", 0.1, "s");
  r.measurements = {known("cycle", 1e-3 * cost, doubt), known("copy", 1e-3 * copy, doubt),
                    known("pageable-copy", 1e-3 * pageable_copy, doubt)};
  if (!memory.starts_with("register")) r.measurements.push_back(known("malloc-cycle", 1e-3, doubt));
  return r;
}

TEST_F(OnSim, AllocIsSkippedWithTheReason) {
  expect_all(run({"alloc"}), Status::skipped, "does not model the cost of memory allocation", 8 * 3);
}

TEST(AllocOnSim, SkipsWhatTheDeviceLacks) {
  expect_all(run_unmarked({"alloc", "--memory", "managed", "--size", "2M"}), Status::skipped, "managed memory");
}

TEST(AllocOnSim, EveryKindOfMemoryIsVerified) {
  const Words all{"alloc", "--size", "2M", "--memory",
                  "malloc,malloc-huge,pinned,portable,write-combined,mapped,register,register-huge,device,device-pool,"
                  "device-vmm,malloc-hugetlb,register-hugetlb,numa-vmm"};
  const std::vector<Result> results = run_unmarked(all);
  expect_all(results, Status::ok);
  for (const Result& r : results) {
    EXPECT_NE(r.metric("ready"), nullptr) << r.config.key();
    EXPECT_NE(r.metric("free"), nullptr) << r.config.key();
  }
  const Override shortens{.copy = [](sim::SimStream& stream, Copy c) {
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
  // The setup costs 2.4 ms once; each copy saves 6.3 ms.
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
  const std::vector<Result> results{
      measured_as("pinned", "64M", 100, 1, 2),        measured_as("pinned", "256M", 4.5, 1, 2),
      measured_as("register", "256M", 0.9, 1, 2),     measured_as("write-combined", "256M", 4.5, 2, 2),
      measured_as("register-huge", "64M", 2.5, 1, 2), measured_as("malloc", "256M", 1, 1, 1),
      measured_as("device", "256M", 1, 1, 1)};
  EXPECT_EQ(sentences(results), (Words{"cudaMallocHost of 256 MiB pays off from 4 copies, against malloc (h2d)",
                                       "write-combined cudaHostAlloc of 256 MiB never pays off: copies of pageable "
                                       "memory are as fast (within 1 %) (h2d)",
                                       "registering 256 MiB of small pages pays off from 1 copy (h2d)",
                                       "registering 64 MiB of huge pages pays off from 3 copies (h2d)"}));
}

TEST(AllocOnSim, ABreakEvenHasTheIntervalOfWhatItIsMadeOf) {
  const auto said = [](const Result& r) { return sentences(std::vector{r}).front(); };
  // 300 ms +- 9 over 0.2 ms +- 0.08: from 291 / 0.281 to 309 / 0.119.
  EXPECT_EQ(said(measured_as("pinned", "256M", 301, 1.8, 2, 0.03)),
            "cudaMallocHost of 256 MiB pays off from 1037 to 2591 copies, against malloc (h2d)");
  EXPECT_EQ(said(measured_as("pinned", "256M", 301, 1.8, 2, 0.06)),
            "cudaMallocHost of 256 MiB may or may not pay off: neither kind of copy is significantly faster (h2d)");
  EXPECT_EQ(said(measured_as("pinned", "256M", 301, 2, 1, 0.01)),
            "cudaMallocHost of 256 MiB never pays off: copies of pageable memory are faster (h2d)");
  Result few = measured_as("pinned", "256M", 4.5, 1, 2);
  few.measurements[1].ci95.reset();
  EXPECT_EQ(said(few),
            "cudaMallocHost of 256 MiB may or may not pay off: too few samples (at least 6 are needed): raise "
            "--max-samples or --budget (h2d)");
}

}  // namespace

}  // namespace xferbench::test
