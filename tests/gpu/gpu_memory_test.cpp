// Scenarios alloc and async on a real GPU: every case runs, and results have properties that hold on any GPU.
#include "gpu/gpu_fixture.hpp"

namespace xferbench::test {

namespace {

class GpuMemoryTest : public GpuTest {
 protected:
  static double metric(const Result& r, const char* name) {
    const Metric* found = r.metric(name);
    if (found == nullptr) throw std::runtime_error(r.config.key() + " has no " + name + ": " + r.reason);
    return found->value;
  }
};

TEST_F(GpuMemoryTest, AsyncEveryWayToCall) {
  const auto results = run_ok(
      "async --size 1,4097,65537 --kernel-time 50 "
      "--in-flight none,same-stream,other-stream --host "
      "pageable,pageable-small,pageable-huge,pinned,portable,mapped,write-combined,registered,registered-huge");
  for (const Result& r : results) {
    EXPECT_LE(metric(r, "host_blocked"), 1.1) << r.config.key();
  }
}

TEST_F(GpuMemoryTest, LongPageableCopiesBlockTheirCallerAndPinnedOnesDoNot) {
  for (const Result& r : run_ok("async --size 64M --api async")) {
    if (r.config.word("host") == "pinned") {
      EXPECT_LT(metric(r, "host_blocked"), 0.1) << r.config.key();
      EXPECT_GT(metric(r, "cpu_available"), 0.7) << r.config.key();
    } else {
      EXPECT_GT(metric(r, "host_blocked"), 0.9) << r.config.key();
      EXPECT_LT(metric(r, "cpu_available"), 0.1) << r.config.key();
    }
  }
}

TEST_F(GpuMemoryTest, ACopyWaitsForAKernelInItsOwnStreamOnly) {
  const auto results = run_ok(
      "async --size 64K --dir h2d --host pinned --api async "
      "--in-flight none,same-stream,other-stream --kernel-time 5000");
  EXPECT_LT(metric(results[0], "completion"), 2e-3);
  EXPECT_GT(metric(results[1], "completion"), 4e-3);
  EXPECT_LT(metric(results[1], "submit"), 1e-3);
  EXPECT_LT(metric(results[2], "completion"), 2e-3);
}

TEST_F(GpuMemoryTest, AllocEveryKindOfMemory) {
  const std::string small =
      "alloc --size 1,4097,3M "
      "--memory malloc,pinned,portable,write-combined,mapped,register,device,device-pool,device-vmm,managed";
  const std::string huge = "alloc --size 2M,38797324 --memory malloc-huge,register-huge";
  for (const std::string& line : {small, huge}) {
    for (const Result& r : run_ok(line, true)) {
      if (r.status == Status::skipped) continue;
      EXPECT_GT(metric(r, "ready"), 0) << r.config.key();
      EXPECT_GT(metric(r, "free"), 0) << r.config.key();
      EXPECT_LE(metric(r, "ready") + metric(r, "free"), 1.5 * r.measurement("cycle")->median) << r.config.key();
    }
  }
}

TEST_F(GpuMemoryTest, OrdinaryMemoryCostsWhenItIsTouchedAndPinnedMemoryWhenItIsAllocated) {
  const auto results = run_ok("alloc --size 64M --memory malloc,pinned,register");
  const Result& ordinary = results[0];
  EXPECT_GT(ordinary.measurement("touch")->median, 10 * ordinary.measurement("allocate")->median);
  EXPECT_GT(metric(results[1], "ready"), 10 * ordinary.measurement("allocate")->median);
  // Each of these pays off after some number of copies, since copies from pinned memory are faster.
  EXPECT_GE(metric(results[1], "break_even_copies"), 1);
  EXPECT_GE(metric(results[2], "break_even_copies"), 1);
  EXPECT_EQ(ordinary.metric("break_even_copies"), nullptr);
}

}  // namespace

}  // namespace xferbench::test
