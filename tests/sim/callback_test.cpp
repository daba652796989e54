// callback: the CPU stage reads only what has arrived, and how it learns of that has its price.
#include <stdexcept>

#include "core/error.hpp"
#include "parsing.hpp"
#include "scenarios/scenarios.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

Result run_one(Device& device, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"callback", "--size", "32M", "--chunks", "8"});
  return run_all(test::cases_of(arguments), quick_bench(device)).front();
}

class CallbackTest : public testing::Test {
 protected:
  double median(const Result& r, const char* measurement) {
    EXPECT_EQ(r.status, Status::ok) << r.reason;
    const Measurement* m = r.measurement(measurement);
    EXPECT_NE(m, nullptr) << measurement;
    return m == nullptr ? 0 : m->median;
  }
  Result run(const std::vector<std::string>& arguments) { return run_one(device_, arguments); }

  sim::SimMachine machine_{profile("h200")};
  Device& device_ = machine_.device();
};

TEST_F(CallbackTest, NotificationTakesWhatTheProfileSays) {
  const auto& p = profile("h200");
  EXPECT_NEAR(median(run({"--method", "host-func"}), "notification"), p.host_function_start, 1e-9);
  EXPECT_NEAR(median(run({"--method", "stream-callback"}), "notification"), p.stream_callback_start, 1e-9);
  EXPECT_NEAR(median(run({"--method", "event-sync"}), "notification"), p.event_cost + p.wake_up, 1e-9);
  EXPECT_LE(median(run({"--method", "poll"}), "notification"), p.event_cost + 2 * p.query_call);
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
  const Result r = run({"--method", "none"});
  EXPECT_EQ(r.status, Status::ok) << r.reason;
  EXPECT_EQ(r.measurements.size(), 1U);
}

/// On a machine whose events seem to have finished at once.
class ReadTooEarly : public testing::TestWithParam<const char*> {};

TEST_P(ReadTooEarly, IsCaughtByTheChecksum) {
  sim::SimMachine hasty = machine_that({.synchronize_event = [] {}, .finished = [] { return true; }});
  const Result r = run_one(hasty.device(), {"--method", GetParam()});
  EXPECT_EQ(r.status, Status::failed);
  EXPECT_NE(r.reason.find("read chunk"), std::string::npos) << r.reason;
}

INSTANTIATE_TEST_SUITE_P(Helper, ReadTooEarly, testing::Values("event-sync", "poll"), [](const auto& tested) {
  return tested.param == std::string("poll") ? "poll" : "event_sync";
});

/// On a machine that loses its context when somebody waits for an event or asks for it.
class ErrorInTheHelper : public testing::TestWithParam<const char*> {};

TEST_P(ErrorInTheHelper, FailsTheCaseAndHangsNobody) {
  sim::SimMachine lost =
      machine_that({.synchronize_event = [] { throw DeviceError("waiting for an event", "the context is lost"); },
                    .finished = []() -> bool { throw DeviceError("asking for an event", "the context is lost"); }});
  const Result r = run_one(lost.device(), {"--method", GetParam()});
  EXPECT_EQ(r.status, Status::failed);
  EXPECT_NE(r.reason.find("the context is lost"), std::string::npos) << r.reason;
}

INSTANTIATE_TEST_SUITE_P(Helper, ErrorInTheHelper, testing::Values("event-sync", "poll"), [](const auto& tested) {
  return tested.param == std::string("poll") ? "poll" : "event_sync";
});

/// A machine whose host has only so many threads to give.
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
  for (const char* scenario : {"callback", "staging"}) {
    const std::vector<std::string> command =
        scenario == std::string("callback")
            ? std::vector<std::string>{scenario, "--size", "1M", "--method", "poll", "--consumers", "5"}
            : std::vector<std::string>{scenario, "--size", "1M", "--method", "threads", "--threads", "5"};
    CrowdedMachine crowded(3);
    const Result r = run_all(test::cases_of(command), quick_bench(crowded.device())).front();
    EXPECT_EQ(r.status, Status::failed) << scenario;
    EXPECT_EQ(r.reason, "no more threads") << scenario;
  }
}

}  // namespace

}  // namespace xferbench::test
