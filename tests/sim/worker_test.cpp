#include "measure/worker.hpp"

#include <stdexcept>

#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

class WorkerTest : public testing::Test {
 protected:
  sim::SimDevice device_{profile("h200")};
};

TEST_F(WorkerTest, RunsBesideTheThreadThatStartedIt) {
  Worker worker(device_);
  const double begun = device_.host_now();
  for (int i = 0; i < 10; ++i) {
    worker.start([this] { device_.host_work({.seconds = 1e-3}, [] {}); });
    device_.host_work({.seconds = 1e-3}, [] {});
    worker.finish();
  }
  EXPECT_NEAR(device_.host_now() - begun, 10e-3, 0.1e-3);
}

TEST_F(WorkerTest, FinishRethrowsOnceWhatTheTaskThrew) {
  Worker worker(device_);
  worker.start([] { throw std::runtime_error("task"); });
  EXPECT_THROW(worker.finish(), std::runtime_error);
  worker.start([] {});
  EXPECT_NO_THROW(worker.finish());
}

TEST_F(WorkerTest, EndsAfterATaskThatNobodyFinished) {
  bool done = false;
  {
    Worker worker(device_);
    worker.start([&done] { done = true; });
  }
  EXPECT_TRUE(done);
}

TEST_F(WorkerTest, EndsWithoutATask) { const Worker worker(device_); }

}  // namespace

}  // namespace xferbench::test
