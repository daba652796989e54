#include "measure/worker.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>

namespace xferbench {

namespace {

TEST(Worker, RunsTasksOnAnotherThread) {
  Worker worker([] {});
  std::thread::id there;
  for (int i = 0; i < 100; ++i) {
    there = {};
    worker.start([&there] { there = std::this_thread::get_id(); });
    worker.finish();
    EXPECT_NE(there, std::thread::id{});
    EXPECT_NE(there, std::this_thread::get_id());
  }
}

TEST(Worker, FinishRethrowsOnceWhatTheTaskThrew) {
  Worker worker([] {});
  worker.start([] { throw std::runtime_error("task"); });
  EXPECT_THROW(worker.finish(), std::runtime_error);
  worker.start([] {});
  EXPECT_NO_THROW(worker.finish());
}

TEST(Worker, FinishRethrowsWhatThePreparationThrew) {
  Worker worker([] { throw std::runtime_error("no device"); });
  worker.start([] {});
  EXPECT_THROW(worker.finish(), std::runtime_error);
}

TEST(Worker, EndsAfterATaskThatNobodyFinished) {
  bool done = false;
  {
    Worker worker([] {});
    worker.start([&done] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      done = true;
    });
  }
  EXPECT_TRUE(done);
}

TEST(Worker, EndsWithoutATask) {
  Worker worker([] {});
}

}  // namespace

}  // namespace xferbench
