// Limits of a machine for explain, derived from results of the suite `limits`.
#include "explain/limits.hpp"

#include <gtest/gtest.h>

#include "core/units.hpp"
#include "results/metric_names.hpp"

namespace xferbench::explain {
namespace {

using recording::CopyKind;
using recording::Memory;

Result measured(const std::string& scenario, std::vector<std::pair<Axis, Value>> values, double seconds) {
  Case config(scenario);
  for (const auto& [axis, value] : values) config.set(axis, value);
  Result result(config);
  Measurement headline;
  headline.name = "time";
  headline.samples = {seconds};
  headline.median = seconds;
  result.measurements.push_back(headline);
  return result;
}

std::pair<Axis, Value> word(const char* axis, const char* value) {
  return {Axis{.name = axis, .kind = AxisKind::choice}, std::string(value)};
}
std::pair<Axis, Value> number(const char* axis, std::uint64_t value) {
  return {Axis{.name = axis, .kind = AxisKind::count}, value};
}

Result copy(const char* dir, const char* host, std::uint64_t bytes, double seconds) {
  return measured("memcpy", {word("dir", dir), word("host", host), number("size", bytes)}, seconds);
}

Report machine() {
  Report report;
  report.started_at = "2026-11-23T10:00:00Z";
  report.environment.gpu.name = "Some GPU";
  report.environment.driver = "580";
  for (const char* scenario : {"memcpy", "latency", "alloc"}) {
    report.metrics_declared[scenario] = {MetricDeclaration{.name = "time", .headline = true}};
  }
  report.results = {copy("h2d", "pinned", 4 * MiB, 100e-6), copy("h2d", "pinned", 4 * KiB, 2e-6),
                    copy("d2h", "pinned", 4 * MiB, 90e-6), copy("bidirectional", "pinned", 4 * MiB, 120e-6),
                    copy("h2d", "pageable", 4 * MiB, 400e-6)};
  return report;
}

TEST(MachineLimits, InterpolateBetweenSizes) {
  const MachineLimits limits = limits_of(machine());
  const auto seconds = [&limits](std::uint64_t bytes) {
    return limits.costs.copy(CopyKind::h2d, Memory::pinned, bytes).value();
  };
  EXPECT_DOUBLE_EQ(seconds(4), 2e-6);
  EXPECT_DOUBLE_EQ(seconds(4 * KiB), 2e-6);
  EXPECT_DOUBLE_EQ(seconds(4 * MiB), 100e-6);
  EXPECT_DOUBLE_EQ(seconds(8 * MiB), 200e-6);
  EXPECT_GT(seconds(MiB), 20e-6);
  EXPECT_LT(seconds(MiB), 35e-6);
}

TEST(MachineLimits, OfWhatWasNotMeasuredAreNotKnown) {
  const MachineLimits limits = limits_of(machine());
  EXPECT_FALSE(limits.costs.copy(CopyKind::d2h, Memory::pageable, 1));
  EXPECT_FALSE(limits.costs.copy(CopyKind::p2p, Memory::pinned, 1));
  EXPECT_TRUE(limits.costs.copy(CopyKind::h2d, Memory::pageable, 64 * MiB));
  EXPECT_FALSE(limits.costs.copy(CopyKind::h2d, Memory::pageable, 1)) << "the time of a large copy says nothing of it";
  EXPECT_FALSE(limits_of(Report{}).costs.copy(CopyKind::h2d, Memory::pinned, 1));
}

TEST(MachineLimits, KnowWhatBothDirectionsKeepOfTheirSpeed) {
  const MachineLimits limits = limits_of(machine());
  EXPECT_NEAR(limits.costs.duplex.h2d, 100. / 120, 1e-9);
  EXPECT_NEAR(limits.costs.duplex.d2h, 90. / 120, 1e-9);
  EXPECT_DOUBLE_EQ(limits_of(Report{}).costs.duplex.h2d, 1);
}

TEST(MachineLimits, TakeWhatANodeOfAGraphCostsFromLargeGraphs) {
  Report report = machine();
  for (const auto& [nodes, seconds] : {std::pair{1U, 8e-6}, {10U, 20e-6}, {110U, 120e-6}}) {
    report.results.push_back(measured("latency", {word("op", "graph"), number("nodes", nodes)}, seconds));
  }
  Measurement call;
  call.name = kHostCall;
  call.median = 7e-6;
  report.results.back().measurements.push_back(call);
  EXPECT_NEAR(limits_of(report).costs.graph_node, 1e-6, 1e-12);
  EXPECT_NEAR(limits_of(report).costs.graph_launch, 7e-6, 1e-12);
}

TEST(MachineLimits, KnowWhatPinningCosts) {
  Report report = machine();
  EXPECT_FALSE(limits_of(report).costs.pin);
  for (const std::uint64_t size : {2 * MiB, 64 * MiB}) {
    const double seconds = size == 64 * MiB ? 2.7e-3 : 1e-3;
    report.results.push_back(measured("alloc", {word("memory", "register"), number("size", size)}, seconds));
  }
  EXPECT_DOUBLE_EQ(*limits_of(report).costs.pin, 2.7e-3 / (64. * MiB));
}

TEST(MachineLimits, LeaveOutWhatFailed) {
  Report report = machine();
  for (Result& r : report.results) r.status = Status::failed;
  EXPECT_TRUE(limits_of(report).curves.empty());
}

TEST(MachineLimits, SayWhose) { EXPECT_EQ(limits_of(machine()).of, "Some GPU, driver 580, measured 2026-11-23"); }

}  // namespace
}  // namespace xferbench::explain
