// Fits of copy times (latency and rate) and crossovers, on made-up copies of known cost.
#include "model/transfer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <initializer_list>
#include <random>
#include <utility>
#include <vector>

#include "results/json.hpp"
#include "support/stored_results.hpp"

namespace xferbench::model {
namespace {

using Points = std::vector<TransferPoint>;

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;

/// A copy with a relative confidence interval of +- `doubt`.
TransferPoint point(double bytes, double seconds, double doubt = 0.01) {
  return {bytes, seconds, Interval{seconds * (1 - doubt), seconds * (1 + doubt)}};
}

/// Copies from pairs of bytes and seconds.
Points copies(std::initializer_list<std::pair<double, double>> bytes_and_seconds) {
  Points all;
  for (const auto& [bytes, seconds] : bytes_and_seconds) all.push_back(point(bytes, seconds));
  return all;
}

/// Copies of `smallest` bytes, `factor` times that, and so on up to `largest`.
Points sweep(double smallest, double largest, double factor, const std::function<double(double)>& seconds) {
  Points points;
  for (double bytes = smallest; bytes <= largest; bytes *= factor) points.push_back(point(bytes, seconds(bytes)));
  return points;
}

std::function<double(double)> line(double latency, double rate) {
  return [=](double bytes) { return latency + bytes / rate; };
}

void expect_fit(const std::optional<TransferFit>& fit, double latency, double rate, double tolerance) {
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->latency, latency, tolerance * latency);
  EXPECT_NEAR(fit->rate, rate, tolerance * rate);
  EXPECT_NEAR(fit->half_rate_size, latency * rate, 2 * tolerance * latency * rate);
}

// --- Fit ------------------------------------------------------------------------------------------------------------

TEST(TransferFit, FindsLatencyAndRateOverSixOrdersOfMagnitude) {
  const auto fit = fit_transfer(sweep(256, 256 * kMiB, 4, line(2e-6, 55e9)));
  expect_fit(fit, 2e-6, 55e9, 1e-6);
  EXPECT_NEAR(fit->worst_residual, 0, 1e-9);
  EXPECT_EQ(fit->points, 11U);
  EXPECT_EQ(fit->smallest, 256);
  EXPECT_EQ(fit->largest, 256 * kMiB);
}

TEST(TransferFit, FindsThemUnderNoise) {
  std::mt19937 random(7);  // NOLINT: a fixed seed makes the test repeatable
  std::normal_distribution<double> noise(1, 0.02);
  const auto exact = line(2e-6, 55e9);
  const auto fit = fit_transfer(sweep(64, 1024 * kMiB, 1.2, [&](double n) { return exact(n) * noise(random); }));
  expect_fit(fit, 2e-6, 55e9, 0.01);
  EXPECT_GT(fit->worst_residual, 0.02);
  EXPECT_LT(fit->worst_residual, 0.08);
}

TEST(TransferFit, CountsRelativeErrorsAlike) {
  // A 10 ms copy that is 5 % late is off by 0.5 ms. In an unweighted fit that would swamp a latency of 2 us.
  Points points = sweep(256, 256 * kMiB, 2, line(2e-6, 55e9));
  points.back().seconds *= 1.05;
  const auto fit = fit_transfer(points);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->latency, 2e-6, 0.02e-6);
}

TEST(TransferFit, SaysHowFarItIsFromTheWorstPoint) {
  // One of 73 copies takes twice its time. The fit follows the others, so its residual is about half of that copy's
  // time.
  Points points = sweep(1, 1000, 1.1, line(1e-6, 1e9));
  points[30].seconds *= 2;
  const auto fit = fit_transfer(points);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->worst_residual, 0.5, 0.02);
}

/// Copies timed as the program times them: as many in a row as fill 200 us, at least one, with the pass's fixed cost
/// shared among them.
Points in_rows(const TransferFit& cost) {
  Points all = sweep(4096, 1024 * kMiB, 4, line(cost.latency, cost.rate));
  for (TransferPoint& p : all) {
    p.in_a_row = std::max(1.0, std::floor(200e-6 / p.seconds));
    p.seconds += cost.pass / p.in_a_row;
  }
  return all;
}

TEST(TransferFit, TellsWhatARowTakesFromWhatEachOfItsCopiesTakes) {
  const auto fit = fit_transfer(in_rows({.latency = 2.3e-6, .pass = 6.9e-6, .rate = 55.55e9}));
  expect_fit(fit, 2.3e-6, 55.55e9, 1e-6);
  EXPECT_NEAR(fit->pass, 6.9e-6, 1e-11);
  EXPECT_NEAR(fit->worst_residual, 0, 1e-9);
}

TEST(TransferFit, HasNoPassWhereRowsAreAlike) {
  Points alike = in_rows({.latency = 2.3e-6, .pass = 6.9e-6, .rate = 55.55e9});
  for (TransferPoint& p : alike) p.in_a_row = 1;
  EXPECT_EQ(fit_transfer(alike)->pass, 0);
  const auto none = fit_transfer(in_rows({.latency = 2.3e-6, .pass = 0, .rate = 55.55e9}));
  expect_fit(none, 2.3e-6, 55.55e9, 1e-6);
  EXPECT_NEAR(none->pass, 0, 1e-12);
}

/// Stored results of an H200: the fit is within 0.2 % from 1 MiB to 1 GiB, which a fit without batching could not be.
TEST(TransferFit, HoldsForCopiesOfAnH200BothWays) {
  const Report report = read_report(test::stored_result("h200-memcpy-sizes.json"));
  for (const char* direction : {"h2d", "d2h"}) {
    Points points;
    for (const Result& r : report.results) {
      const auto bytes = static_cast<double>(r.config.count("size"));
      if (!r.config.is("dir", direction) || !r.config.is("host", "pinned") || bytes < kMiB) continue;
      const Measurement& copy = r.needed_measurement("copy");
      points.push_back({bytes, copy.median, copy.ci95, static_cast<double>(copy.batch)});
    }
    ASSERT_EQ(points.size(), 6U);
    const auto fit = fit_transfer(points);
    ASSERT_TRUE(fit);
    EXPECT_LT(fit->worst_residual, 0.002) << direction;
    EXPECT_GT(fit->pass, 5e-6) << direction;
    for (TransferPoint& p : points) p.in_a_row = 1;
    EXPECT_GT(fit_transfer(points)->worst_residual, 0.01) << direction;
  }
}

TEST(TransferFit, NeverHasANegativeLatency) {
  // 1, 2 and 4 s for 2, 3 and 5 bytes lie on t = n - 1, a negative latency. With latency 0, least squares of s n / t -
  // 1 give s = (2 + 3/2 + 5/4) / (4 + 9/4 + 25/16) = 0.608.
  const auto fit = fit_transfer(copies({{2, 1}, {3, 2}, {5, 4}}));
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->latency, 0);
  EXPECT_EQ(fit->half_rate_size, 0);
  EXPECT_NEAR(fit->rate, 1 / 0.608, 1e-9);
  EXPECT_NEAR(fit->worst_residual, 0.24, 1e-9) << "5 bytes: 3.04 s instead of 4";
}

TEST(TransferFit, NeedsThreeDistinctSizesAndTimesThatGrow) {
  EXPECT_FALSE(fit_transfer({}));
  EXPECT_FALSE(fit_transfer(copies({{1, 1}, {2, 2}})));
  EXPECT_FALSE(fit_transfer(copies({{1, 1}, {2, 2}, {2, 2.1}, {1, 1.1}})));
  EXPECT_TRUE(fit_transfer(copies({{1, 1}, {2, 2}, {3, 3}})));
  EXPECT_FALSE(fit_transfer(copies({{1, 3}, {2, 2}, {3, 1}}))) << "falls";
  EXPECT_FALSE(fit_transfer(copies({{1, 2}, {2, 2}, {3, 2}}))) << "constant";
  EXPECT_FALSE(fit_transfer(copies({{1, 2}, {2, 2.1}, {3, 2}, {4, 2.06}}))) << "rises by chance";
}

TEST(TransferFit, LeavesOutWhatIsNoTime) {
  const auto fit = fit_transfer(copies({{1, 2}, {2, 3}, {3, 0}, {0, 1}, {4, 5}}));
  expect_fit(fit, 1, 1, 1e-9);
  EXPECT_EQ(fit->points, 3U);
}

TEST(TransferFit, OfRangesTellsBothSidesOf64KiBApart) {
  const auto small = line(3e-6, 10e9);
  const auto large = line(20e-6, 12e9);
  const auto fits =
      fit_ranges(sweep(kKiB, 64 * kMiB, 2, [&](double n) { return n <= 64 * kKiB ? small(n) : large(n); }));
  expect_fit(fits.small, 3e-6, 10e9, 1e-6);
  EXPECT_EQ(fits.small->largest, 64 * kKiB) << "64 KiB itself belongs to the small ones";
  expect_fit(fits.large, 20e-6, 12e9, 1e-6);
  EXPECT_EQ(fits.large->smallest, 128 * kKiB);
  ASSERT_TRUE(fits.all);
  EXPECT_EQ(fits.all->points, fits.small->points + fits.large->points);
  EXPECT_GT(fits.all->worst_residual, 0.1) << "one line cannot be both";
}

TEST(TransferFit, OfRangesTellsLongCopiesApart) {
  const auto shorter = line(2e-6, 50e9);
  const auto longer = line(3e-6, 55e9);
  const auto fits =
      fit_ranges(sweep(128 * kKiB, 64 * kMiB, 2, [&](double n) { return n < kMiB ? shorter(n) : longer(n); }));
  expect_fit(fits.longest, 3e-6, 55e9, 1e-6);
  EXPECT_EQ(fits.longest->smallest, kMiB) << "1 MiB itself belongs to the long ones";
  EXPECT_EQ(fits.large->points, fits.longest->points + 3);
}

TEST(TransferFit, OfRangesFitsOnlyWhatHasThreeSizes) {
  const auto fits = fit_ranges(sweep(32 * kKiB, kMiB, 2, line(2e-6, 50e9)));  // ranges 32, 64 | 128, 256, 512, 1024 KiB
  EXPECT_TRUE(fits.all);
  EXPECT_FALSE(fits.small);
  EXPECT_TRUE(fits.large);
  EXPECT_FALSE(fits.longest);
}

std::vector<Crossover> crossovers(const Points& a, const Points& b) { return compare(a, b).crossovers; }

// --- Crossovers -----------------------------------------------------------------------------------------------------

TEST(Crossovers, AreFoundWhereTheTimesAreEqual) {
  // 1 us + n / (1 GB/s) and 9 us + n / (2 GB/s): equal at n / (2 GB/s) = 8 us, 16000 bytes.
  const Points lean = sweep(1000, 1e6, 1.5, line(1e-6, 1e9));
  const Points fast = sweep(1000, 1e6, 1.5, line(9e-6, 2e9));
  const auto found = crossovers(lean, fast);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].bytes, 16000, 160);
  EXPECT_LT(found[0].measured_below, 16000);
  EXPECT_GT(found[0].measured_above, 16000);
  EXPECT_NEAR(found[0].measured_above, 1.5 * found[0].measured_below, 1e-6);
  EXPECT_FALSE(found[0].first_faster_above) << "the second has the higher rate";
  EXPECT_TRUE(crossovers(fast, lean).at(0).first_faster_above);
}

TEST(Crossovers, AreInterpolatedInLogarithms) {
  // The ratio is 1/4 at 1 byte and 2 at 64: its logarithm goes from -2 to 1 over six doublings and is 0 after four.
  const auto found = crossovers(copies({{1, 1}, {64, 2}}), copies({{1, 4}, {64, 1}}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].bytes, 16, 1e-9);
}

TEST(Crossovers, AreNotMadeOfNoise) {
  std::mt19937 random(7);  // NOLINT: a fixed seed makes the test repeatable
  std::uniform_real_distribution<double> noise(0.985, 1.015);
  const auto noisy = [&] {
    Points points = sweep(1, 1e6, 2, line(1e-6, 1e9));
    for (TransferPoint& p : points) p = point(p.bytes, p.seconds * noise(random), 0.02);
    return points;
  };
  const Points a = noisy();
  const Points b = noisy();
  bool first_faster = false;
  bool second_faster = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    (a[i].seconds < b[i].seconds ? first_faster : second_faster) = true;
  }
  ASSERT_TRUE(first_faster && second_faster) << "the medians do take turns";
  EXPECT_TRUE(crossovers(a, b).empty());
  EXPECT_EQ(compare(a, b).decided, 0U);
}

TEST(Crossovers, LieBetweenTheLastSureWinnerAndTheNext) {
  const Points a = copies({{1, 1}, {2, 1}, {4, 1}, {8, 1}, {16, 1}});
  const Points b = copies({{1, 2}, {2, 1.001}, {4, 0.999}, {8, 1.001}, {16, 0.5}});
  const auto found = crossovers(a, b);
  ASSERT_EQ(found.size(), 1U) << "the three in the middle decide nothing";
  EXPECT_EQ(found[0].measured_below, 1);
  EXPECT_EQ(found[0].measured_above, 16);
  EXPECT_NEAR(found[0].bytes, 4, 1e-9);
}

TEST(Crossovers, CanBeSeveral) {
  const Points a = copies({{1, 1}, {4, 1}, {16, 1}, {64, 1}});
  const Points b = copies({{1, 2}, {4, 0.5}, {16, 0.5}, {64, 2}});
  const auto found = crossovers(a, b);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(found[0].bytes, 2, 1e-9);
  EXPECT_FALSE(found[0].first_faster_above);
  EXPECT_NEAR(found[1].bytes, 32, 1e-9);
  EXPECT_TRUE(found[1].first_faster_above);
}

TEST(Crossovers, NeedIntervals) {
  Points a = copies({{1, 1}, {4, 4}});
  const Points b = copies({{1, 2}, {4, 2}});
  ASSERT_EQ(crossovers(a, b).size(), 1U);
  a[1].seconds_ci.reset();
  EXPECT_TRUE(crossovers(a, b).empty());
}

TEST(Crossovers, AreNotMadeOfDifferencesBelowOnePercent) {
  const auto at_both_ends = [](double difference) {
    const Points a{point(1, 1, 0), point(4, 1 + difference, 0)};
    const Points b{point(1, 1 + difference, 0), point(4, 1, 0)};
    return crossovers(a, b).size();
  };
  EXPECT_EQ(at_both_ends(0.009), 0U) << "the intervals have no width, but the two were measured one after the other";
  EXPECT_EQ(at_both_ends(0.011), 1U);
}

TEST(Crossovers, LookOnlyAtSizesThatBothHaveInAnyOrder) {
  const Points a = copies({{4, 4}, {3, 3}, {1, 1}});
  const Points b = copies({{1, 2}, {2, 1}, {4, 2}});
  const Comparison both = compare(a, b);
  EXPECT_EQ(both.sizes, 2U);
  EXPECT_EQ(both.smallest, 1);
  EXPECT_EQ(both.largest, 4);
  ASSERT_EQ(both.crossovers.size(), 1U);
  EXPECT_EQ(both.crossovers[0].measured_below, 1);
  EXPECT_EQ(both.crossovers[0].measured_above, 4);
  EXPECT_EQ(compare(a, copies({{7, 1}})).sizes, 0U);
}

TEST(Crossovers, HaveTheIntervalOfBothRatios) {
  // The ratios 1/4 and 4 cross in the middle. With 20 % of doubt on each time they are 0.19 to 0.33 and 3 to 5.3, so
  // the crossover lies between the two sizes, in an interval.
  const Points a{point(1, 1, 0.2), point(4, 4, 0.2)};
  const Points b{point(1, 4, 0.2), point(4, 1, 0.2)};
  const Crossover found = crossovers(a, b).at(0);
  EXPECT_NEAR(found.bytes, 2, 1e-9);
  EXPECT_LT(found.low, 1.9);
  EXPECT_GT(found.low, 1);
  EXPECT_GT(found.high, 2.1);
  EXPECT_LT(found.high, 4);
  const Crossover exact = crossovers({point(1, 1, 0), point(4, 4, 0)}, {point(1, 4, 0), point(4, 1, 0)}).at(0);
  EXPECT_NEAR(exact.low, exact.bytes, 1e-9);
  EXPECT_NEAR(exact.high, exact.bytes, 1e-9);
}

TEST(Crossovers, AreEstimatedBetweenSizesUpToTwiceApart) {
  const Points b = copies({{1, 2}, {2, 2}, {3, 2}});
  EXPECT_TRUE(crossovers(copies({{1, 1}, {2, 4}}), b).at(0).is_estimated());
  EXPECT_FALSE(crossovers(copies({{1, 1}, {3, 4}}), b).at(0).is_estimated());
}

TEST(Comparison, TellsEqualFromNotDecidedAndFromNotSampled) {
  const Points a{point(1, 1, 0.001), point(2, 1, 0.02), {4, 1, {}}, point(8, 3, 0.02)};
  const Points b{point(1, 1.002, 0.001), point(2, 1, 0.02), {4, 6, {}}, point(8, 1, 0.02)};
  const Comparison c = compare(a, b);
  EXPECT_EQ(c.sizes, 4U);
  EXPECT_EQ(c.equal, 1U);
  EXPECT_EQ(c.decided, 1U);
  EXPECT_EQ(c.without_interval, 1U) << "six times as long, of too few samples";
  EXPECT_NEAR(c.factors.low, 3, 1e-9);
  EXPECT_NEAR(c.excluded, 0.0288, 0.001) << "2 % on both sides, added as squares";
}

TEST(Comparison, SaysWhoIsFasterAndAtHowManySizes) {
  const Points a = copies({{1, 1}, {2, 1}, {4, 1}});
  const Points b = copies({{1, 1.001}, {2, 2}, {4, 2}});
  const Comparison c = compare(a, b);
  EXPECT_EQ(c.sizes, 3U);
  EXPECT_EQ(c.decided, 2U);
  EXPECT_TRUE(c.first_faster_at_start);
  EXPECT_TRUE(c.crossovers.empty());
  EXPECT_FALSE(compare(b, a).first_faster_at_start);
}

// --- Break-even -----------------------------------------------------------------------------------------------------

/// A time in seconds with a relative interval of +- `doubt`.
Estimate known(double seconds, double doubt = 0) {
  const double reach = std::abs(seconds) * doubt;
  return {seconds, Interval{seconds - reach, seconds + reach}};
}

TEST(BreakEven, IsTheNumberOfCopiesThatPayForTheSetupAtLeastOne) {
  const auto copies = [](double setup, double slow, double fast) {
    const BreakEven found = break_even(known(setup), known(slow), known(fast));
    EXPECT_EQ(found.outcome, BreakEven::Outcome::pays);
    EXPECT_EQ(found.range, (Interval{found.copies, found.copies})) << "everything is known exactly";
    return found.copies;
  };
  EXPECT_EQ(copies(10, 5, 2), 4) << "10 + 4 x 2 < 4 x 5, but 10 + 3 x 2 > 3 x 5";
  EXPECT_EQ(copies(9, 5, 2), 3) << "as dear is enough";
  EXPECT_EQ(copies(0, 5, 2), 1);
  EXPECT_EQ(copies(0.5, 5, 2), 1);
  EXPECT_EQ(copies(-1, 5, 2), 1) << "a setup that costs less than nothing is noise";
}

TEST(BreakEven, HasTheIntervalOfTheSetupAndOfBothCopies) {
  // 5 % of 5 and of 2 are 0.25 and 0.1, together 0.269: each copy saves 2.73 to 3.27. The setup costs 27 to 33.
  const BreakEven found = break_even(known(30, 0.1), known(5, 0.05), known(2, 0.05));
  EXPECT_EQ(found.copies, 10);
  EXPECT_EQ(found.range, (Interval{9, 13})) << "27 / 3.27 = 8.26, 33 / 2.73 = 12.08";
}

TEST(BreakEven, IsNeverOnlyWhereThatIsKnown) {
  const auto outcome = [](double slow, double fast, double doubt) {
    return break_even(known(1), known(slow, doubt), known(fast, doubt)).outcome;
  };
  EXPECT_EQ(outcome(2, 3, 0.01), BreakEven::Outcome::never) << "slower";
  EXPECT_EQ(outcome(2, 2, 0.001), BreakEven::Outcome::never) << "equally fast";
  EXPECT_EQ(outcome(2, 1, 0.4), BreakEven::Outcome::undecided) << "twice as fast, but nobody knows";
  EXPECT_EQ(outcome(2, 1.985, 0), BreakEven::Outcome::never) << "less than 1 %";
  EXPECT_TRUE(break_even(known(1), known(2), known(2)).equal);
  EXPECT_FALSE(break_even(known(1), known(2), known(3)).equal);
}

TEST(BreakEven, IsNotDecidedWithoutIntervals) {
  const BreakEven copies = break_even(known(1), {2}, {1});
  EXPECT_EQ(copies.outcome, BreakEven::Outcome::undecided);
  EXPECT_FALSE(copies.sampled);
  const BreakEven setup = break_even({1}, known(2), known(1));
  EXPECT_EQ(setup.outcome, BreakEven::Outcome::undecided);
  EXPECT_FALSE(setup.sampled);
  EXPECT_EQ(break_even(known(0), {std::nan("")}, known(1)).outcome, BreakEven::Outcome::undecided);
}

}  // namespace
}  // namespace xferbench::model
