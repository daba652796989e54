// Threads of the simulated host.
#include <stdexcept>
#include <string>

#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

class HostTest : public testing::Test {
 protected:
  void work(double seconds) {
    machine_.host().work({.seconds = seconds}, [] {});
  }

  sim::SimMachine machine_{profile("h200")};
  Device& device_ = machine_.device();
};

TEST_F(HostTest, ThreadsRunSideBySideInVirtualTime) {
  const double begun = machine_.host().now();
  const auto other = machine_.host().start_thread([this] { work(3e-3); });
  work(2e-3);
  other->join();
  EXPECT_NEAR(machine_.host().now() - begun, 3e-3, 1e-6);
}

TEST_F(HostTest, WhoeverIsFurthestBehindRunsFirst) {
  std::string order;
  const auto other = machine_.host().start_thread([&] {
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
  const auto channel = machine_.host().make_channel();
  const double begun = machine_.host().now();
  double read = 0;
  const auto reader = machine_.host().start_thread([&] {
    EXPECT_EQ(channel->take(), 5U);
    read = machine_.host().now();
    EXPECT_EQ(channel->take(), std::nullopt);
  });
  work(1e-3);
  channel->post(5);
  work(1e-3);
  channel->close();
  reader->join();
  EXPECT_NEAR(read - begun, 1e-3 + profile("h200").handoff, 1e-9);
}

TEST_F(HostTest, OneOfSeveralReadersTakesAMessageAndTheOthersGoOnWaiting) {
  const auto channel = machine_.host().make_channel();
  int taken = 0;
  std::vector<std::unique_ptr<HostThread>> readers;
  for (int i = 0; i < 3; ++i) {
    readers.push_back(machine_.host().start_thread([&] {
      while (channel->take()) {
        work(1e-3);
        ++taken;
      }
    }));
  }
  work(1e-3);  // all of them wait by now
  const double begun = machine_.host().now();
  for (int i = 0; i < 6; ++i) channel->post(0);
  channel->close();
  for (const auto& r : readers) r->join();
  EXPECT_EQ(taken, 6);
  EXPECT_NEAR(machine_.host().now() - begun, 2e-3, 1e-5);
}

TEST_F(HostTest, CopiesOfTwoThreadsCompeteInTheOrderOfTheirClocks) {
  constexpr std::size_t kBytes = 16U << 20;
  const HostBuffer host = device_.allocate_host(kBytes, HostMemory::pinned);
  const DeviceBuffer gpu = device_.allocate_device(kBytes);
  const Stream early = device_.make_stream(StreamKind::nonblocking);
  const Stream late = device_.make_stream(StreamKind::nonblocking);
  const double begun = machine_.host().now();
  double early_end = 0;
  const auto other = machine_.host().start_thread([&] {
    work(10e-6);
    early.copy({gpu.data, host.data, kBytes, Direction::h2d});
    early.synchronize();
    early_end = machine_.host().now();
  });
  work(50e-6);
  late.copy({gpu.data, host.data, kBytes, Direction::h2d});
  late.synchronize();
  const double late_end = machine_.host().now();
  other->join();
  const double one = kBytes / profile("h200").h2d_rate;
  EXPECT_NEAR(early_end - begun, one, 0.1 * one);
  EXPECT_NEAR(late_end - begun, 2 * one, 0.1 * one);
}

TEST_F(HostTest, AFunctionThatTheGpuCallsSeesTheGpusTime) {
  constexpr std::size_t kBytes = 16U << 20;
  const HostBuffer host = device_.allocate_host(kBytes, HostMemory::pinned);
  const DeviceBuffer gpu = device_.allocate_device(kBytes);
  const Stream stream = device_.make_stream(StreamKind::nonblocking);
  const auto channel = machine_.host().make_channel();
  const std::function<void()> tell = [&] { channel->post(1); };
  const double begun = machine_.host().now();
  stream.copy({gpu.data, host.data, kBytes, Direction::h2d});
  stream.call_host(CallbackApi::launch_host_func, tell);
  EXPECT_LT(machine_.host().now() - begun, 10e-6);
  EXPECT_EQ(channel->take(), 1U);
  const double one = kBytes / profile("h200").h2d_rate;
  EXPECT_GT(machine_.host().now() - begun, one + profile("h200").host_function_start);
  EXPECT_LT(machine_.host().now() - begun, 1.1 * one + profile("h200").host_function_start);
}

TEST_F(HostTest, AnEventIsUnfinishedUntilItsTime) {
  constexpr std::size_t kBytes = 16U << 20;
  const HostBuffer host = device_.allocate_host(kBytes, HostMemory::pinned);
  const DeviceBuffer gpu = device_.allocate_device(kBytes);
  const Stream stream = device_.make_stream(StreamKind::nonblocking);
  const Event done = device_.make_event(EventKind::ordering);
  const double begun = machine_.host().now();
  stream.copy({gpu.data, host.data, kBytes, Direction::h2d});
  stream.record(done);
  EXPECT_FALSE(done.finished());
  while (!done.finished()) work(1e-6);
  const double one = kBytes / profile("h200").h2d_rate;
  EXPECT_NEAR(machine_.host().now() - begun, one, 0.05 * one);
}

TEST_F(HostTest, ThreadsThatCopyAtOnceShareTheMemory) {
  constexpr std::uint64_t kBytes = 100'000'000;
  const auto& p = profile("h200");
  const double begun = machine_.host().now();
  std::vector<std::unique_ptr<HostThread>> threads;
  for (int i = 0; i < 12; ++i) {
    threads.push_back(machine_.host().start_thread([this] { machine_.host().work({.bytes_copied = kBytes}, [] {}); }));
  }
  for (const auto& t : threads) t->join();
  const double seconds = machine_.host().now() - begun;
  EXPECT_GT(seconds, 1.3 * kBytes / p.host_copy_rate) << "twelve at full rate would be more than the memory gives";
  EXPECT_LT(seconds, 2.5 * kBytes / p.host_copy_rate);
}

TEST_F(HostTest, JoinRethrowsWhatTheBodyThrew) {
  const auto thread = machine_.host().start_thread([] { throw std::runtime_error("body"); });
  EXPECT_THROW(thread->join(), std::runtime_error);
}

TEST_F(HostTest, WaitingForWhatNeverComesIsAnErrorAndNoHang) {
  const auto channel = machine_.host().make_channel();
  EXPECT_THROW(static_cast<void>(channel->take()), std::logic_error);
  const auto other = machine_.host().start_thread([&] { static_cast<void>(channel->take()); });
  EXPECT_THROW(other->join(), std::logic_error);
}  // and the thread is let go

TEST_F(HostTest, ManyThreadsComeAndGo) {
  for (int i = 0; i < 50; ++i) {
    const auto a = machine_.host().start_thread([this] { work(1e-6); });
    const auto b = machine_.host().start_thread([this] { work(2e-6); });
    b->join();
    a->join();
  }
}

}  // namespace

}  // namespace xferbench::test
