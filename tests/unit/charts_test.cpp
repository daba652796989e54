// Charts of a run: which lines, panels and notes they get, and when there are too few values to draw one.
#include "words/charts.hpp"

#include <gtest/gtest.h>

#include "scenarios/scenarios.hpp"
#include "unit/report_fixture.hpp"

namespace xferbench {
namespace {

ScenarioDescriptor drawn() {
  ScenarioDescriptor scenario = test::copy_descriptor();
  scenario.metrics.push_back(derived("limit", "GB/s", Better::higher, "what it cannot be above"));
  scenario.charts = {{.x = "size", .y = "bandwidth", .panels = {"dir"}, .lines = {}, .limit = "limit"}};
  return scenario;
}

Result rated(const std::string& dir, const std::string& host, std::uint64_t size, double rate) {
  Result r(test::copy_case(dir, host, size));
  r.measurements = {test::measured("copy", Clock::event_gated, {1e-3, 1e-3}, 1e-3, {0.99e-3, 1.01e-3})};
  r.add("bandwidth", rate, "GB/s");
  r.add("limit", 60, "GB/s");
  return r;
}

std::vector<Chart> charts(const ScenarioDescriptor& scenario, const std::vector<Result>& results) {
  std::vector<const Result*> pointers;
  for (const Result& r : results) pointers.push_back(&r);
  return charts_of(scenario, pointers);
}

std::vector<Result> three_sizes(double faster = 1) {
  std::vector<Result> all;
  for (const std::uint64_t size : {1U << 10, 1U << 20, 1U << 30}) {
    all.push_back(rated("h2d", "pinned", size, 50 * faster));
    all.push_back(rated("h2d", "pageable", size, 10));
  }
  return all;
}

TEST(Charts, HaveALineForEachOfTheOtherAxesAndTheLimit) {
  const auto all = charts(drawn(), three_sizes());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].title, "GB/s over size: h2d");
  EXPECT_TRUE(all[0].x.log && all[0].x.sizes);
  ASSERT_EQ(all[0].series.size(), 3U);
  EXPECT_EQ(all[0].series[0].name, "pinned");
  ASSERT_EQ(all[0].series[0].points.size(), 3U);
  EXPECT_DOUBLE_EQ(*all[0].series[0].points[0].low, 50 * 0.99) << "a rate is as sure as its time";
  EXPECT_EQ(all[0].series[2].role, Chart::Series::Role::limit);
}

TEST(Charts, HaveTheBestOfWhatTheirLinesDoNotTellApart) {
  ScenarioDescriptor scenario = drawn();
  scenario.charts[0].lines = {"dir"};
  const auto all = charts(scenario, three_sizes());
  ASSERT_EQ(all.size(), 1U);
  ASSERT_EQ(all[0].series.size(), 2U);
  for (const Chart::Point& p : all[0].series[0].points) EXPECT_DOUBLE_EQ(p.y, 50);
  EXPECT_EQ(all[0].note, "Each point is the best of its cases, which differ in host.");
  EXPECT_EQ(all[0].shape, Chart::Shape::low) << "there is one, of few lines";
}

TEST(Charts, OfSeveralPanelsWithFewLinesAreSmall) {
  std::vector<Result> all = three_sizes();
  for (const std::uint64_t size : {1U << 10, 1U << 20, 1U << 30}) all.push_back(rated("d2h", "pinned", size, 50));
  for (const Chart& chart : charts(drawn(), all)) {
    EXPECT_EQ(chart.shape, Chart::Shape::small);
    EXPECT_EQ(chart.note, "") << "its lines tell all cases apart";
  }
}

TEST(Charts, AreNotDrawnOfFewValues) {
  std::vector<Result> results = three_sizes();
  results.resize(4);  // two sizes are too few
  EXPECT_TRUE(charts(drawn(), results).empty());
  for (Result& r : results) r.status = Status::failed;
  EXPECT_TRUE(charts(drawn(), results).empty());
}

TEST(Charts, SetWhatEachGpuGetsInCompanyBesideWhatItGetsAlone) {
  ScenarioDescriptor scenario = drawn();
  scenario.gpu_bars = {{.at_once = "gets", .alone = "alone", .panels = {"dir"}}};
  std::vector<Result> results;
  for (const int gpus : {2, 3}) {
    results.push_back(rated("h2d", "pinned", 1 << 20, 50));
    for (int gpu = 0; gpu < gpus; ++gpu) {
      results.back().add("gets", 30 + gpu, "GB/s", gpu);
      results.back().add("alone", 50, "GB/s", gpu);
    }
  }
  const std::vector<const Result*> both{&results[0], &results[1]};
  const std::vector<Bars> all = gpu_bars_of(scenario, both);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].title, "Each of 3 GPUs alone, and all at once: h2d");
  ASSERT_EQ(all[0].bars.size(), 6U);
  EXPECT_EQ(all[0].bars[4].name, "GPU 2 alone");
  EXPECT_EQ(all[0].bars[5].text, "32.00 GB/s");
  EXPECT_TRUE(gpu_bars_of(scenario, std::span(both).first(1)).empty()) << "two are compared by their numbers";
}

TEST(Charts, OfEveryScenarioNameWhatIsDeclared) {
  for (const Scenario* scenario : scenarios()) {
    const ScenarioDescriptor& d = scenario->descriptor();
    const auto declares = [&d](const std::string& name) {
      return std::ranges::find(d.metrics, name, &MetricDeclaration::name) != d.metrics.end();
    };
    const auto has_axis = [&d](const std::string& name) {
      return std::ranges::find(d.axes, name, &Axis::name) != d.axes.end();
    };
    for (const GpuBars& bars : d.gpu_bars) EXPECT_TRUE(declares(bars.at_once) && declares(bars.alone)) << d.name;
    for (const LineChart& chart : d.charts) {
      EXPECT_TRUE(has_axis(chart.x) && declares(chart.y)) << d.name << ": " << chart.y << " over " << chart.x;
      for (const std::string& also : chart.also) EXPECT_TRUE(declares(also)) << d.name << ": " << also;
      EXPECT_TRUE(chart.limit.empty() || declares(chart.limit)) << d.name << ": " << chart.limit;
      for (const auto* axes : {&chart.panels, &chart.lines}) {
        for (const std::string& axis : *axes) EXPECT_TRUE(has_axis(axis)) << d.name << ": " << axis;
      }
    }
  }
}

TEST(Charts, HaveLinesOfOtherMeasurementsBesideThoseOfTheirOwn) {
  ScenarioDescriptor scenario = drawn();
  scenario.charts = {{.x = "size", .y = "copy", .panels = {"dir"}, .lines = {"host"}, .also = {"submit"}}};
  std::vector<Result> results = three_sizes();
  results[0].measurements.push_back(test::measured("submit", Clock::host, {1e-6, 1e-6}, 1e-6, {1e-6, 1e-6}));
  const auto all = charts(scenario, results);
  ASSERT_EQ(all.size(), 1U);
  ASSERT_EQ(all[0].series.size(), 4U);
  EXPECT_EQ(all[0].series[0].points.size(), 3U);
  EXPECT_EQ(all[0].series[1].name, "pinned, submit");
  EXPECT_EQ(all[0].series[1].points.size(), 1U);
}

TEST(Charts, OfOneValueOfTheirAxisAreBarsOfTheirLines) {
  std::vector<Result> results;
  for (const char* host : {"pinned", "pageable", "managed"}) results.push_back(rated("h2d", host, 1U << 20, 10));
  results.push_back(rated("h2d", "managed", 1U << 20, 12));
  std::vector<const Result*> pointers;
  for (const Result& r : results) pointers.push_back(&r);
  EXPECT_TRUE(charts_of(drawn(), pointers).empty());
  const auto all = bars_of(drawn(), pointers);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].title, "GB/s: h2d");
  ASSERT_EQ(all[0].bars.size(), 3U);
  EXPECT_EQ(all[0].bars[2].name, "managed");
  EXPECT_EQ(all[0].bars[2].end, 12) << "the best";
  EXPECT_EQ(all[0].bars[2].text, "12.00 GB/s");
  pointers.resize(2);
  EXPECT_TRUE(bars_of(drawn(), pointers).empty()) << "two are told by the table";
  results.push_back(rated("h2d", "managed", 2U << 20, 12));
  pointers = {};
  for (const Result& r : results) pointers.push_back(&r);
  EXPECT_TRUE(bars_of(drawn(), pointers).empty()) << "two sizes";
}

TEST(Samples, AreThoseOfWhatTheCaseIsAboutAndOfMoreThanAskedOneInSoMany) {
  Result r = rated("h2d", "pinned", 1U << 20, 50);
  EXPECT_FALSE(samples_of(r, drawn(), 100)) << "too few";
  std::vector<double> samples;
  for (int i = 0; i < 25; ++i) samples.push_back(1e-3 + i * 1e-6);
  r.measurements = {test::measured("copy", Clock::event_gated, samples, 1.012e-3, {0.99e-3, 1.03e-3})};
  r.measurements[0].max = samples.back();
  const auto all = samples_of(r, drawn(), 100);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->title, r.config.key() + ": 25 samples of copy");
  EXPECT_EQ(all->y.label, "ms");
  ASSERT_EQ(all->series.size(), 2U);
  ASSERT_EQ(all->series[0].points.size(), 25U);
  EXPECT_DOUBLE_EQ(all->series[0].points[24].x, 25);
  EXPECT_NEAR(all->series[0].points[24].y, 1.024, 1e-9);
  EXPECT_NEAR(all->series[1].points[0].y, 1.012, 1e-9) << "the median";
  const auto some = samples_of(r, drawn(), 10);
  ASSERT_TRUE(some);
  EXPECT_EQ(some->series[0].points.size(), 9U);
  EXPECT_TRUE(some->title.ends_with("one in 3")) << some->title;
}

}  // namespace
}  // namespace xferbench
