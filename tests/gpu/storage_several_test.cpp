// Scenario storage on two real GPUs: every byte on each of them. Skipped with fewer.
#include <filesystem>

#include "gpu/gpu_fixture.hpp"
#include "support/files.hpp"

namespace xferbench::test {

namespace {

const std::string kWays = "--way read,threads,direct,mmap,mmap-threads,mmap-register,uring";  // all for several GPUs

class StorageOnTwoGpus : public testing::Test {
 protected:
  void SetUp() override {
    try {
      machine_ = open_gpus({.numbers = {0, 1}});
    } catch (const NoDeviceError& error) {
      GTEST_SKIP() << "needs two GPUs: " << error.what();
    }
  }

  /// Expects every case to be ok; those with --sharing broadcast may be skipped where the GPUs cannot access each
  /// other.
  void run_ok(const std::string& flags) {
    const Environment& environment = machine_->device().capabilities().environment;
    SamplingPolicy policy;
    policy.budget = 0.05;
    policy.min_samples = policy.max_samples = 2;
    const RunContext bench{*machine_, machine_->device(), policy, 7, true, [](const SamplingProgress&) {}};
    const auto cases =
        expanded(cases_of_line("storage --path " + folder_.path().string() + " " + flags), {environment, true});
    for (const Result& r : run_cases(cases, bench, {})) {
      const bool apart = r.config.is("sharing", "broadcast") && r.reason.find("cannot access") != std::string::npos;
      EXPECT_TRUE(r.status == Status::ok || apart) << r.config.key() << ": " << r.reason;
      EXPECT_EQ(r.gpus.size(), 2U) << r.config.key();
    }
  }

  TemporaryFolder folder_;
  std::unique_ptr<Machine> machine_;
};

TEST_F(StorageOnTwoGpus, EveryWayAndShareLoadsEveryByte) {
  for (const char* size : {"1", "4095", "1000001", "20M"}) {
    run_ok(kWays + " --threads 1,3 --request 64K --size " + size);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(StorageOnTwoGpus, InEveryLayoutAndByEveryCrew) {
  run_ok(kWays + " --layout tensors,placed --threads 3 --request 64K --size 20M");
  run_ok("--way threads,mmap-threads --cache warm --crew all --slot-memory all --threads 3 --size 20M");
}

}  // namespace

}  // namespace xferbench::test
