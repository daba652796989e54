// Scenario async on the simulated device, whose blocking calls are known exactly.
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

/// Drops the last byte of each copy, as a broken driver might.
const Override kShortening{.copy = [](sim::SimStream& stream, Copy c) {
  if (c.bytes > 1) --c.bytes;
  stream.SimStream::copy(c);
}};

class AsyncOnSim : public OnSim {
 protected:
  std::vector<Result> run(Words flags) {
    flags.insert(flags.begin(), "async");
    return OnSim::run(flags);
  }

  /// A made-up result.
  static Result blocked(const std::string& size, double share) {
    Result r(
        cases_of({"async", "--dir", "h2d", "--host", "pinned", "--api", "async", "--in-flight", "none", "--size", size})
            .front()
            .config);
    r.add("host_blocked", share, "1");
    return r;
  }
};

TEST_F(AsyncOnSim, EveryWayToCallVerifies) {
  const auto results = run({"--size", "1,4097,1M", "--in-flight", "none,same-stream,other-stream", "--host",
                            "pageable,pageable-small,pageable-huge,pinned,portable,mapped,write-combined,registered,"
                            "registered-huge"});
  expect_all(results, Status::ok, "", 9 * 2 * 2 * 3 * 3);
}

TEST_F(AsyncOnSim, AWrongByteFailsTheCase) {
  sim::SimMachine shortening = machine_that(kShortening);
  expect_all(run_on(shortening.device(), {"async", "--size", "64K"}), Status::failed, "byte offset 65535");
}

TEST_F(AsyncOnSim, PageableCopiesBlockTheirCallerAndPinnedOnesLeaveItTheCpu) {
  for (const Result& r : run({"--size", "64M", "--api", "async"})) {
    const bool pinned = r.config.word("host") == "pinned";
    if (pinned) {
      EXPECT_LT(metric(r, "host_blocked"), 0.05) << r.config.key();
      EXPECT_GT(metric(r, "cpu_available"), 0.93) << r.config.key();
      EXPECT_LT(metric(r, "cpu_available"), 1) << r.config.key();
    } else {
      EXPECT_GT(metric(r, "host_blocked"), 0.95) << r.config.key();
      EXPECT_EQ(metric(r, "cpu_work"), 0) << r.config.key();
    }
  }
}

TEST_F(AsyncOnSim, TheBlockingCallLeavesNothing) {
  for (const Result& r : run({"--size", "64M", "--api", "sync"})) {
    EXPECT_GT(metric(r, "host_blocked"), 0.95) << r.config.key();
    EXPECT_EQ(metric(r, "cpu_available"), 0) << r.config.key();
  }
}

TEST_F(AsyncOnSim, NumbersFitTogether) {
  const Result r =
      run({"--size", "64M", "--dir", "h2d", "--host", "pinned", "--api", "async", "--in-flight", "none"})[0];
  const auto& p = profile("h200");
  EXPECT_NEAR(metric(r, "submit"), p.copy_call, 1e-9);
  EXPECT_NEAR(metric(r, "completion"), metric(r, "submit") + metric(r, "wait"), 1e-9);
  EXPECT_NEAR(metric(r, "completion"), 67.108864e6 / p.h2d_rate, 10e-6);
  EXPECT_NEAR(metric(r, "host_blocked"), metric(r, "submit") / metric(r, "completion"), 1e-9);
  // CPU work done, times the time of one iteration alone, is the CPU time that was available.
  const double per_iteration = median(r, "unit") * median(r, "units") / metric(r, "cpu_work");
  EXPECT_NEAR(per_iteration * metric(r, "cpu_work") / metric(r, "completion"), metric(r, "cpu_available"), 1e-9);
  EXPECT_NEAR(median(r, "unit") / metric(r, "completion"), 0.02, 0.001);
}

TEST_F(AsyncOnSim, AKernelInTheSameStreamIsWaitedForAndOneInAnotherIsNot) {
  const auto results = run({"--size", "1M", "--dir", "h2d", "--host", "pinned", "--api", "async", "--in-flight",
                            "none,same-stream,other-stream", "--kernel-time", "300"});
  const double idle = metric(results[0], "completion");
  EXPECT_NEAR(metric(results[1], "completion") - idle, 300e-6, 10e-6);
  EXPECT_NEAR(metric(results[2], "completion"), idle, 1e-6);
}

TEST_F(AsyncOnSim, FromWhichSizeOnCallsBlockIsSaid) {
  EXPECT_EQ(
      sentences(run({"--size", "4K,64K,128K,1M", "--api", "async"})),
      (Words{"h2d from pinned memory: cudaMemcpyAsync returns early at every size measured (4 KiB to 1 MiB)",
             "h2d from pageable memory: cudaMemcpyAsync returns early up to 64 KiB and blocks the host from 128 KiB "
             "on",
             "d2h to pinned memory: cudaMemcpyAsync returns early at every size measured (4 KiB to 1 MiB)",
             "d2h to pageable memory: cudaMemcpyAsync blocks the host at every size measured (4 KiB to 1 MiB)"}));
  EXPECT_EQ(sentences(run({"--size", "1M", "--dir", "d2h", "--host", "pinned", "--api", "sync"})),
            (Words{"d2h to pinned memory: cudaMemcpy blocks the host at 1 MiB"}));
}

TEST_F(AsyncOnSim, ACallThatReturnsEarlyFromALongCopyDoesSoFromAShortOne) {
  const std::vector<Result> pinned{blocked("4K", 0.7), blocked("1M", 0.1)};
  EXPECT_EQ(sentences(pinned).front(),
            "h2d from pinned memory: cudaMemcpyAsync returns early at every size measured (4 KiB to 1 MiB)");
  const std::vector<Result> crossing{blocked("1M", 0.9), blocked("4K", 0.7), blocked("64K", 0.15)};
  EXPECT_EQ(sentences(crossing).front(),
            "h2d from pinned memory: cudaMemcpyAsync returns early up to 64 KiB and blocks the host from 1 MiB on");
}

TEST_F(AsyncOnSim, OfShortCopiesAloneNothingIsSaidThatCannotBeKnown) {
  const std::vector<Result> unclear{blocked("64K", 0.53)};
  EXPECT_EQ(
      sentences(unclear).front(),
      "h2d from pinned memory: cudaMemcpyAsync may or may not return early; to find out, add --in-flight same-stream");
  const std::vector<Result> partly{blocked("64K", 0.53), blocked("256K", 0.85)};
  EXPECT_EQ(sentences(partly).front(),
            "h2d from pinned memory: cudaMemcpyAsync blocks the host at 256 KiB; unclear at 64 KiB");
}

}  // namespace

}  // namespace xferbench::test
