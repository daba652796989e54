// Findings: what several results say together.
#include "run/findings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "unit/report_fixture.hpp"
#include "unit/support.hpp"

namespace xferbench {
namespace {

using test::copy_case;
using Labels = std::vector<std::pair<std::string, std::string>>;

/// A copy of that time, known to 0.1 %.
Result copied(const std::string& dir, const std::string& host, std::uint64_t size, double seconds) {
  Result r(copy_case(dir, host, size));
  r.measurements = {test::measured("copy", Clock::event, {seconds}, seconds, {seconds * 0.999, seconds * 1.001})};
  return r;
}

using Cost = std::function<double(double bytes)>;

Cost line(double latency, double rate) {
  return [=](double bytes) { return latency + bytes / rate; };
}

/// Copies of 1 KiB to 256 MiB, each four times the one before.
std::vector<Result> sweep(const std::string& dir, const std::string& host, const Cost& cost) {
  std::vector<Result> results;
  for (std::uint64_t size = KiB; size <= 256 * MiB; size *= 4) {
    results.push_back(copied(dir, host, size, cost(static_cast<double>(size))));
  }
  return results;
}

/// The results of several sweeps, one after another.
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

std::vector<std::string> sentences(const std::vector<Result>& results) {
  std::vector<std::string> texts;
  for (const Finding& f : fits_and_crossovers(paths_of(results), "host")) {
    if (!f.text.empty()) texts.push_back(f.text);
  }
  return texts;
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
  results[0].measurements[0].samples.clear();
  results.emplace_back(Case("no-size"));
  results.back().measurements = results[1].measurements;
  EXPECT_EQ(paths_of(results).at(0).points.size(), 1U);
  EXPECT_TRUE(paths(pointers(results), "other").empty());
  EXPECT_TRUE(paths_of({}).empty());
}

// --- Fits -----------------------------------------------------------------------------------------------------------

TEST(Fits, AreRowsForAllSizesAndForBothSidesOf64KiB) {
  const auto cost = [](double n) { return n <= 65536 ? 3e-6 + n / 10e9 : 20e-6 + n / 12e9; };
  const auto findings = fits_and_crossovers(paths_of(sweep("h2d", "pinned", cost)), "host");
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].labels, (Labels{{"dir", "h2d"}, {"range", "all"}}));
  EXPECT_EQ(findings[1].labels, (Labels{{"dir", "h2d"}, {"range", "<= 64 KiB"}}));
  EXPECT_EQ(findings[2].labels, (Labels{{"dir", "h2d"}, {"range", "> 64 KiB"}}));
  struct Expected {
    std::string name_and_unit;
    double value;
    double tolerance;
  };
  const std::vector<Expected> expected{{"latency s", 20e-6, 1e-12},
                                       {"rate GB/s", 12, 1e-6},
                                       {"half_rate_size B", 240'000, 1},
                                       {"worst_residual 1", 0, 1}};
  ASSERT_EQ(findings[2].metrics.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Metric& m = findings[2].metrics[i];
    EXPECT_EQ(m.name + " " + m.unit, expected[i].name_and_unit);
    EXPECT_NEAR(m.value, expected[i].value, expected[i].tolerance) << m.name;
  }
  for (const Finding& f : findings) EXPECT_EQ(f.kind + f.text, "fit");
}

TEST(Fits, SayNothingTwice) {
  std::vector<Result> small = sweep("h2d", "pinned", line(1e-6, 1e9));
  std::erase_if(small, [](const Result& r) { return r.config.count("size") > 64 * KiB; });
  const auto findings = fits_and_crossovers(paths_of(small), "host");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].labels.back().second, "all");
}

// --- Comparisons ----------------------------------------------------------------------------------------------------

TEST(Comparisons, SayFromWhichSizeOnOneIsFaster) {
  // Equal at n / (2 GB/s) = 12.288 us, 24 KiB. Only 16 and 64 KiB were measured: the estimate is near it, no more.
  const auto results =
      joined({sweep("h2d", "pageable", line(1e-6, 1e9)), sweep("h2d", "pinned", line(13.288e-6, 2e9))});
  const auto findings = fits_and_crossovers(paths_of(results), "host");
  const Finding& f = findings.back();
  EXPECT_EQ(f.text, "pinned is faster than pageable from about 27 KiB on (measured: 16 KiB and 64 KiB)");
  EXPECT_EQ(f.kind, "crossover");
  EXPECT_EQ(f.labels, (Labels{{"faster", "pinned"}, {"slower", "pageable"}}));
  ASSERT_EQ(f.metrics.size(), 3U);
  EXPECT_NEAR(f.metrics[0].value, 24 * 1024, 0.15 * 24 * 1024);
  EXPECT_EQ(f.metrics[1].value, 16 * 1024);
  EXPECT_EQ(f.metrics[2].value, 64 * 1024);
}

TEST(Comparisons, NameWhatTheTwoHaveInCommonIfThereAreOthers) {
  const Cost cost = line(1e-6, 2e9);
  EXPECT_EQ(sentences(joined({sweep("h2d", "pageable", line(2e-6, 1e9)), sweep("h2d", "pinned", cost),
                              sweep("d2h", "pageable", cost), sweep("d2h", "pinned", cost), sweep("d2d", "", cost)})),
            (std::vector<std::string>{
                "h2d: pinned is faster than pageable at every size measured (1 KiB to 256 MiB)",
                "d2h: pageable and pinned are equally fast at every size measured (1 KiB to 256 MiB)",
            }));
}

TEST(Comparisons, SayAtHowManySizesOneIsFasterIfNotAtAll) {
  struct Compared {
    Cost pageable;
    Cost pinned;
    std::string sentence;
  };
  for (const Compared& c : {
           Compared{line(2e-6, 1e9), line(2e-6, 1.01e9), "pageable and pinned are equally fast at every size measured"},
           {line(2e-6, 1e9), line(2e-6, 2e9), "pinned is faster than pageable at every size measured"},
           {line(200e-6, 1e9), line(200e-6, 2e9), "pinned is faster than pageable at 9 of 10 sizes measured"},
       }) {
    const auto all = sentences(joined({sweep("h2d", "pageable", c.pageable), sweep("h2d", "pinned", c.pinned)}));
    ASSERT_EQ(all.size(), 1U);
    EXPECT_TRUE(all[0].starts_with(c.sentence + " (1 KiB to 256 MiB)")) << all[0];
    EXPECT_EQ(all[0].ends_with(" and as fast at the others"), test::contains(c.sentence, " of "));
  }
}

TEST(Comparisons, TellOfSeveralCrossoversInOneSentence) {
  const std::vector<Result> results{copied("h2d", "pinned", KiB, 2),       copied("h2d", "pinned", 4 * KiB, 1),
                                    copied("h2d", "pinned", 16 * KiB, 2),  copied("h2d", "pageable", KiB, 1),
                                    copied("h2d", "pageable", 4 * KiB, 2), copied("h2d", "pageable", 16 * KiB, 1)};
  EXPECT_EQ(sentences(results).back(),
            "pinned and pageable take turns: pageable is faster below about 2 KiB, pinned from there to about 8 KiB, "
            "pageable from there on");
}

TEST(Comparisons, AreWithTheFirstAndTheNeighbourAndNotOfAllPairs) {
  std::vector<Result> results;
  for (const char* host : {"a", "b", "c", "d"}) {
    results = joined({results, sweep("h2d", host, line(1e-6 / host[0], 1e9 * host[0]))});
  }
  std::vector<std::string> pairs;
  for (const Finding& f : fits_and_crossovers(paths_of(results), "host")) {
    if (f.kind == "winner") pairs.push_back(f.labels[0].second + f.labels[1].second);
  }
  EXPECT_EQ(pairs, (std::vector<std::string>{"ba", "ca", "da", "cb", "dc"})) << "the faster one first";
}

TEST(Comparisons, NeedMoreThanOneSize) {
  EXPECT_TRUE(sentences({copied("h2d", "pinned", KiB, 1), copied("h2d", "pageable", KiB, 2)}).empty());
}

// --- Conclusions of scenarios ---------------------------------------------------------------------------------------

/// Concludes how many results it was given.
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

}  // namespace
}  // namespace xferbench
