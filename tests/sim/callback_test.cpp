// Scenario callback: the CPU stage reads only chunks that have arrived, and each method of notification has its cost.
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

Words command_of(Words flags) {
  flags.insert(flags.begin(), {"callback", "--size", "32M", "--chunks", "8"});
  return flags;
}

class CallbackTest : public OnSim {
 protected:
  Result run(const Words& flags) {
    Result r = run_one(command_of(flags));
    EXPECT_EQ(r.status, Status::ok) << r.reason;
    return r;
  }
};

TEST_F(CallbackTest, NotificationTakesWhatTheProfileSays) {
  const auto& p = profile("h200");
  EXPECT_NEAR(median(run({"--method", "host-func"}), "notification"), p.host_function_start, 1e-9);
  EXPECT_NEAR(median(run({"--method", "stream-callback"}), "notification"), p.stream_callback_start, 1e-9);
  EXPECT_NEAR(median(run({"--method", "event-sync"}), "notification"), p.order_cost + p.wake_up, 1e-9);
  EXPECT_LE(median(run({"--method", "poll"}), "notification"), p.order_cost + 2 * p.query_call);
}

TEST_F(CallbackTest, EveryChunkOfEveryPassIsNotified) {
  const Result r = run({"--method", "host-func"});
  const Measurement& notification = *r.measurement("notification");
  EXPECT_EQ(notification.samples.size(), 8 * r.measurement("pipeline")->samples.size());
  EXPECT_EQ(notification.clock, Clock::device);
}

TEST_F(CallbackTest, ConsumingWhileOthersArriveBeatsWaitingForAll) {
  const Result r = run({"--method", "event-sync", "--consumers", "2"});
  const double naive = median(r, "naive");
  EXPECT_NEAR(naive, median(r, "no-cpu-stage") + median(r, "cpu-stage"), 0.05 * naive);
  EXPECT_LT(median(r, "pipeline"), 0.8 * naive);
  EXPECT_GT(median(r, "pipeline"), median(r, "no-cpu-stage"));
}

TEST_F(CallbackTest, OneConsumerSetsThePace) {
  const Result r = run({"--method", "poll", "--consumers", "1"});
  const double reading = 32e0 * 1024 * 1024 / profile("h200").host_read_rate;
  EXPECT_NEAR(median(r, "cpu-stage"), reading, 0.02 * reading);
  EXPECT_NEAR(median(r, "pipeline"), reading, 0.2 * reading);
}

TEST_F(CallbackTest, WithoutACpuStageNothingIsCompared) {
  EXPECT_EQ(run({"--method", "none"}).measurements.size(), 1U);
}

/// Cases that wait in a helper thread, on machines whose events are broken.
class BrokenEvents : public testing::TestWithParam<const char*> {
 protected:
  static void expect_failure(Override how, const char* reason) {
    sim::SimMachine machine = machine_that(std::move(how));
    expect_all(run_on(machine.device(), command_of({"--method", GetParam()})), Status::failed, reason);
  }
};

TEST_P(BrokenEvents, ThatSeemToHaveFinishedAtOnceAreCaughtByTheChecksum) {
  expect_failure({.synchronize_event = [] {}, .finished = [] { return true; }}, "read chunk");
}

TEST_P(BrokenEvents, OfALostContextFailTheCaseAndHangNobody) {
  expect_failure({.synchronize_event = [] { throw DeviceError("waiting for an event", "the context is lost"); },
                  .finished = []() -> bool { throw DeviceError("asking for an event", "the context is lost"); }},
                 "the context is lost");
}

INSTANTIATE_TEST_SUITE_P(Helper, BrokenEvents, testing::Values("event-sync", "poll"), [](const auto& tested) {
  return tested.param == std::string("poll") ? "poll" : "event_sync";
});

/// A machine whose host can start only `threads` threads.
class CrowdedMachine final : public sim::SimMachine {
 public:
  explicit CrowdedMachine(int threads) : SimMachine(test::profile("h200")), host_(simulation().host, threads) {}
  [[nodiscard]] HostRuntime& host() override { return host_; }

 private:
  class CrowdedHost final : public HostRuntime {
   public:
    CrowdedHost(HostRuntime& host, int threads) : host_(host), left_(threads) {}
    [[nodiscard]] double now() const override { return host_.now(); }
    [[nodiscard]] double cpu_now() const override { return host_.cpu_now(); }
    void wait_until(double moment) override { host_.wait_until(moment); }
    [[nodiscard]] std::unique_ptr<HostThread> start_thread(std::function<void()> body) override {
      if (left_-- == 0) throw std::runtime_error("no more threads");
      return host_.start_thread(std::move(body));
    }
    [[nodiscard]] std::unique_ptr<Channel> make_channel() override { return host_.make_channel(); }
    void work(const HostCost& cost, const std::function<void()>& work) override { host_.work(cost, work); }

   private:
    HostRuntime& host_;
    int left_;
  };

  CrowdedHost host_;
};

TEST(ThreadsThatCannotStart, FailTheCaseAndHangNobody) {
  const std::vector<Words> commands{
      {"callback", "--size", "1M", "--method", "poll", "--consumers", "5"},
      {"staging", "--size", "1M", "--dir", "h2d", "--method", "threads", "--threads", "5"}};
  for (const Words& command : commands) {
    CrowdedMachine crowded(3);
    expect_all(run_on(crowded.device(), command), Status::failed, "no more threads");
  }
}

}  // namespace

}  // namespace xferbench::test
