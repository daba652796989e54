// The async scenario on the simulated device, where which calls block is known exactly.
#include "parsing.hpp"
#include "run/findings.hpp"
#include "scenarios/scenarios.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

/// Shortens every copy of more than one byte: what a broken driver would do.
const Otherwise kShortening{.copy = [](sim::SimStream& stream, Copy c) {
  if (c.bytes > 1) --c.bytes;
  stream.SimStream::copy(c);
}};

class AsyncOnSim : public testing::Test {
 protected:
  std::vector<Result> run(std::vector<std::string> arguments, Device& device) {
    arguments.insert(arguments.begin(), "async");
    return run_all(test::cases_of(arguments), quick_bench(device));
  }
  std::vector<Result> run(const std::vector<std::string>& arguments) { return run(arguments, device_); }

  static double metric(const Result& r, const char* name) {
    const Metric* found = r.metric(name);
    if (found == nullptr) throw std::runtime_error(r.config.key() + " has no " + name + ": " + r.reason);
    return found->value;
  }

  static std::vector<std::string> sentences(std::span<const Result> results) {
    std::vector<std::string> texts;
    for (const Finding& f : conclude(scenarios(), results)) texts.push_back(f.text);
    return texts;
  }

  /// A result as if measured.
  static Result blocked(const std::string& size, double share) {
    const auto cases = test::cases_of(
        {"async", "--dir", "h2d", "--host", "pinned", "--api", "async", "--in-flight", "none", "--size", size});
    Result r(cases.front().config);
    r.add("host_blocked", share, "1");
    return r;
  }

  sim::SimMachine machine_{profile("h200")};
  Device& device_ = machine_.device();
};

TEST_F(AsyncOnSim, EveryWayToCallVerifies) {
  const auto results = run({"--size", "1,4097,1M", "--in-flight", "none,same-stream,other-stream", "--host",
                            "pageable,pageable-small,pageable-huge,pinned,portable,mapped,write-combined,registered,"
                            "registered-huge"});
  EXPECT_EQ(results.size(), 9U * 2 * 2 * 3 * 3);
  for (const Result& r : results) EXPECT_EQ(r.status, Status::ok) << r.config.key() << ": " << r.reason;
}

TEST_F(AsyncOnSim, AWrongByteFailsTheCase) {
  sim::SimMachine shortening = machine_that(kShortening);
  for (const Result& r : run({"--size", "64K"}, shortening.device())) {
    EXPECT_EQ(r.status, Status::failed) << r.config.key();
    EXPECT_NE(r.reason.find("byte offset 65535"), std::string::npos) << r.reason;
  }
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
  // What was done, at what an iteration takes alone, is the time that was left for it.
  const double per_iteration = r.measurement("unit")->median * r.measurement("units")->median / metric(r, "cpu_work");
  EXPECT_NEAR(per_iteration * metric(r, "cpu_work") / metric(r, "completion"), metric(r, "cpu_available"), 1e-9);
  EXPECT_NEAR(r.measurement("unit")->median / metric(r, "completion"), 0.02, 0.001);
}

TEST_F(AsyncOnSim, AKernelInTheSameStreamIsWaitedForAndOneInAnotherIsNot) {
  const auto results = run({"--size", "1M", "--dir", "h2d", "--host", "pinned", "--api", "async", "--in-flight",
                            "none,same-stream,other-stream", "--kernel-time", "300"});
  const double idle = metric(results[0], "completion");
  EXPECT_NEAR(metric(results[1], "completion") - idle, 300e-6, 10e-6);
  EXPECT_NEAR(metric(results[2], "completion"), idle, 1e-6);
}

TEST_F(AsyncOnSim, FromWhichSizeOnCallsBlockIsSaid) {
  EXPECT_EQ(sentences(run({"--size", "4K,64K,128K,1M", "--api", "async"})),
            (std::vector<std::string>{
                "h2d from pinned memory: cudaMemcpyAsync returns early at every size measured (4 KiB to 1 MiB)",
                "h2d from pageable memory: cudaMemcpyAsync returns early up to 64 KiB and blocks the host from 128 KiB "
                "on",
                "d2h to pinned memory: cudaMemcpyAsync returns early at every size measured (4 KiB to 1 MiB)",
                "d2h to pageable memory: cudaMemcpyAsync blocks the host at every size measured (4 KiB to 1 MiB)"}));
  EXPECT_EQ(sentences(run({"--size", "1M", "--dir", "d2h", "--host", "pinned", "--api", "sync"})),
            (std::vector<std::string>{"d2h to pinned memory: cudaMemcpy blocks the host at 1 MiB"}));
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
      "h2d from pinned memory: cudaMemcpyAsync may return early or not; that shows only with a kernel in flight: add "
      "--in-flight same-stream");
  const std::vector<Result> partly{blocked("64K", 0.53), blocked("256K", 0.85)};
  EXPECT_EQ(sentences(partly).front(), "h2d from pinned memory: cudaMemcpyAsync blocks the host at 256 KiB");
}

}  // namespace

}  // namespace xferbench::test
