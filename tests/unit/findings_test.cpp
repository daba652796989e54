// Findings: conclusions from several results.
#include "run/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>

#include "core/units.hpp"
#include "support/golden.hpp"
#include "unit/report_fixture.hpp"
#include "unit/support.hpp"

namespace xferbench {
namespace {

using test::copy_case;
using test::expect_golden;
using Labels = std::vector<std::pair<std::string, std::string>>;

/// A copy of `seconds`; its confidence interval is +- `doubt`, relative.
Result copied(const std::string& dir, const std::string& host, std::uint64_t size, double seconds,
              double doubt = 0.001) {
  Result r(copy_case(dir, host, size));
  r.measurements = {
      test::measured("copy", Clock::event, {seconds}, seconds, {seconds * (1 - doubt), seconds * (1 + doubt)})};
  return r;
}

using Cost = std::function<double(double bytes)>;

Cost line(double latency, double rate) {
  return [=](double bytes) { return latency + bytes / rate; };
}

/// Copies of 1 KiB to 256 MiB in steps of a factor of four.
std::vector<Result> sweep(const std::string& dir, const std::string& host, const Cost& cost, double doubt = 0.001) {
  std::vector<Result> results;
  for (std::uint64_t size = KiB; size <= 256 * MiB; size *= 4) {
    results.push_back(copied(dir, host, size, cost(static_cast<double>(size)), doubt));
  }
  return results;
}

/// Removes the confidence intervals, as with too few samples.
std::vector<Result> too_few(std::vector<Result> results) {
  for (Result& r : results) r.measurements.front().ci95.reset();
  return results;
}

std::vector<Result> joined(std::initializer_list<std::vector<Result>> sweeps) {
  std::vector<Result> all;
  for (const std::vector<Result>& results : sweeps) all.insert(all.end(), results.begin(), results.end());
  return all;
}

std::vector<const Result*> pointers(const std::vector<Result>& results) {
  std::vector<const Result*> all;
  for (const Result& r : results) all.push_back(&r);
  return all;
}

std::vector<Path> paths_of(const std::vector<Result>& results) { return paths(pointers(results), "copy"); }

/// Fits of these results and their comparison by `host`, one finding per line.
std::string told(std::initializer_list<std::vector<Result>> sweeps) {
  std::string text;
  for (const Finding& f : fits_and_crossovers(paths_of(joined(sweeps)), "host")) {
    text += f.kind;
    for (const auto& [name, value] : f.labels) text += fmt::format(" {}={}", name, value);
    for (const Metric& m : f.metrics) {
      const double value = std::abs(m.value) < 1e-12 ? 0 : m.value;  // hides rounding errors
      text += fmt::format(" {}={:.4g} {}", m.name, value, m.unit);
    }
    text += (f.text.empty() ? "" : ": " + f.text) + "\n";
  }
  return text;
}

/// As told(), without the fits.
std::string compared(std::initializer_list<std::vector<Result>> sweeps) {
  std::istringstream all(told(sweeps));
  std::string text;
  for (std::string line; std::getline(all, line);) text += line.starts_with("fit ") ? "" : line + "\n";
  return text;
}

// --- Paths ----------------------------------------------------------------------------------------------------------

TEST(Paths, AreResultsThatDifferInNothingButTheSize) {
  const auto all = paths_of({copied("h2d", "pinned", 4096, 1), copied("d2d", "", 4096, 2),
                             copied("h2d", "pageable", 4096, 3), copied("h2d", "pinned", 8192, 4)});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].labels, (Labels{{"dir", "h2d"}, {"host", "pinned"}}));
  EXPECT_EQ(all[1].labels, (Labels{{"dir", "d2d"}})) << "an axis that it does not have";
  EXPECT_EQ(all[2].labels, (Labels{{"dir", "h2d"}, {"host", "pageable"}}));
  ASSERT_EQ(all[0].points.size(), 2U);
  EXPECT_EQ(all[0].points[1].bytes, 8192);
  EXPECT_EQ(all[0].points[1].seconds, 4);
  ASSERT_TRUE(all[0].points[1].seconds_ci);
  EXPECT_DOUBLE_EQ(all[0].points[1].seconds_ci->high, 4.004);
}

TEST(Paths, AreNamedByWhatVariesOrElseByAWord) {
  const Result first = copied("h2d", "pinned", 4096, 1);
  EXPECT_EQ(paths_of({first, copied("h2d", "pageable", 4096, 2)})[0].labels, (Labels{{"host", "pinned"}}));
  EXPECT_EQ(paths_of({first, copied("h2d", "pinned", 8192, 2)})[0].labels, (Labels{{"dir", "h2d"}}));
}

TEST(Paths, LeaveOutWhatWasNotMeasured) {
  std::vector<Result> results{copied("h2d", "pinned", 4096, 1), copied("h2d", "pinned", 8192, 2)};
  results[0].measurements[0].samples = {};
  results.emplace_back(Case("no-size"));
  results.back().measurements = results[1].measurements;
  EXPECT_EQ(paths_of(results).at(0).points.size(), 1U);
  EXPECT_TRUE(paths(pointers(results), "other").empty());
  EXPECT_TRUE(paths_of({}).empty());
}

// --- Fits -----------------------------------------------------------------------------------------------------------

TEST(Fits, AreRowsForAllSizesAndForBothSidesOf64KiB) {
  const auto cost = [](double n) { return n <= 65536 ? 3e-6 + n / 10e9 : 20e-6 + n / 12e9; };
  expect_golden("findings/fits.txt", told({sweep("h2d", "pinned", cost)}));
}

TEST(Fits, SayNothingTwice) {
  std::vector<Result> small = sweep("h2d", "pinned", line(1e-6, 1e9));
  std::erase_if(small, [](const Result& r) { return r.config.count("size") > 64 * KiB; });
  expect_golden("findings/fit_of_small_ones.txt", told({small}));
}

TEST(Fits, TellTheSizeOfHalfTheRateOfCopiesInARowAndOfOneByItself) {
  std::vector<Result> results;
  for (std::uint64_t size = 64 * KiB; size <= 256 * MiB; size *= 4) {
    const unsigned in_a_row = size < 16 * MiB ? 16 : 1;
    results.push_back(copied("h2d", "pinned", size, 2e-6 + static_cast<double>(size) / 50e9 + 6e-6 / in_a_row));
    results.back().measurements.front().batch = in_a_row;
  }
  const std::vector<Finding> fits = fits_and_crossovers(paths_of(results), "host");
  const auto told = [&fits](std::string_view name) {
    const auto found = std::ranges::find(fits.front().metrics, name, &Metric::name);
    return found == fits.front().metrics.end() ? 0 : found->value;
  };
  EXPECT_NEAR(told("half_rate_size"), 2e-6 * 50e9, 1);
  EXPECT_NEAR(told("half_rate_size_alone"), (2e-6 + 6e-6) * 50e9, 1);
}

// --- Comparisons ----------------------------------------------------------------------------------------------------

TEST(Comparisons, AreTheseSentences) {
  const auto both = [](const Cost& pageable, const Cost& pinned) {
    return compared({sweep("h2d", "pageable", pageable), sweep("h2d", "pinned", pinned)});
  };
  // Both take the same time at n / (2 GB/s) = 12.288 us, which is 24 KiB. Only 16 and 64 KiB were measured, so the
  // estimate is merely close.
  expect_golden("findings/crossover.txt", both(line(1e-6, 1e9), line(13.288e-6, 2e9)));
  expect_golden("findings/alike.txt", both(line(2e-6, 1e9), line(2e-6, 1.01e9)));
  expect_golden("findings/faster.txt", both(line(2e-6, 1e9), line(2e-6, 2e9)));
  expect_golden("findings/faster_at_most_sizes.txt", both(line(200e-6, 1e9), line(200e-6, 2e9)));
  const Cost cost = line(1e-6, 2e9);
  expect_golden("findings/named_by_what_is_common.txt",
                compared({sweep("h2d", "pageable", line(2e-6, 1e9)), sweep("h2d", "pinned", cost),
                          sweep("d2h", "pageable", cost), sweep("d2h", "pinned", cost), sweep("d2d", "", cost)}));
  expect_golden("findings/several_crossovers.txt",
                compared({{copied("h2d", "pinned", KiB, 2), copied("h2d", "pinned", 4 * KiB, 1),
                           copied("h2d", "pinned", 16 * KiB, 2), copied("h2d", "pageable", KiB, 1),
                           copied("h2d", "pageable", 4 * KiB, 2), copied("h2d", "pageable", 16 * KiB, 1)}}));
}

TEST(Comparisons, SayWhatIsEqualAndWhatIsNotDecided) {
  const Cost slow = line(2e-6, 1e9);
  const Cost fast = line(0.3e-6, 6e9);
  expect_golden("findings/too_few_samples.txt",
                compared({too_few(sweep("h2d", "pageable", slow)), sweep("h2d", "pinned", fast)}));
  expect_golden("findings/not_decided.txt",
                compared({sweep("h2d", "pageable", slow, 0.02), sweep("h2d", "pinned", slow, 0.02)}));
  std::vector<Result> mixed = sweep("h2d", "pinned", slow, 0.02);
  mixed[0] = copied("h2d", "pinned", KiB, slow(KiB), 0.001);
  mixed[1].measurements.front().ci95.reset();
  expect_golden("findings/some_decided.txt", compared({sweep("h2d", "pageable", slow), mixed}));
}

TEST(Comparisons, GiveOnlyTheSizesAroundWhereTheseAreFarApart) {
  const auto both = [](std::uint64_t large) {
    return compared({{copied("h2d", "pageable", 4 * KiB, 1), copied("h2d", "pageable", large, 4),
                      copied("h2d", "pinned", 4 * KiB, 2), copied("h2d", "pinned", large, 1)}});
  };
  EXPECT_TRUE(test::mentions(both(8 * KiB), "crossover="));
  EXPECT_TRUE(
      test::mentions(both(64 * KiB), "pinned is faster than pageable from somewhere between 4 KiB and 64 KiB on"));
  EXPECT_EQ(both(64 * KiB).find("crossover="), std::string::npos);
}

/// Eight kinds of memory, five of which have the same cost.
TEST(Comparisons, OfManyAreClassesAndTheRestAreDetails) {
  std::vector<Result> all;
  const auto add = [&all](const char* host, const Cost& cost, double doubt = 0.002) {
    for (Result& r : sweep("h2d", host, cost, doubt)) all.push_back(std::move(r));
  };
  add("pageable", [](double n) { return n < 4096 ? 2e-6 + n / 60e9 : 2e-6 + n / 10e9; });
  add("pageable-huge", [](double n) { return 1e-6 + n / 12e9; });
  for (const char* host : {"pinned", "portable", "mapped", "write-combined", "registered"}) {
    add(host, line(2e-6, 60e9), 0.005);
  }
  for (Result& r : too_few(sweep("h2d", "managed", line(20e-6, 50e9)))) all.push_back(std::move(r));
  expect_golden("findings/classes.txt", compared({all}));
  std::size_t shown = 0;
  for (const Finding& f : fits_and_crossovers(paths_of(all), "host")) shown += f.text.empty() || f.detail ? 0 : 1;
  EXPECT_EQ(shown, 1U);
}

TEST(Comparisons, AreWithTheFirstAndTheNeighbourAndNotOfAllPairs) {
  const auto of = [](const char* host) { return sweep("h2d", host, line(1e-6 / host[0], 1e9 * host[0])); };
  expect_golden("findings/not_all_pairs.txt", compared({of("a"), of("b"), of("c"), of("d")}));
}

TEST(Comparisons, NeedMoreThanOneSize) {
  EXPECT_EQ(told({{copied("h2d", "pinned", KiB, 1), copied("h2d", "pageable", KiB, 2)}}), "");
}

// --- Findings of scenarios ------------------------------------------------------------------------------------------

/// Its finding is the number of its results.
class Counting final : public Scenario {
 public:
  explicit Counting(std::string name) { descriptor_.name = std::move(name); }
  [[nodiscard]] const ScenarioDescriptor& descriptor() const override { return descriptor_; }
  [[nodiscard]] MemoryNeeds needs(const Case&) const override { return {}; }
  void run(const Case&, const RunContext&, Result&) const override {}
  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override {
    Finding f;
    f.text = std::to_string(results.size());
    return {f};
  }

 private:
  ScenarioDescriptor descriptor_;
};

TEST(Conclude, AsksEachScenarioForItsOwnResultsThatAreOkAndNobodyWhoHasNone) {
  const Counting copy("copy");
  const Counting other("other");
  const Counting idle("idle");
  const std::array<const Scenario*, 3> scenarios{&other, &copy, &idle};
  std::vector<Result> results{copied("h2d", "pinned", KiB, 1), Result(Case("other")),
                              copied("h2d", "pinned", MiB, 1), copied("d2h", "pinned", KiB, 1),
                              copied("d2h", "pinned", MiB, 1), Result(Case("idle"))};
  results[3].status = results[5].status = Status::failed;
  results[4].status = Status::skipped;
  std::vector<std::pair<std::string, std::string>> counts;
  for (const Finding& f : conclude(scenarios, results)) counts.emplace_back(f.scenario, f.text);
  EXPECT_EQ(counts, (Labels{{"other", "1"}, {"copy", "2"}}));
  EXPECT_TRUE(conclude(scenarios, {}).empty());
}

TEST(Conclude, AnewPutsWhatFollowsFromTheResultsInThePlaceOfFindingsUnlessTheseKnowMore) {
  const Counting copy("copy");
  const std::array<const Scenario*, 1> scenarios{&copy};
  Report report;
  report.results = {copied("h2d", "pinned", KiB, 1), copied("h2d", "pinned", MiB, 1)};
  report.findings = {{.scenario = "copy", .kind = "winner", .text = "of one process"}};
  ASSERT_TRUE(conclude_anew(scenarios, report));
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].text, "2");
  report.findings = {{.scenario = "copy", .kind = "tune", .text = "of a search"}};
  EXPECT_FALSE(conclude_anew(scenarios, report));
  EXPECT_EQ(report.findings[0].text, "of a search");
}

/// As results of another version may.
class Refusing final : public Scenario {
 public:
  Refusing() { descriptor_.name = "copy"; }
  [[nodiscard]] const ScenarioDescriptor& descriptor() const override { return descriptor_; }
  [[nodiscard]] MemoryNeeds needs(const Case&) const override { return {}; }
  void run(const Case&, const RunContext&, Result&) const override {}
  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override {
    results.front()->needed_metric("that is not there");
    return {};
  }

 private:
  ScenarioDescriptor descriptor_;
};

TEST(Conclude, AnewLeavesFindingsWhereResultsLackWhatTheScenarioNeeds) {
  const Refusing copy;
  const std::array<const Scenario*, 1> scenarios{&copy};
  Report report;
  report.results = {copied("h2d", "pinned", KiB, 1)};
  report.findings = {{.scenario = "copy", .kind = "winner", .text = "of one process"}};
  EXPECT_FALSE(conclude_anew(scenarios, report));
  EXPECT_EQ(report.findings.size(), 1U);
}

}  // namespace
}  // namespace xferbench
