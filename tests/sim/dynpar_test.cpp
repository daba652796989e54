// dynpar without a GPU: which cases there are, and why none of them runs.
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

std::vector<Result> run_dynpar(Words flags) {
  flags.insert(flags.begin(), "dynpar");
  sim::SimDevice device(profile("h200"));
  return run_all(cli::parse(flags, scenarios()).cases, quick_bench(device));
}

TEST(DynparOnSim, IsSkippedBecauseNobodyKnowsWhatLaunchesFromTheDeviceCost) {
  const auto results = run_dynpar({});
  EXPECT_EQ(results.size(), 18U);
  for (const Result& r : results) {
    EXPECT_EQ(r.status, Status::skipped) << r.config.key();
    EXPECT_EQ(r.reason, "the simulated device does not know what a launch from the device costs");
    EXPECT_TRUE(r.measurements.empty());
  }
}

void expect_refusal(const Words& flags, const std::string& message) {
  try {
    run_dynpar(flags);
    ADD_FAILURE() << "nothing was refused";
  } catch (const UsageError& error) {
    EXPECT_EQ(error.what(), message);
  }
}

TEST(DynparOnSim, ATreeNeedsAChildForEachLevel) {
  expect_refusal({"--task", "children", "--shape", "tree", "--depth", "8", "--children", "7"},
                 "7 children cannot make a tree of 8 levels; choose a smaller --depth");
}

TEST(DynparOnSim, KeysAreWhole) {
  expect_refusal({"--task", "sort", "--size", "4097"}, "--size 4097 is not a whole number of keys of 4 bytes");
}

TEST(DynparOnSim, ADeviceWhoseKernelsCannotLaunchSaysSo) {
  sim::SimDevice device(profile("h200"));
  EXPECT_THROW(device.reserve_device_launches(1), DeviceError);
}

}  // namespace

}  // namespace xferbench::test
