// The watchdog on a real GPU: a stuck GPU is noticed in every kind of wait; and the health of a good one.
#include "run/watchdog.hpp"

#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>

#include "device/intercepted.hpp"
#include "gpu/endless_kernel.hpp"
#include "gpu/gpu_fixture.hpp"

namespace xferbench::test {

namespace {

constexpr WatchdogLimits kHasty{.timeout = 2, .factor = 10, .interrupted = 0.1, .interval = 0.02};

/// A GPU with a watchdog on its calls.
class WatchedGpu : public testing::Test {
 protected:
  void SetUp() override {
    try {
      machine_ = intercept(open_gpus({}), watchdog_.observer());
    } catch (const NoDeviceError& error) {
      GTEST_SKIP() << "no GPU here: " << error.what();
    }
    end_ = std::make_unique<End>(device());
    stream_ = device().make_stream(StreamKind::nonblocking);
    kernel_ = std::make_unique<EndlessKernel>(end_->word());
    device().preload(*kernel_);
  }
  void TearDown() override {
    end_.reset();  // stops the kernel before destructors wait for it
  }

  Device& device() { return machine_->device(); }

  /// The alarm while `wait` waits for an endless kernel. The alarm stops the kernel.
  Alarm alarm_while(const std::function<void()>& wait) {
    std::promise<Alarm> came;
    {
      const auto watching = watchdog_.watch([&](const Alarm& alarm) {
        came.set_value(alarm);
        end_->now();
      });
      stream_.launch(*kernel_);
      wait();
      device().synchronize();
    }
    auto alarm = came.get_future();
    if (alarm.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      ADD_FAILURE() << "there was no alarm";
      return {};
    }
    return alarm.get();
  }

  void expect_alarm(const std::function<void()>& wait, std::string_view operation) {
    const Alarm alarm = alarm_while(wait);
    EXPECT_EQ(alarm.kind, Alarm::Kind::stuck);
    EXPECT_EQ(alarm.operation, operation);
    EXPECT_GE(alarm.seconds, kHasty.timeout);
  }

  Watchdog watchdog_{kHasty};
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<End> end_;
  Stream stream_;
  std::unique_ptr<EndlessKernel> kernel_;
};

TEST_F(WatchedGpu, IsStuckInAWaitForAStream) {
  expect_alarm([this] { stream_.synchronize(); }, "synchronize-stream");
}

TEST_F(WatchedGpu, IsStuckInAWaitForTheDevice) {
  expect_alarm([this] { device().synchronize(); }, "synchronize-device");
}

TEST_F(WatchedGpu, IsStuckInTheQuestionWhetherItIsUsable) {
  expect_alarm([this] { EXPECT_TRUE(device().usable()); }, "usable");
}

TEST_F(WatchedGpu, IsStuckInAWaitForAnEvent) {
  const Event event = device().make_event(EventKind::ordering);
  expect_alarm(
      [&] {
        stream_.record(event);
        event.synchronize();
      },
      "synchronize-event");
}

TEST_F(WatchedGpu, IsStuckWhereAnEventIsAskedForAgainAndAgain) {
  const Event event = device().make_event(EventKind::ordering);
  expect_alarm(
      [&] {
        stream_.record(event);
        while (!event.finished()) {
        }
      },
      "query-event");
}

/// Freeing memory waits for the GPU, or leaves the wait to the next synchronisation.
TEST_F(WatchedGpu, IsStuckWhereMemoryIsGivenBack) {
  DeviceBuffer buffer = device().allocate_device(1 << 20);
  const Alarm alarm = alarm_while([&] {
    stream_.fill(buffer, std::byte{1});
    buffer = DeviceBuffer();
  });
  EXPECT_TRUE(alarm.operation == "free" || alarm.operation == "synchronize-device") << alarm.operation;
}

TEST_F(WatchedGpu, IsNotStuckWhereItOnlyTakesLong) {
  bool alarmed = false;
  {
    const auto watching = watchdog_.watch([&](const Alarm&) { alarmed = true; });
    const DeviceBuffer buffer = device().allocate_device(std::size_t{1} << 30);
    const HostBuffer host = device().allocate_host(buffer.bytes, HostMemory::pinned);
    for (int i = 0; i < 100; ++i) stream_.copy({buffer.data, host.data, host.bytes, Direction::h2d});
    stream_.synchronize();
  }
  EXPECT_FALSE(alarmed);
}

/// Run in a child process: the injected kernel cannot be stopped, so the process must exit, as the program would.
[[noreturn]] void hang_as_asked() {
  setenv("XFERBENCH_INJECT", "hang:launch:1", 1);
  Watchdog watchdog(kHasty);
  const auto machine = intercept(open_gpus({}), watchdog.observer());
  const End end(machine->device());
  end.now();
  const EndlessKernel ends_at_once(end.word());
  const Stream stream = machine->device().make_stream(StreamKind::nonblocking);
  const auto watching = watchdog.watch([](const Alarm& alarm) {
    const bool right = alarm.kind == Alarm::Kind::stuck && alarm.operation == "synchronize-stream";
    std::_Exit(right ? 42 : 1);
  });
  stream.launch(ends_at_once);
  stream.synchronize();
  std::_Exit(2);
}

TEST_F(WatchedGpu, HangsWhereTheVariableSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(hang_as_asked(), testing::ExitedWithCode(42), "");
}

TEST_F(WatchedGpu, TellsOfItsHealthInLittleTime) {
  static_cast<void>(device().health());
  const auto begun = std::chrono::steady_clock::now();
  constexpr int kLooks = 20;
  Health health;
  for (int i = 0; i < kLooks; ++i) health = device().health();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begun;
  EXPECT_LT(time.count() / kLooks, 20e-3) << "of one look";
  RecordProperty("microseconds_of_a_look", static_cast<int>(time.count() / kLooks * 1e6));
  if (health == Health{}) GTEST_SKIP() << "NVML tells nothing here";
  EXPECT_TRUE(health.link_width.value_or(16) >= 1 && health.link_width.value_or(16) <= 32);
  EXPECT_TRUE(!health.xids || health.xids->empty());
  EXPECT_TRUE(health.power.value_or(100) > 5 && health.power.value_or(100) < 2000) << *health.power;
  EXPECT_TRUE(health.temperature.value_or(40) > 0 && health.temperature.value_or(40) < 120) << *health.temperature;
  EXPECT_LT(health.temperature.value_or(0), health.temperature_limit.value_or(120));
}

TEST_F(WatchedGpu, MeasuresTheSameWithHealthAroundACase) {
  SamplingPolicy policy;
  policy.budget = 0.05;
  policy.min_samples = policy.max_samples = 6;
  const RunContext bench{*machine_, device(), policy, 7, true, [](const SamplingProgress&) {}};
  for (const Result& r : run_cases(cases_of_line("memcpy --size 64K --host pinned"), bench, {})) {
    EXPECT_EQ(r.status, Status::ok) << r.config.key() << ": " << r.reason;
    EXPECT_EQ(r.health.has_value(), device().health() != Health{});
  }
}

}  // namespace

}  // namespace xferbench::test
