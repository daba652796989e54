// Profiles fitted to results, and their validation, on made-up results.
#include "scenarios/calibration/calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "paper/writers.hpp"
#include "report/calibrate/calibrate_report.hpp"
#include "validate/validation.hpp"
#include "words/validation.hpp"

namespace xferbench {
namespace {

const Axis kSize{.name = "size", .kind = AxisKind::size};
const Axis kDirection = choice_axis("dir", {"h2d", "d2h"}, {});
const Axis kHost = choice_axis("host", {"pinned"}, {});

Measurement timed(std::string name, double seconds, unsigned batch = 1) {
  Measurement m;
  m.name = std::move(name);
  m.samples = {seconds};
  m.median = seconds;
  m.ci95 = Interval{0.999 * seconds, 1.001 * seconds};
  m.batch = batch;
  return m;
}

Result copy_of(const char* direction, std::uint64_t bytes, double seconds, unsigned batch) {
  Case c("memcpy");
  c.set(kSize, bytes);
  c.set(kDirection, std::string(direction));
  c.set(kHost, std::string("pinned"));
  Result r(c);
  r.measurements.push_back(timed("copy", seconds, batch));
  return r;
}

/// H2D and D2H copies of 1 MiB to 1 GiB: 5 us per pass, 2 us per copy, 50 GB/s.
NamedReport copies() {
  NamedReport run{.name = "copies.json", .report = {}};
  run.report.environment.backend = "cuda";
  run.report.environment.gpu.name = "A GPU";
  for (const char* direction : {"h2d", "d2h"}) {
    for (std::uint64_t bytes = 1 << 20; bytes <= 1 << 30; bytes *= 4) {
      const unsigned batch = bytes < 8 << 20 ? 8 : 1;
      const double seconds = 2e-6 + static_cast<double>(bytes) / 50e9 + 5e-6 / batch;
      run.report.results.push_back(copy_of(direction, bytes, seconds, batch));
    }
  }
  return run;
}

/// A base profile in which everything is 0 except the cost of an event, 1 us.
double base(std::string_view field) { return field == "event_cost" ? 1e-6 : 0; }

NamedReport pipelines(const std::vector<double>& overheads) {
  NamedReport run{.name = "overlap.json", .report = copies().report};
  run.report.results.clear();
  for (const double overhead : overheads) {
    Case c("overlap");
    c.set(kSize, std::uint64_t{64} << 20);
    Result& r = run.report.results.emplace_back(c);
    r.add("h2d_per_operation", overhead, "s");
    r.add("h2d_duplex_rate", 0.9, "1");
    r.add("hand_over", 3e-6, "s");
    r.add("event_hand_over", 3.7e-6, "s");
  }
  return run;
}

const Figure& figure(const Calibration& calibration, std::string_view field) {
  const auto found = std::ranges::find(calibration.figures, field, &Figure::field);
  if (found == calibration.figures.end()) throw std::runtime_error("no " + std::string(field));
  return *found;
}

TEST(Calibrate, TakesCopiesApartIntoRateOverheadAndPass) {
  const std::vector<NamedReport> runs{copies()};
  const Calibration made = calibrate(runs, base);
  EXPECT_EQ(made.gpu, "A GPU");
  EXPECT_NEAR(figure(made, "h2d_rate").value, 50e9, 1e3);
  EXPECT_NEAR(figure(made, "d2h_overhead").value, 2e-6, 1e-11);
  EXPECT_NEAR(figure(made, "gate_to_copy").value, 4e-6, 1e-10) << "a pass less the event that ends it";
  const Figure& rate = figure(made, "h2d_rate");
  ASSERT_TRUE(rate.interval);
  EXPECT_LT(rate.interval->low, rate.value);
  EXPECT_GT(rate.interval->high, rate.value);
  EXPECT_GT(rate.interval->low, 0.99 * rate.value) << "each time is known to a thousandth";
  EXPECT_TRUE(rate.source.starts_with("copies.json: memcpy dir=h2d host=pinned, fit over 6 medians")) << rate.source;
}

TEST(Calibrate, SaysWhatIsMissing) {
  const std::vector<NamedReport> runs{copies()};
  const Calibration made = calibrate(runs, base);
  ASSERT_EQ(made.missing.size(), 1U);
  EXPECT_TRUE(made.missing[0].starts_with("the cost of a pipeline's operations: overlap")) << made.missing[0];
  EXPECT_EQ(calibrate(std::vector{pipelines({2e-6})}, base).missing.size(), 2U) << "each direction";
}

TEST(Calibrate, OfSeveralCostsTakesTheMedianBetweenTheLeastAndTheMost) {
  const std::vector<NamedReport> runs{pipelines({2.2e-6, 2e-6, 2.2e-6, 2.6e-6}), copies()};
  const Figure overhead = figure(calibrate(runs, base), "h2d_overhead");
  EXPECT_DOUBLE_EQ(overhead.value, 2.2e-6) << "of three different ones, and not of copies of all sizes";
  ASSERT_TRUE(overhead.interval);
  EXPECT_DOUBLE_EQ(overhead.interval->low, 2e-6);
  EXPECT_DOUBLE_EQ(overhead.interval->high, 2.6e-6);
  EXPECT_FALSE(figure(calibrate(std::vector{pipelines({2e-6, 2e-6})}, base), "h2d_overhead").interval)
      << "one measurement that two cases share";
}

TEST(Calibrate, TakesTheMeanHandoverOfResultsThatKnowNoOther) {
  const Calibration old = calibrate(std::vector{pipelines({2e-6})}, base);
  for (const char* field : {"copy_to_kernel", "kernel_to_copy", "copy_to_copy"}) {
    EXPECT_DOUBLE_EQ(figure(old, field).value, 3e-6) << field;
  }
  EXPECT_NEAR(figure(old, "order_cost").value, 0.7e-6, 1e-12);
  NamedReport run = pipelines({2e-6});
  run.report.results[0].add("hand_over_at_kernel", 3.5e-6, "s");
  run.report.results[0].add("hand_over_between_copies", 2e-6, "s");
  const Calibration made = calibrate(std::vector{run}, base);
  EXPECT_DOUBLE_EQ(figure(made, "kernel_to_copy").value, 3.5e-6);
  EXPECT_DOUBLE_EQ(figure(made, "copy_to_copy").value, 2e-6);
}

TEST(Calibrate, RefusesOtherGpusAndSimulatedRuns) {
  std::vector<NamedReport> runs{copies(), pipelines({2e-6})};
  runs[1].report.environment.gpu.name = "Another GPU";
  EXPECT_THROW(calibrate(runs, base), UsageError);
  runs.pop_back();
  runs[0].report.environment.backend = "simulated";
  EXPECT_THROW(calibrate(runs, base), UsageError);
  EXPECT_FALSE(calibrate(runs, base, true).figures.empty());
}

// --- Validation -----------------------------------------------------------------------------------------------------

validation::Prediction prediction(const char* key, const char* group, double measured, double predicted) {
  return {.key = key, .group = group, .kind = key, .measured = measured, .predicted = predicted};
}

TEST(Validate, TellsErrorsAndWhatTheWrongWinnerCosts) {
  const std::vector<validation::Prediction> all{prediction("a", "16 MiB", 100, 101), prediction("b", "16 MiB", 102, 99),
                                                prediction("c", "16 MiB", 200, 190),
                                                prediction("a", "64 MiB", 400, 404)};
  const std::vector<validation::Group> groups = validation::groups_of(all);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].name, "16 MiB");
  EXPECT_EQ(groups[0].all.cases, 3U);
  EXPECT_NEAR(groups[0].all.bias, 99 / 102.0 - 1, 1e-12);
  EXPECT_NEAR(groups[0].all.median, 1 - 99 / 102.0, 1e-12);
  EXPECT_GT(groups[0].all.p95, 0.045);
  EXPECT_EQ(groups[0].fastest, "a");
  EXPECT_EQ(groups[0].predicted_fastest, "b");
  EXPECT_NEAR(groups[0].regret, 0.02, 1e-12);
  EXPECT_FALSE(groups[0].coverage) << "nothing is known of how sure the predictions are";
  EXPECT_EQ(groups[1].regret, 0);
  EXPECT_EQ(validation::errors_of(all).cases, 4U);
}

TEST(Validate, HasCellsOfFewDigitsWhateverIsPredicted) {
  Validated validated{.profile = "p", .files = {"a.json"}, .predictions = {}, .left_out = {}};
  validated.predictions = {prediction("a", "g", 1e-12, 1e300), prediction("b", "g", 1e12, 1e-300)};
  const std::string table = to_terminal(document_of(validated), Style{});
  EXPECT_NE(table.find("over 1000000 %"), std::string::npos) << table;
  EXPECT_EQ(table.find("nan"), std::string::npos) << table;
  EXPECT_EQ(table.find("000000000"), std::string::npos) << table;
}

TEST(Validate, CoversWhatMeetsThePredictedInterval) {
  std::vector<validation::Prediction> all{prediction("in", "g", 100, 101), prediction("out", "g", 100, 110)};
  all[0].between = Interval{100.5, 102};
  all[0].interval = Interval{99, 100.5};
  all[1].between = Interval{105, 112};
  all[1].interval = Interval{99, 104};
  EXPECT_EQ(validation::groups_of(all)[0].coverage, 0.5);
}

}  // namespace
}  // namespace xferbench
