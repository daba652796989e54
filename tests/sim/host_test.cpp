// Threads of the simulated host in virtual time, and Worker, the background thread of measurements.

#include "measure/worker.hpp"
#include "sim/failing_allocation.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

class HostTest : public SimTest {
 protected:
  [[nodiscard]] std::unique_ptr<HostThread> thread(std::function<void()> body) {
    return machine_.host().start_thread(std::move(body));
  }

  Stream stream_ = stream();
  std::unique_ptr<Channel> channel_ = machine_.host().make_channel();
};

TEST_F(HostTest, ThreadsRunSideBySideInVirtualTime) {
  const double begun = now();
  const auto other = thread([this] { work(3e-3); });
  work(2e-3);
  other->join();
  EXPECT_NEAR(now() - begun, 3e-3, 1e-6);
}

TEST_F(HostTest, WhoeverIsFurthestBehindRunsFirst) {
  std::string order;
  const auto other = thread([&] {
    for (int i = 0; i < 3; ++i) {
      work(2e-3);
      order += 'o';
    }
  });
  for (int i = 0; i < 2; ++i) {
    work(2.5e-3);
    order += 'm';
  }
  other->join();
  EXPECT_EQ(order, "omomo");  // at 2, 2.5, 4, 5 and 6 ms
}

TEST_F(HostTest, AMessageIsReadAfterItWasPosted) {
  const double begun = now();
  double read = 0;
  const auto reader = thread([&] {
    EXPECT_EQ(channel_->take(), 5U);
    read = now();
    EXPECT_EQ(channel_->take(), std::nullopt);
  });
  work(1e-3);
  channel_->post(5);
  work(1e-3);
  channel_->close();
  reader->join();
  EXPECT_NEAR(read - begun, 1e-3 + profile_.handoff, 1e-9);
}

TEST_F(HostTest, OneOfSeveralReadersTakesAMessageAndTheOthersGoOnWaiting) {
  int taken = 0;
  std::vector<std::unique_ptr<HostThread>> readers;
  for (int i = 0; i < 3; ++i) {
    readers.push_back(thread([&] {
      while (channel_->take()) {
        work(1e-3);
        ++taken;
      }
    }));
  }
  work(1e-3);  // now all readers wait
  const double begun = now();
  for (int i = 0; i < 6; ++i) channel_->post(0);
  channel_->close();
  for (const auto& r : readers) r->join();
  EXPECT_EQ(taken, 6);
  EXPECT_NEAR(now() - begun, 2e-3, 1e-5);
}

TEST_F(HostTest, CopiesOfTwoThreadsCompeteInTheOrderOfTheirClocks) {
  const Stream early = stream();
  const double begun = now();
  double early_end = 0;
  const auto other = thread([&] {
    work(10e-6);
    early.copy(in());
    early.synchronize();
    early_end = now();
  });
  work(50e-6);
  stream_.copy(in());
  stream_.synchronize();
  const double late_end = now();
  other->join();
  EXPECT_NEAR(early_end - begun, one_way_, 0.1 * one_way_);
  EXPECT_NEAR(late_end - begun, 2 * one_way_, 0.1 * one_way_);
}

TEST_F(HostTest, AFunctionThatTheGpuCallsSeesTheGpusTime) {
  HostFunction tell([&] { channel_->post(1); });
  const double begun = now();
  stream_.copy(in());
  stream_.call_host(CallbackApi::launch_host_func, tell);
  EXPECT_LT(now() - begun, 10e-6);
  EXPECT_EQ(channel_->take(), 1U);
  EXPECT_GT(now() - begun, one_way_ + profile_.host_function_start);
  EXPECT_LT(now() - begun, 1.1 * one_way_ + profile_.host_function_start);
}

TEST_F(HostTest, WhatAFunctionThrowsIsKeptAndTheSimulationGoesOn) {
  HostFunction failing([] { throw std::runtime_error("no room"); });
  stream_.call_host(CallbackApi::launch_host_func, failing);
  stream_.copy(in());
  stream_.synchronize();
  EXPECT_GT(now(), one_way_);
  EXPECT_THROW(failing.rethrow(), std::runtime_error);
  EXPECT_NO_THROW(failing.rethrow()) << "told once";
}

TEST_F(HostTest, AFunctionThatIsGoneIsNotCalled) {
  bool called = false;
  {
    HostFunction gone([&called] { called = true; });
    stream_.call_host(CallbackApi::launch_host_func, gone);
  }
  stream_.synchronize();
  EXPECT_FALSE(called);
}

TEST_F(HostTest, AStreamThatFailedIsToldToWhoeverAsks) {
  HostFunction function([] {});
  void* const kept = function.call()->keep();
  HostCall::release(kept)->stream_failed("cudaErrorIllegalAddress");
  EXPECT_THROW(function.rethrow(), DeviceError);
  EXPECT_NO_THROW(function.rethrow());
}

TEST_F(HostTest, WhatAStreamKeepsOutlivesItsOwner) {
  void* kept = nullptr;
  int calls = 0;
  {
    HostFunction function([&calls] { ++calls; });
    kept = function.call()->keep();
    static_cast<void>(function.call()->keep());
    HostCall::release(kept)->run();
  }
  HostCall::release(kept)->run();
  EXPECT_EQ(calls, 1);
}

TEST_F(HostTest, AnEventIsUnfinishedUntilItsTime) {
  const Event done = event();
  const double begun = now();
  stream_.copy(in());
  stream_.record(done);
  EXPECT_FALSE(done.finished());
  while (!done.finished()) work(1e-6);
  EXPECT_NEAR(now() - begun, one_way_, 0.05 * one_way_);
}

TEST_F(HostTest, ThreadsThatCopyAtOnceShareTheMemory) {
  constexpr std::uint64_t kManyBytes = 100'000'000;
  const double begun = now();
  std::vector<std::unique_ptr<HostThread>> threads;
  for (int i = 0; i < 12; ++i) {
    threads.push_back(thread([this] { machine_.host().work({.bytes_copied = kManyBytes}, [] {}); }));
  }
  for (const auto& t : threads) t->join();
  const double seconds = now() - begun;
  EXPECT_GT(seconds, 1.3 * kManyBytes / profile_.host_copy_rate)
      << "twelve at full rate would be more than the memory gives";
  EXPECT_LT(seconds, 2.5 * kManyBytes / profile_.host_copy_rate);
}

TEST_F(HostTest, JoinRethrowsWhatTheBodyThrew) {
  const auto failing = thread([] { throw std::runtime_error("body"); });
  EXPECT_THROW(failing->join(), std::runtime_error);
}

TEST_F(HostTest, WaitingForWhatNeverComesIsAnErrorAndNoHang) {
  EXPECT_THROW(static_cast<void>(channel_->take()), std::logic_error);
  const auto other = thread([&] { static_cast<void>(channel_->take()); });
  EXPECT_THROW(other->join(), std::logic_error);
}  // the destructor releases the waiting thread

TEST_F(HostTest, AThreadEndsWithItsOwnerWhereMemoryIsShort) {
  for (long nth = 0; nth < 40; ++nth) {
    std::unique_ptr<HostThread> other = thread([this] {
      for (int i = 0; i < 3; ++i) stream_.synchronize();
      channel_->take();  // no message ever comes
    });
    const FailingAllocation failing(nth);
    other.reset();
  }
  work(1e-3);  // the host still works
}

TEST_F(HostTest, ManyThreadsComeAndGo) {
  for (int i = 0; i < 50; ++i) {
    const auto a = thread([this] { work(1e-6); });
    const auto b = thread([this] { work(2e-6); });
    b->join();
    a->join();
  }
}

// --- The worker -----------------------------------------------------------------------------------------------------

TEST_F(HostTest, AWorkerRunsBesideTheThreadThatStartedIt) {
  Worker worker(machine_.host());
  const double begun = now();
  for (int i = 0; i < 10; ++i) {
    worker.start([this] { work(1e-3); });
    work(1e-3);
    worker.finish();
  }
  EXPECT_NEAR(now() - begun, 10e-3, 0.1e-3);
}

TEST_F(HostTest, AWorkerRethrowsOnceWhatTheTaskThrew) {
  Worker worker(machine_.host());
  worker.start([] { throw std::runtime_error("task"); });
  EXPECT_THROW(worker.finish(), std::runtime_error);
  worker.start([] {});
  EXPECT_NO_THROW(worker.finish());
}

TEST_F(HostTest, AWorkerEndsAfterATaskThatNobodyFinishedAndWithoutOne) {
  bool done = false;
  {
    const Worker idle(machine_.host());
    Worker worker(machine_.host());
    worker.start([&done] { done = true; });
  }
  EXPECT_TRUE(done);
}

}  // namespace

}  // namespace xferbench::test
