// LiveReport, the report of a run in progress: samples that a repeated case may replace, and ending the run from
// another thread.
#include "app/live_report.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "app/abort_run.hpp"
#include "results/json.hpp"
#include "support/files.hpp"
#include "unit/report_fixture.hpp"

namespace xferbench::app {
namespace {

Result sampled(std::size_t samples, Stop stop, Status status = Status::ok) {
  Result result = test::piped(1 << 20, 1, 4, 0.5);
  result.status = status;
  if (status != Status::ok) result.reason = "a reason";
  Measurement m;
  m.name = "pipeline";
  m.unit = "s";
  m.stop = stop;
  m.samples = std::vector<double>(samples, 1e-3);
  if (samples > 0) m.min = m.median = m.max = 1e-3;
  result.measurements = {m};
  return result;
}

std::size_t samples_left(const Result& before, const Result& now) {
  return keep_more_samples(before, now).measurements.front().samples.size();
}

TEST(WithoutLoss, KeepsSamplesUntilThereAreAsManyOrTheCaseHasEnded) {
  const Result before = sampled(20, Stop::interrupted);
  EXPECT_EQ(samples_left(before, sampled(10, Stop::interrupted)), 20U);
  EXPECT_EQ(samples_left(before, sampled(20, Stop::interrupted)), 20U);
  EXPECT_EQ(samples_left(before, sampled(30, Stop::interrupted)), 30U);
  EXPECT_EQ(samples_left(before, sampled(10, Stop::ci)), 10U) << "it has reached its target";
}

TEST(WithoutLoss, TakesAFailureAndKeepsTheSamples) {
  const Result kept = keep_more_samples(sampled(20, Stop::interrupted), sampled(0, Stop::interrupted, Status::failed));
  EXPECT_EQ(kept.status, Status::failed);
  EXPECT_EQ(kept.reason, "a reason");
  EXPECT_EQ(kept.measurements.front().samples.size(), 20U);
}

TEST(WithoutLoss, TakesNothingFromACaseThatWasSkippedThisTime) {
  const Result kept = keep_more_samples(sampled(20, Stop::interrupted), sampled(0, Stop::interrupted, Status::skipped));
  EXPECT_EQ(kept.status, Status::ok);
  EXPECT_EQ(kept.measurements.front().samples.size(), 20U);
}

class Live : public testing::Test {
 protected:
  [[nodiscard]] std::string file() const { return folder_ / "results.json"; }
  [[nodiscard]] LiveReport live() const {
    Report report;
    report.started_at = "2026-01-01T00:00:00Z";
    report.command = {"xferbench"};
    report.environment.backend = "simulated";
    report.environment.gpu.name = "a GPU";
    return {report, {.json = file()}, [](const Report&) { return Document("", Trust::of_facts()); }};
  }

 private:
  test::TemporaryFolder folder_;
};

Result skipped(const char* reason) {
  Result result = test::piped(1 << 21, 1, 4, 0.5);
  result.status = Status::skipped;
  result.reason = reason;
  result.metrics.clear();
  return result;
}

TEST_F(Live, IsCompleteOnlyIfEveryCaseHadItsChanceAndOneUsedIt) {
  const auto complete_with = [this](const std::vector<Result>& results) {
    LiveReport report = live();
    for (std::size_t i = 0; i < results.size(); ++i) static_cast<void>(report.put(i, results[i]));
    report.finish({});
    return read_report(file()).complete;
  };
  EXPECT_TRUE(complete_with({sampled(6, Stop::ci), skipped("the device has no such thing")}));
  EXPECT_FALSE(complete_with({sampled(6, Stop::ci), skipped(std::string(kDeviceLost).c_str())}));
  EXPECT_FALSE(complete_with({skipped("the device has no such thing")}));
  EXPECT_FALSE(complete_with({sampled(6, Stop::interrupted)})) << "a turn is missing";
}

TEST_F(Live, CanBeEndedFromAnotherThreadWithWhatBecameOfTheRest) {
  LiveReport report = live();
  static_cast<void>(report.put(0, sampled(6, Stop::ci)));
  std::thread watchdog([&] {
    EXPECT_TRUE(report.abandon({{0, skipped("not this one")}, {1, skipped("another reason")}}));
  });
  watchdog.join();
  const Report saved = read_report(file());
  EXPECT_FALSE(saved.complete);
  ASSERT_EQ(saved.results.size(), 2U);
  EXPECT_EQ(saved.results[0].status, Status::ok) << "what was measured stays";
  EXPECT_EQ(saved.results[1].reason, "another reason");
}

TEST_F(Live, IsGivenUpInTheWordsOfAProcessAloneOrOfARank) {
  LiveReport report = live();
  const auto give_up_as = [&report](const std::string& rank) {
    const Alarm alarm{Alarm::Kind::stuck, "synchronize_stream", 30};
    abort_run(alarm,
              {.live = report, .cases = {}, .table = [] { return std::string(); }, .clear = [] {}, .rank = rank});
  };
  EXPECT_EXIT(give_up_as(""), testing::ExitedWithCode(6), "the GPU is stuck.*--resume FILE continues");
  EXPECT_EXIT(give_up_as("rank 0 (a)"), testing::ExitedWithCode(1),
              "rank 0 .a.: the GPU is stuck.*run all ranks again");
}

}  // namespace
}  // namespace xferbench::app
