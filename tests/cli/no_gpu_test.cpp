// Without a GPU the program says so and suggests --simulate; it never simulates unasked.

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

class WithoutGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (finds_gpu(without_gpu())) GTEST_SKIP() << "the GPUs of this machine cannot be hidden";
  }
};

TEST_F(WithoutGpu, ARunStopsAndNamesSimulate) {
  expect_refusal(xferbench({"--streams", "8"}, without_gpu()), 3, "add --simulate to the same command");
}

TEST_F(WithoutGpu, AnEmptyListOfVisibleGpusIsNoGpuEither) {
  Options options;
  options.environment["CUDA_VISIBLE_DEVICES"] = "";
  expect_refusal(xferbench({"memcpy"}, options), 3, "no usable GPU");
}

TEST_F(WithoutGpu, ResultsFilesAreLeftAsTheyWere) {
  const TemporaryFolder folder;
  const Arguments command{"--streams", "8", "--json", folder / "results.json"};
  expect_refusal(xferbench(command, without_gpu()), 3, "--simulate");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  write_file(folder / "results.json", "precious\n");
  expect_refusal(xferbench(command, without_gpu()), 3, "--simulate");
  EXPECT_EQ(read_file(folder / "results.json"), "precious\n");
}

TEST_F(WithoutGpu, InfoStillAnswersAndSaysWhy) {
  const Outcome o = xferbench({"info"}, without_gpu());
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "none: no usable GPU: ")) << o.out;
}

TEST_F(WithoutGpu, InfoOnAGpuByNumberIsRefused) {
  expect_refusal(xferbench({"info", "--gpu", "0"}, without_gpu()), 3, "no usable GPU");
}

TEST_F(WithoutGpu, APlaceToRunOnDoesNotReplaceIt) {
  for (const char* place : {"local", "none"}) {
    expect_refusal(xferbench({"--numa", place}, without_gpu()), 3, "no usable GPU");
  }
}

TEST_F(WithoutGpu, ADryRunNeedsNone) {
  const Outcome o = xferbench({"--dry-run", "--streams", "8"}, without_gpu());
  expect_success(o);
  EXPECT_EQ(lines(o.out).size(), 1U) << o.out;
}

TEST_F(WithoutGpu, ASimulationNeedsNone) {
  const Outcome o = xferbench(small_run(), without_gpu());
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "SIMULATED")) << o.out;
}

}  // namespace
}  // namespace xferbench::test
