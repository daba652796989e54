// Scenario overlap on several simulated GPUs at once.

#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

class OverlapOnTwo : public testing::Test {
 protected:
  sim::SimMachine machine_{profile("h200-x2"), {0, 1}};
};

TEST_F(OverlapOnTwo, KeysSayOnHowManyGpus) {
  EXPECT_TRUE(keys_of(cases_on(machine_, Words{"overlap"})).front().ends_with("/split=each/gpus=0+1"));
  EXPECT_TRUE(
      keys_of(cases_on(machine_, Words{"overlap", "--split", "shared"})).front().ends_with("/split=shared/gpus=0+1"));
  sim::SimMachine one(profile("h200"));
  EXPECT_EQ(keys_of(cases_on(one, Words{"overlap"})).front().find("split"), std::string::npos);
  expect_all(run_on_gpus(one, Words{"overlap", "--split", "each"}), Status::skipped, "this run has one", 1);
}

TEST_F(OverlapOnTwo, IsAsFastAsBothTogetherCanBe) {
  for (const char* split : {"each", "shared"}) {
    const auto results = run_on_gpus(
        machine_,
        Words{"overlap", "--size", "64M", "--split", split, "--strategy", "streams,engines,double-buffer,graph"},
        false);
    expect_all(results, Status::ok, "", 4);
    for (const Result& r : results) {
      EXPECT_GT(metric(r, "efficiency"), 0.8) << r.config.key();
      EXPECT_LT(metric(r, "efficiency"), 1.005) << r.config.key();
      EXPECT_GT(metric(r, "of_one_gpu"), 1.3) << r.config.key();
      EXPECT_LT(metric(r, "of_one_gpu"), 2) << r.config.key();
      EXPECT_EQ(std::ranges::count(r.metrics, "gpu_bandwidth", &Metric::name), 2) << r.config.key();
      EXPECT_NEAR(metric(r, "modelled") / median(r, "pipeline"), 1, 0.1) << r.config.key();
    }
  }
}

TEST_F(OverlapOnTwo, SharesOddPayloadsOut) {
  expect_all(
      run_on_gpus(machine_, Words{"overlap", "--size", "1000004B,4194308B", "--split", "shared", "--chunks", "3"}),
      Status::ok, "", 2);
}

TEST_F(OverlapOnTwo, RefusesWhatCannotBe) {
  expect_refused("overlap --strategy serial --split each", "--strategy serial");
  expect_refused("overlap --balance 1 --split each", "--balance");
  expect_all(run_on_gpus(machine_, Words{"overlap", "--strategy", "serial", "--size", "1M"}), Status::skipped,
             "--strategy serial", 1);
}

/// Kernels of one GPU run in streams that are not synchronised with its copies.
TEST(OverlapOnSeveral, KernelsOfOneGpuThatNobodyWaitsForAreCaught) {
  std::vector<Stream> elsewhere;
  const auto launch = [&](sim::SimStream& stream, const Kernel& kernel) {
    if (stream.device().number() == 0) return stream.SimStream::launch(kernel);
    elsewhere.push_back(stream.device().make_stream(StreamKind::nonblocking));
    static_cast<sim::SimStream&>(elsewhere.back().impl()).SimStream::launch(kernel);
  };
  const Override how{.launch = launch};
  sim::SimMachine machine = machine_that(how, "h200-x2", {0, 1});
  expect_all(run_on_gpus(machine, Words{"overlap", "--size", "16M", "--strategy", "engines", "--split", "each"}),
             Status::failed, "wrong result", 1);
  elsewhere.clear();
}

}  // namespace

}  // namespace xferbench::test
