// The watchdog: it notices a device that does not answer, but not a slow device or a slow host.
#include "run/watchdog.hpp"

#include <chrono>
#include <csignal>
#include <future>
#include <thread>

#include "core/interrupt.hpp"
#include "sim/faulty_device.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

constexpr double kTimeout = 0.5;
constexpr WatchdogLimits kHasty{.timeout = kTimeout, .factor = 10, .interrupted = 0.1, .interval = 0.01};
constexpr double kLongEnough = 20;  // seconds, enough for an alarm even on a busy machine

void sleep_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// A watchdog that keeps its alarm.
class WatchdogTest : public testing::Test {
 protected:
  [[nodiscard]] Watchdog::Watch watch() {
    return watchdog_.watch([this](const Alarm& alarm) { alarm_.set_value(alarm); });
  }
  /// The alarm; nullopt if none comes in time.
  std::optional<Alarm> alarm_within(double seconds) {
    if (came_.wait_for(std::chrono::duration<double>(seconds)) != std::future_status::ready) return std::nullopt;
    return came_.get();
  }
  void expect_quiet_for(double seconds) {
    const auto alarm = alarm_within(seconds);
    EXPECT_FALSE(alarm) << alarm->operation << " after " << alarm->seconds;
  }
  /// The alarm; fails the test if none comes.
  Alarm expect_alarm() {
    const auto alarm = alarm_within(kLongEnough);
    EXPECT_TRUE(alarm);
    return alarm.value_or(Alarm{});
  }

  Watchdog watchdog_{kHasty};
  CallObserver& calls_ = watchdog_.observer();

 private:
  std::promise<Alarm> alarm_;
  std::shared_future<Alarm> came_ = alarm_.get_future().share();
};

TEST_F(WatchdogTest, ACallThatDoesNotComeBackIsStuck) {
  const auto watching = watch();
  const DeviceCall call{.kind = CallKind::synchronize_stream};
  calls_.enter(call);
  const Alarm alarm = expect_alarm();
  calls_.leave(call, true);
  EXPECT_EQ(alarm.kind, Alarm::Kind::stuck);
  EXPECT_EQ(alarm.operation, "synchronize-stream");
  EXPECT_GE(alarm.seconds, kTimeout);
}

TEST_F(WatchdogTest, SoIsOneThatIsEnteredAfterLongWorkOfTheHostButNotAtOnce) {
  const auto watching = watch();
  calls_.enter({.kind = CallKind::launch});
  calls_.leave({.kind = CallKind::launch}, true);
  expect_quiet_for(4 * kTimeout);
  calls_.enter({.kind = CallKind::usable});
  expect_quiet_for(kTimeout / 3);
  EXPECT_EQ(expect_alarm().operation, "usable");
}

TEST_F(WatchdogTest, AnEventThatNeverFinishesIsStuck) {
  const auto watching = watch();
  std::optional<Alarm> alarm;
  for (const auto begun = std::chrono::steady_clock::now();
       !alarm && std::chrono::steady_clock::now() - begun < std::chrono::duration<double>(kLongEnough);) {
    calls_.enter({.kind = CallKind::query_event});
    calls_.leave({.kind = CallKind::query_event}, false);
    alarm = alarm_within(0.001);
  }
  ASSERT_TRUE(alarm);
  EXPECT_EQ(alarm->operation, "query-event");
}

TEST_F(WatchdogTest, AQuestionAfterLongWorkOfTheHostIsNot) {
  const auto watching = watch();
  for (int i = 0; i < 2; ++i) {
    expect_quiet_for(1.3);
    calls_.enter({.kind = CallKind::query_event});
    calls_.leave({.kind = CallKind::query_event}, false);
  }
  expect_quiet_for(kTimeout / 2);
}

TEST_F(WatchdogTest, WorkOfTheHostAndIdleThreadsAreNoCalls) {
  RealHost host;
  const auto channel = host.make_channel();
  const auto idle = host.start_thread([&] { static_cast<void>(channel->take()); });
  const auto watching = watch();
  expect_quiet_for(4 * kTimeout);
  channel->close();
}

TEST_F(WatchdogTest, WhatIsExpectedToTakeLongMay) {
  const auto watching = watch();
  const DeviceCall copy{.kind = CallKind::copy, .expected = kTimeout};
  calls_.enter(copy);
  calls_.leave(copy, true);
  calls_.enter({.kind = CallKind::synchronize_stream});
  expect_quiet_for(3 * kTimeout);
  EXPECT_GE(expect_alarm().seconds, 10 * kTimeout) << "ten times that is all it may";
}

TEST_F(WatchdogTest, WhatIsDoneIsExpectedNoMore) {
  const auto watching = watch();
  const DeviceCall copy{.kind = CallKind::copy, .expected = 1e5};
  calls_.enter(copy);
  calls_.leave(copy, true);
  sleep_for(0.5);
  const DeviceCall wait{.kind = CallKind::synchronize_stream};
  calls_.enter(wait);
  sleep_for(2 * kHasty.interval);
  calls_.leave(wait, true);
  sleep_for(0.5);
  calls_.enter(wait);
  EXPECT_EQ(expect_alarm().operation, "synchronize-stream");
}

TEST_F(WatchdogTest, WhatWasDoneWithinACallIsExpectedNoMore) {
  const auto watching = watch();
  const DeviceCall load{.kind = CallKind::preload, .expected = 1e5};
  calls_.enter(load);
  calls_.leave(load, true);
  calls_.enter({.kind = CallKind::synchronize_event});
  EXPECT_EQ(expect_alarm().operation, "synchronize-event");
}

TEST_F(WatchdogTest, WhatTookLongOnceMayAgain) {
  const auto watching = watch();
  const DeviceCall wait{.kind = CallKind::synchronize_device};
  calls_.enter(wait);
  sleep_for(kTimeout / 2);
  calls_.leave(wait, true);
  calls_.enter(wait);
  expect_quiet_for(3 * kTimeout);
  EXPECT_GE(expect_alarm().seconds, 10 * kTimeout / 3);
}

TEST_F(WatchdogTest, OneThreadThatGetsOnIsEnough) {
  const auto watching = watch();
  calls_.enter({.kind = CallKind::synchronize_event});
  std::jthread other([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      calls_.enter({.kind = CallKind::launch});
      calls_.leave({.kind = CallKind::launch}, true);
      sleep_for(0.001);
    }
  });
  expect_quiet_for(4 * kTimeout);
  other = std::jthread();
  EXPECT_EQ(expect_alarm().operation, "synchronize-event");
}

TEST_F(WatchdogTest, CountsWhatManyThreadsDo) {
  CallCounters counters;
  constexpr int kThreads = 600;  // more threads than counters have slots
  constexpr int kCalls = 500;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&counters] {
        for (int call = 0; call < kCalls; ++call) {
          counters.enter({.kind = CallKind::copy, .expected = 1e-3});
          counters.leave({.kind = CallKind::copy}, true);
        }
        counters.enter({.kind = CallKind::query_event});
        counters.leave({.kind = CallKind::query_event}, true);
      });
    }
  }
  const CallCounters::Totals all = counters.totals();
  EXPECT_EQ(all.progress, std::uint64_t{kThreads} * (2 * kCalls + 1));
  EXPECT_EQ(all.polls, std::uint64_t{kThreads});
  EXPECT_EQ(all.waits, std::uint64_t{kThreads});
  EXPECT_NEAR(all.expected, kThreads * kCalls * 1e-3, 1e-3);
  EXPECT_FALSE(all.inside);
}

TEST_F(WatchdogTest, NobodyLooksOutsideOfAWatch) {
  calls_.enter({.kind = CallKind::synchronize_stream});
  expect_quiet_for(2 * kTimeout);
  { const auto watching = watch(); }
  expect_quiet_for(2 * kTimeout);
}

/// The first wait for an event blocks until the test releases it.
TEST_F(WatchdogTest, AStuckCaseIsNoticedInTheMidst) {
  std::promise<void> go_on;
  const std::shared_future<void> may_go_on = go_on.get_future().share();
  std::atomic<int> waits{0};
  const Override how{.synchronize_event = [&] {
    if (++waits == 1) may_go_on.wait();
  }};
  const auto machine = intercept(std::make_unique<sim::SimMachine>(profile("h200"), std::vector{0},
                                                                   [&](sim::SimMachine& m, std::size_t) {
                                                                     return std::make_unique<DeviceOverride>(m, how);
                                                                   }),
                                 calls_);
  const auto watching = watch();
  std::vector<Result> results;
  std::thread run([&] { results = run_on(machine->device(), {"memcpy", "--dir", "h2d", "--size", "64K"}); });
  const Alarm alarm = expect_alarm();
  go_on.set_value();
  run.join();
  EXPECT_EQ(alarm.kind, Alarm::Kind::stuck);
  EXPECT_EQ(alarm.operation, "synchronize-event");
}

TEST(InterruptedWatchDeathTest, GivesUpOnWhatDoesNotSeeIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto interrupted_while = [](bool in_call) {
    std::signal(SIGINT, SIG_DFL);  // background processes ignore SIGINT
    install_interrupt_handlers(HangUp::ends);
    std::raise(SIGINT);
    Watchdog watchdog(kHasty);
    if (in_call) watchdog.observer().enter({.kind = CallKind::copy_blocking});
    const auto watching = watchdog.watch([in_call](const Alarm& alarm) {
      const bool right = alarm.kind == Alarm::Kind::interrupted && alarm.seconds >= kHasty.interrupted &&
                         alarm.operation == (in_call ? "copy-blocking" : "");
      std::_Exit(right ? 42 : 1);
    });
    sleep_for(kLongEnough);
  };
  EXPECT_EXIT(interrupted_while(true), testing::ExitedWithCode(42), "");
  EXPECT_EXIT(interrupted_while(false), testing::ExitedWithCode(42), "");
}

}  // namespace

}  // namespace xferbench::test
