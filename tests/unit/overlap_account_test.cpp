// Metrics of scenario overlap, derived from made-up times.
#include "scenarios/overlap/account.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "measure/statistics.hpp"

namespace xferbench {
namespace {

constexpr std::size_t kRounds = 30;

/// Samples with a disturbance of up to 20 % that is the same for all series in a round.
std::vector<double> moved(double seconds) {
  std::vector<double> samples;
  for (std::size_t i = 0; i < kRounds; ++i)
    samples.push_back(seconds * (1 + 0.2 * std::sin(static_cast<double>(i * i))));
  return samples;
}

Measurement measured(const std::string& name, std::vector<double> samples) {
  Measurement m;
  m.name = name;
  m.samples = std::move(samples);
  statistics::summarise(m);
  return m;
}

/// Both directions at once take 0.8 ms of a makespan of 1 ms: the link is the limit.
Result sampled(std::vector<double> pipeline = moved(1e-3)) {
  Result r{Case("overlap")};
  r.measurements = {measured("pipeline", std::move(pipeline)), measured("h2d", moved(0.6e-3)),
                    measured("kernel", moved(0.1e-3)),         measured("d2h", moved(0.6e-3)),
                    measured("both", moved(0.8e-3)),           measured("pipeline-submit", moved(1e-5))};
  return r;
}

double width(Result r) {
  OverlapCase c;
  c.work.bytes = std::size_t{16} << 20;
  derive(c, 2, r);
  EXPECT_LE(r.value("efficiency_low"), r.value("efficiency"));
  EXPECT_GE(r.value("efficiency_high"), r.value("efficiency"));
  return r.value("efficiency_high") - r.value("efficiency_low");
}

TEST(OverlapAccount, WhatMovesPipelineAndStagesAlikeMovesNoEfficiency) {
  EXPECT_LT(width(sampled()), 1e-9);
  std::vector<double> other_rounds = moved(1e-3);
  std::ranges::reverse(other_rounds);
  EXPECT_GT(width(sampled(std::move(other_rounds))), 0.05);
}

/// Series "both-alike" repeats the stages as often as the pipeline; the limit is then taken from it.
TEST(OverlapAccount, HoldsTheMakespanAgainstStagesThatAreRepeatedAlike) {
  Result r = sampled();
  r.measurements.push_back(measured("both-alike", moved(0.9e-3)));
  OverlapCase c;
  c.work.bytes = std::size_t{16} << 20;
  derive(c, 2, r);
  EXPECT_NEAR(r.value("efficiency"), 0.9, 1e-3);
  EXPECT_NEAR(r.value("efficiency_low"), 0.9, 0.01);
  EXPECT_NEAR(r.value("both_bandwidth"), 2 * 16.777216e-3 / r.median("both"), 1e-9) << "of both alone";
}

/// Chunked copies, and the whole pipeline, are faster than whole copies in both directions.
TEST(OverlapAccount, HoldsTheMakespanAgainstTheFastestArrangementAndNeverAboveIt) {
  OverlapCase c;
  c.work.bytes = std::size_t{16} << 20;
  const auto derived = [&c](double pipeline, double chunked) {
    Result r = sampled(moved(pipeline));
    r.measurements.push_back(measured(kBothChunked, moved(chunked)));
    derive(c, 2, r);
    return r;
  };
  const Result below = derived(0.77e-3, 0.75e-3);
  EXPECT_EQ(below.label("limit_set_by"), "chunked");
  EXPECT_NEAR(below.value("efficiency"), 0.75 / 0.77, 1e-3);
  const auto says_so = [](const Result& r) {
    return std::ranges::any_of(r.warnings,
                               [](const std::string& w) { return w.ends_with("the pipeline is taken as the limit"); });
  };
  EXPECT_FALSE(says_so(below));
  const Result above = derived(0.7e-3, 0.75e-3);
  EXPECT_EQ(above.label("limit_set_by"), "fastest");
  EXPECT_EQ(above.label("limited_by"), "link");
  EXPECT_DOUBLE_EQ(above.value("bound"), above.value("makespan"));
  for (const char* name : {"efficiency", "efficiency_low", "efficiency_high"}) EXPECT_EQ(above.value(name), 1) << name;
  EXPECT_TRUE(says_so(above));
}

}  // namespace
}  // namespace xferbench
