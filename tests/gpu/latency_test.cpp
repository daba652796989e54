// Scenario latency on a real GPU: every case with few samples, and detection of errors.
#include "core/error.hpp"
#include "core/units.hpp"
#include "gpu/gpu_fixture.hpp"
#include "scenarios/common/chase.hpp"
#include "scenarios/latency/operations.hpp"

namespace xferbench::test {

namespace {

class LatencyOnGpu : public GpuTest {};

TEST_F(LatencyOnGpu, EveryCaseVerifies) {
  for (const char* flags :
       {"--buffer 1M", "--op copy --host pinned,pageable --size 1,8,4097,1M", "--op graph --nodes 1,1000"}) {
    for (const Result& r : run_ok(std::string("latency ") + flags)) {
      EXPECT_GT(r.median("latency"), 50e-9) << r.config.key();
      EXPECT_LT(r.median("latency"), 5e-3) << r.config.key();
      for (const Measurement& m : r.measurements) EXPECT_EQ(m.unit, "s") << r.config.key() << " " << m.name;
    }
  }
}

TEST_F(LatencyOnGpu, AKernelBeginsBeforeItsEndIsNoticed) {
  const Result r = run_ok("latency --op launch").front();
  EXPECT_GT(r.value("clock_uncertainty"), 0);
  EXPECT_GT(r.value("start"), 0);
  EXPECT_LT(r.value("start"), r.median("latency") + r.value("clock_uncertainty"));
}

TEST_F(LatencyOnGpu, WaitsReallyWait) {
  for (const Result& r : run_ok("latency --op wait")) {
    EXPECT_GT(r.value("waited"), 50e-6) << r.config.key();
    EXPECT_NE(r.metric("cpu_share"), nullptr) << r.config.key();
  }
}

TEST_F(LatencyOnGpu, AChaseWithAWrongPointerFails) {
  for (const ChaseMemory where : {ChaseMemory::device, ChaseMemory::host}) {
    PointerChase chase(device(), where, 1 * MiB, 3);
    for (int i = 0; i < 40; ++i) EXPECT_NO_THROW(chase.pass());  // more than one full cycle
    // The next pass starts where this one ended: make that place point to itself.
    auto* end = const_cast<kernels::ChaseLine*>(chase.pass().last);
    if (where == ChaseMemory::host) {
      end->next = end;
    } else {
      const kernels::ChaseLine itself{end};
      device().copy_and_wait({reinterpret_cast<std::byte*>(end), reinterpret_cast<const std::byte*>(&itself),
                              sizeof(itself), Direction::h2d});
    }
    EXPECT_THROW(chase.pass(), VerificationError);
  }
}

TEST_F(LatencyOnGpu, AChaseThroughHostMemoryIsSlowerThanThroughTheGpus) {
  const auto results = run_ok("latency --op chase");
  ASSERT_EQ(results.size(), 2U);
  EXPECT_GT(results[1].median("latency"), results[0].median("latency"));
  EXPECT_GT(results[0].value("sm_clock"), 100e6);
}

TEST_F(LatencyOnGpu, CountedLaunchesAndNodesAllRun) {
  EXPECT_NO_THROW(EmptyLaunch(device()).check());
  EXPECT_NO_THROW(GraphReplay(device(), 37).check());
}

}  // namespace

}  // namespace xferbench::test
