#include "measure/worker.hpp"

#include <stdexcept>

#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

class WorkerTest : public testing::Test {
 protected:
  sim::SimMachine machine_{profile("h200")};
};

TEST_F(WorkerTest, RunsBesideTheThreadThatStartedIt) {
  Worker worker(machine_.host());
  const double begun = machine_.host().now();
  for (int i = 0; i < 10; ++i) {
    worker.start([this] { machine_.host().work({.seconds = 1e-3}, [] {}); });
    machine_.host().work({.seconds = 1e-3}, [] {});
    worker.finish();
  }
  EXPECT_NEAR(machine_.host().now() - begun, 10e-3, 0.1e-3);
}

TEST_F(WorkerTest, FinishRethrowsOnceWhatTheTaskThrew) {
  Worker worker(machine_.host());
  worker.start([] { throw std::runtime_error("task"); });
  EXPECT_THROW(worker.finish(), std::runtime_error);
  worker.start([] {});
  EXPECT_NO_THROW(worker.finish());
}

TEST_F(WorkerTest, EndsAfterATaskThatNobodyFinished) {
  bool done = false;
  {
    Worker worker(machine_.host());
    worker.start([&done] { done = true; });
  }
  EXPECT_TRUE(done);
}

TEST_F(WorkerTest, EndsWithoutATask) { const Worker worker(machine_.host()); }

}  // namespace

}  // namespace xferbench::test
