// Trends over many runs: noise causes no alarm, a change is located at its run, and the report names it.
#include "compare/trend.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "compare/processes.hpp"
#include "paper/writers.hpp"
#include "unit/compare_fixture.hpp"
#include "words/compare.hpp"

namespace xferbench {
namespace {

using compare::Change;
using compare::ChangeFinder;
using test::contains;

constexpr std::size_t kCases = 29;  // number of cases in suite ci

/// Random numbers that do not depend on the standard library, unlike its distributions.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}
  double uniform() { return (static_cast<double>(random_() >> 11U) + 0.5) * 0x1p-53; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()); }
  std::size_t below(std::size_t n) { return random_() % n; }

 private:
  std::mt19937_64 random_;
};

using Noise = std::function<double(Chance&)>;

double one_percent(Chance& chance) { return 1 + 0.01 * chance.normal(); }
double heavy(Chance& chance) { return 1 + 0.01 * std::pow(std::log(chance.uniform()), 2); }
double bimodal(Chance& chance) { return (chance.uniform() < 0.7 ? 1 : 1.03) * (1 + 0.002 * chance.normal()); }

std::vector<double> noise(Chance& chance, std::size_t n, const Noise& kind = one_percent) {
  std::vector<double> values(n);
  for (double& value : values) value = kind(chance);
  return values;
}

/// Noise around 1; from run `at` up to `end` multiplied by `factor`.
std::vector<double> stepped(Chance& chance, std::size_t n, std::size_t at, double factor, std::size_t end = 1000) {
  std::vector<double> values = noise(chance, n);
  for (std::size_t i = at; i < std::min(n, end); ++i) values[i] *= factor;
  return values;
}

std::vector<std::size_t> places(const std::vector<Change>& changes) {
  std::vector<std::size_t> all;
  all.reserve(changes.size());
  for (const Change& change : changes) all.push_back(change.at);
  return all;
}

/// For any kind of noise, even if no change is too small to report. Of 60 pages 5 % are 3; 9 is more than three
/// standard deviations above.
TEST(Trend, NoiseHasNoChangeInAllButATwentiethOfPages) {
  ChangeFinder finder(kCases);
  for (const auto& [name, kind] :
       std::map<std::string, Noise>{{"normal", one_percent}, {"heavy", heavy}, {"bimodal", bimodal}}) {
    Chance chance(7);
    int pages = 0;
    for (int page = 0; page < 60; ++page) {
      bool changed = false;
      for (std::size_t i = 0; i < kCases; ++i) changed |= !finder.changes(noise(chance, 40, kind), 0).empty();
      pages += changed ? 1 : 0;
    }
    EXPECT_LT(pages, 9) << name;
  }
}

TEST(Trend, AStepOfFivePercentInNoiseOfOneIsFoundAtItsRun) {
  ChangeFinder finder(kCases);
  Chance chance(11);
  int right = 0;
  for (int i = 0; i < 200; ++i) {
    const std::size_t at = 8 + chance.below(25);
    const auto found = finder.changes(stepped(chance, 40, at, 1.05));
    right += places(found) == std::vector{at} ? 1 : 0;
    EXPECT_TRUE(std::ranges::any_of(found, [at](const Change& c) { return c.at + 2 >= at && c.at <= at + 2; })) << at;
    if (i > 0) continue;
    EXPECT_NEAR(found.front().ratio(), 1.05, 0.01);
    EXPECT_LT(found.front().p, compare::kTrendError / kCases);
  }
  EXPECT_GE(right, 190);
}

/// Both sides of any cut look alike as a whole; only the runs next to each cut show the changes.
TEST(Trend, UpAndDownAgainAreTwoChanges) {
  Chance chance(2);
  EXPECT_EQ(places(ChangeFinder(kCases).changes(stepped(chance, 45, 15, 1.1, 30))), (std::vector<std::size_t>{15, 30}));
}

TEST(Trend, WhatIsSureButSmallIsLeftOut) {
  std::vector<double> values(60);
  for (std::size_t i = 0; i < 60; ++i) values[i] = (1 + static_cast<double>(i % 7) / 1e4) * (i >= 30 ? 1.01 : 1);
  ChangeFinder finder(kCases);
  EXPECT_TRUE(finder.changes(values).empty());
  EXPECT_EQ(places(finder.changes(values, 0.005)), std::vector<std::size_t>{30});
}

TEST(Trend, NothingCouldBeSeenInShortAndConstantSeries) {
  ChangeFinder finder(kCases);
  using Values = std::vector<double>;
  for (const Values& values : {Values{}, Values{1}, Values{1, 2, 1, 2}, Values(40, 3.), Values(40, 0.)}) {
    EXPECT_TRUE(finder.changes(values).empty()) << values.size();
  }
}

TEST(Trend, SoManyRunsMustShowItAsIsSaid) {
  ChangeFinder finder(kCases);
  Chance chance(5);
  const std::size_t needed = finder.runs_to_confirm(30).value();
  const auto found = [&](std::size_t after) {
    int count = 0;
    for (int i = 0; i < 40; ++i) count += finder.changes(stepped(chance, 30 + after, 30, 1.3)).empty() ? 0 : 1;
    return count;
  };
  EXPECT_LT(found(needed - 1), 20);
  EXPECT_EQ(found(needed), 40);
}

TEST(Trend, TheSameSeriesHasTheSameChangesWhateverWasLookedAtBefore) {
  Chance chance(3);
  const std::vector<double> values = stepped(chance, 40, 20, 1.03);
  ChangeFinder used(kCases);
  static_cast<void>(used.changes(noise(chance, 25)));
  EXPECT_EQ(used.changes(values), ChangeFinder(kCases).changes(values));
  EXPECT_FALSE(used.changes(values).empty());
}

/// Night `number` with two cases. H2D is 8 % slower from night `slower_from` on, when the driver changes too.
NamedReport night(int number, int slower_from = 12) {
  Chance chance(static_cast<std::uint64_t>(number) + 1);
  const bool slower = number >= slower_from;
  std::vector<Result> results;
  for (const char* dir : {"h2d", "d2h"}) {
    const double median = 1e-3 * (1 + 0.003 * chance.normal()) * (slower && dir == std::string("h2d") ? 1.08 : 1);
    results.push_back(test::stored(fmt::format("copy/dir={}/size=1MiB", dir), test::ten_around(median)));
  }
  NamedReport report = test::named(fmt::format("night-{:02}.json", number), std::move(results));
  report.report.started_at = fmt::format("2026-03-{:02}T03:00:00Z", number + 1);
  report.report.tool.git = slower ? "new" : "old";
  report.report.environment.driver = slower ? "590" : "580";
  return report;
}

std::vector<NamedReport> nights(int count, int slower_from = 12) {
  std::vector<NamedReport> all;
  all.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) all.push_back(night(i, slower_from));
  return all;
}

TEST(Trend, SaysWhatChangedWhenAndWhatElseDid) {
  const Document document = document_of(compare::trend(nights(24), {}));
  const std::string text = to_terminal(document, Style{});
  EXPECT_TRUE(text.starts_with("1 of 2 cases changed: h2d is 7.9 % slower")) << text;
  for (const char* part :
       {" since 2026-03-13 (night-12.json; 0.1.0 old -> 0.1.0 new)\n", "24 runs of NVIDIA H200",
        "driver: 580, then 590; commit: old, then new", "2026-03-13T03:00:00Z", "1 case without a change"}) {
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
  }
  const std::string page = to_html(document);
  const std::size_t changed = page.find("aria-label=\"h2d\"");
  EXPECT_LT(changed, page.find("<details>")) << "open";
  EXPECT_GT(page.find("aria-label=\"d2h\""), page.find("<details>")) << "folded away";
  EXPECT_TRUE(contains(page, "dashed edge"));
}

TEST(Trend, DrawsRunsAsPointsWhereMediansBetweenChangesStandBesideThem) {
  const Document document = document_of(compare::trend(nights(24), {}));
  const auto part = std::ranges::find_if(document.parts,
                                         [](const Part& some) { return std::holds_alternative<Chart>(some.content); });
  ASSERT_NE(part, document.parts.end());
  const auto& chart = std::get<Chart>(part->content);
  ASSERT_EQ(chart.series.size(), 3U);
  EXPECT_EQ(chart.series[0].role, Chart::Series::Role::points);
  EXPECT_EQ(chart.series[1].role, Chart::Series::Role::limit);
  EXPECT_TRUE(chart.series[1].like.empty()) << "of another colour than the points";
}

TEST(Trend, SaysOnceWhatIsDoubtfulAboutManyFiles) {
  std::vector<NamedReport> files = nights(12);
  for (NamedReport& file : files) file.report.tool.git = "abc-dirty";
  files[3].report.complete = false;
  const std::string page = to_html(document_of(compare::trend(files, {})));
  EXPECT_TRUE(contains(page, "2 warnings about single files"));
  EXPECT_TRUE(contains(page, "12 files, each of which was made by a build with uncommitted changes (abc-dirty)"));
  EXPECT_TRUE(contains(page, "night-00.json, night-01.json, night-02.json"));
  EXPECT_TRUE(contains(page, "night-03.json is incomplete"));
}

TEST(Trend, SaysTheSameInWhateverOrderTheFilesCome) {
  std::vector<NamedReport> files = nights(24);
  const std::string page = to_html(document_of(compare::trend(files, {})));
  std::ranges::reverse(files);
  std::swap(files[3], files[17]);
  EXPECT_EQ(to_html(document_of(compare::trend(files, {}))), page);
}

TEST(Trend, SaysThatNothingChanged) {
  const std::string text = to_terminal(document_of(compare::trend(nights(20, 99), {})), Style{});
  EXPECT_TRUE(text.starts_with("no significant change of 2 % or more: 2 cases over 20 runs")) << text;
}

TEST(Trend, RefusesWhatMakesNone) {
  const auto refusal = [](std::vector<NamedReport> files) {
    return test::refusal([&] { static_cast<void>(compare::trend(std::move(files), {})); });
  };
  EXPECT_EQ(refusal(nights(4)), "a trend needs at least 5 runs, but there are 4");
  std::vector<NamedReport> files = nights(6);
  files[3].report.environment.gpu.name = "another GPU";
  EXPECT_TRUE(
      contains(refusal(files), "night-03.json is not from the same machine as night-00.json (another GPU, not NVIDIA"));
  files = nights(6);
  files[2].report.fleet = Fleet{};
  EXPECT_TRUE(contains(refusal(files), "night-02.json has 0 ranks"));
}

TEST(Trend, ProcessesOfANightAreOnePoint) {
  std::vector<NamedReport> files;
  for (int number = 0; number < 6; ++number) {
    for (int process = 1; process <= 3; ++process) {
      files.push_back(night(number));
      files.back().name = fmt::format("{:02}-run-{}.json", number, process);
    }
  }
  const compare::Trend trend = compare::trend(files, {});
  ASSERT_EQ(trend.runs.size(), 6U);
  EXPECT_EQ(trend.runs[2].name, "02-run-1.json to 02-run-3.json (3 processes)");
}

TEST(Processes, AreFilesOfOneNameCommandAndMachineBegunSoonAfterEachOther) {
  const auto runs = [](const std::function<void(NamedReport&)>& change) {
    std::vector<NamedReport> files{night(0), night(0), night(0)};
    files[0].name = "a/run-1.json";
    files[1].name = "a/run-2.json.xz";
    files[2].name = "a/run-3.json";
    for (std::size_t i = 0; i < 3; ++i) {
      files[i].report.command = {"xferbench", "copy", "--json", "run-" + std::to_string(i) + ".json"};
    }
    change(files[1]);
    return compare::runs_of(std::move(files)).size();
  };
  EXPECT_EQ(runs([](NamedReport&) {}), 1U);
  EXPECT_EQ(runs([](NamedReport& r) { r.report.started_at = "2026-03-01T03:59:00Z"; }), 1U);
  EXPECT_EQ(runs([](NamedReport& r) { r.report.started_at = "2026-03-01T04:01:00Z"; }), 2U);
  EXPECT_EQ(runs([](NamedReport& r) { r.name = "b/run-2.json"; }), 2U) << "another folder";
  EXPECT_EQ(runs([](NamedReport& r) { r.name = "a/run.json"; }), 2U);
  EXPECT_EQ(runs([](NamedReport& r) { r.name = "a/run-2026.json"; }), 2U) << "no number of a process";
  EXPECT_EQ(runs([](NamedReport& r) { r.report.command.emplace_back("--seed=2"); }), 2U);
  EXPECT_EQ(runs([](NamedReport& r) { r.report.tool.git = "other"; }), 2U);
  EXPECT_EQ(runs([](NamedReport& r) { r.report.environment.gpu.uuid = "other"; }), 2U);
}

TEST(Processes, AsOneRunHaveTheMedianOfTheirMediansWithStudentsInterval) {
  compare::Processes processes;
  for (const double median : {1.0, 1.1, 1.3}) {
    NamedReport report =
        test::named(fmt::format("r-{}.json", processes.size() + 1), {test::stored("copy/a", {median, median})});
    report.report.results[0].add("rate", 1 / median, "GB/s");
    Measurement& own = report.report.results[0].measurements.at(0);
    own.min = median / 2;
    own.max = median * 2;
    if (median > 1) own.p90 = median * 1.5;
    processes.push_back(std::move(report));
  }
  const NamedReport whole = compare::pooled_run(processes);
  const Measurement& m = whole.report.results.at(0).measurements.at(0);
  ASSERT_EQ(m.samples.size(), 3U);
  EXPECT_NEAR(m.median, 1.1, 1e-9);
  EXPECT_NEAR(m.min, 0.5, 1e-9) << "of all samples";
  EXPECT_NEAR(m.max, 2.6, 1e-9);
  EXPECT_NEAR(m.p90.value(), 1.8, 1e-9) << "the median of the two that have one";
  EXPECT_FALSE(m.p99);
  // exp(mean +- 4.303 s / sqrt(3)), with mean and s of the logarithms.
  EXPECT_NEAR(m.ci95->low, 0.8100, 1e-3);
  EXPECT_NEAR(m.ci95->high, 1.5670, 1e-3);
  EXPECT_NEAR(whole.report.results[0].value("rate"), 1 / 1.1, 1e-9);
  processes[1].report.results[0].status = Status::failed;
  EXPECT_EQ(compare::pooled_run(processes).report.results.at(0).status, Status::failed);
}

}  // namespace
}  // namespace xferbench
