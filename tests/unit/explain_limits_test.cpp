// Limits of a machine for explain, derived from results of the suite `limits`.
#include "explain/limits.hpp"

#include <gtest/gtest.h>

#include "core/units.hpp"
#include "report/explain/explain_report.hpp"
#include "results/metric_names.hpp"
#include "support/schema.hpp"
#include "unit/explain_fixture.hpp"
#include "unit/explanations.hpp"
#include "words/explain_text.hpp"

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

/// A cycle of this kind of memory. Its main metric, 2 us, is only a part.
Result allocated(const char* memory, std::uint64_t size, double cycle) {
  Result r = measured("alloc", {word("memory", memory), number("size", size)}, 2e-6);
  Measurement whole;
  whole.name = kCycle;
  whole.median = cycle;
  r.measurements.push_back(whole);
  return r;
}

TEST(MachineLimits, KnowWhatPinningCosts) {
  Report report = machine();
  EXPECT_FALSE(limits_of(report).costs.pin);
  report.results.push_back(allocated("register", 2 * MiB, 1e-3));
  report.results.push_back(allocated("register", 64 * MiB, 2.7e-3));
  EXPECT_DOUBLE_EQ(*limits_of(report).costs.pin, 2.7e-3 / (64. * MiB));
}

TEST(MachineLimits, KnowWhatTouchingMemoryCosts) {
  Report report = machine();
  EXPECT_DOUBLE_EQ(limits_of(report).costs.touch, Costs{}.touch);
  report.results.push_back(allocated("malloc", 64 * MiB, 14.5e-3));
  EXPECT_DOUBLE_EQ(limits_of(report).costs.touch, 14.5e-3 / (64. * MiB));
  report.results.back().status = Status::failed;
  EXPECT_DOUBLE_EQ(limits_of(report).costs.touch, Costs{}.touch);
}

TEST(MachineLimits, LeaveOutWhatFailed) {
  Report report = machine();
  for (Result& r : report.results) r.status = Status::failed;
  EXPECT_TRUE(limits_of(report).curves.empty());
}

// --- Many pieces ----------------------------------------------------------------------------------------------------

/// Pieces of 16 MiB in total, moved at this rate in GB/s. The host spends `calls` seconds for each piece.
Result pieces(const char* dir, const char* way, std::uint64_t piece, double rate, double calls, bool behind = true) {
  std::vector params{word("dir", dir), word("way", way), word("host", "pinned"), number("piece", piece),
                     number("size", 16 * MiB)};
  if (behind) params.push_back(number("behind-kernel", 100));
  Result r = measured("scatter", params, 16. * MiB / rate / 1e9);
  Measurement submit;
  submit.name = "submit";
  submit.median = calls * 16. * MiB / static_cast<double>(piece);
  r.measurements.push_back(submit);
  return r;
}

/// Like an H100. On an idle stream, a batch of small pieces to the GPU is slow.
Report machine_of_pieces() {
  Report report = machine();
  report.metrics_declared["scatter"] = {MetricDeclaration{.name = "time", .headline = true}};
  for (const char* dir : {"h2d", "d2h"}) {
    for (const std::uint64_t piece : {4 * KiB, 64 * KiB}) {
      report.results.push_back(pieces(dir, "kernel", piece, 45, 2e-9));
      report.results.push_back(pieces(dir, "staged", piece, 48, 2e-9));
      if (dir == std::string_view("h2d")) report.results.push_back(pieces(dir, "batch", piece, 4, 2e-6, false));
      report.results.push_back(pieces(dir, "batch", piece, piece == 4 * KiB ? 9 : 40, 0.4e-6));
    }
  }
  return report;
}

TEST(MachineLimits, KnowWhatPiecesCost) {
  const auto piece = limits_of(machine_of_pieces()).costs.piece;
  const PieceCost by_batch = piece(CopyKind::h2d, PieceWay::batch, 4 * KiB).value();
  EXPECT_NEAR(by_batch.result, 4. * KiB / 9e9, 1e-12) << "not that of an idle stream";
  EXPECT_NEAR(by_batch.calls, 0.4e-6, 1e-12);
  EXPECT_NEAR(piece(CopyKind::d2h, PieceWay::kernel, 16 * KiB)->result, 16. * KiB / 45e9, 1e-9);
  EXPECT_FALSE(limits_of(machine()).costs.piece(CopyKind::h2d, PieceWay::batch, 4 * KiB)) << "an old file";
}

/// Explains 4096 copies in each of these directions, by turns in a stream for each.
ProcessExplanation explained_pieces(const Report& limits, Memory memory, std::uint64_t bytes,
                                    const std::vector<CopyKind>& kinds) {
  Costs costs = SyntheticRecording::costs();
  costs.piece = limits_of(limits).costs.piece;
  const Recording r = in_range([&](SyntheticRecording& m) {
    std::map<CopyKind, std::uint32_t> streams;
    for (const CopyKind kind : kinds) streams[kind] = m.stream(recording::StreamFlag::non_blocking);
    for (int i = 0; i < 4096; ++i) {
      for (const CopyKind kind : kinds) m.copy(kind, memory, bytes, streams[kind]);
    }
    m.wait_device();
  });
  return explain(r, costs, {}, std::nullopt, {.range = "steps"});
}

TEST(SmallCopies, AreMovedByAKernelWhereThatIsFastest) {
  ProcessExplanation process = explained_pieces(machine_of_pieces(), Memory::pinned, 16 * KiB, {CopyKind::d2h});
  const Finding* small = find(process, FindingKind::small_copies);
  ASSERT_NE(small, nullptr) << process.gains_unavailable;
  EXPECT_TRUE(small->fix.starts_with("Move the pieces by one kernel")) << small->fix << " though staged gains 1 % more";
  EXPECT_NEAR(*small->seconds_after, 4096 * 16. * KiB / 45e9, 50e-6);
  ASSERT_EQ(small->alternatives.size(), 3U);
  EXPECT_LT(small->alternatives[0].seconds_after, *small->seconds_after) << "staged";
  EXPECT_LT(small->alternatives[1].seconds_after, small->alternatives[2].seconds_after);
  const std::string text = explain_text::alternatives_text(process, *small);
  EXPECT_NE(text.find("; one cudaMemcpyBatchAsync: at most 3."), std::string::npos) << text;
  EXPECT_TRUE(test::text_keeps_to("explain-schema.json", to_json(test::of_machine(std::move(process)))));
}

TEST(SmallCopies, AreGatheredWhereNothingElseIsKnownOrPossible) {
  const auto expect_gathered = [](const Report& limits, Memory memory) {
    const ProcessExplanation process = explained_pieces(limits, memory, 16 * KiB, {CopyKind::h2d});
    const Finding* small = find(process, FindingKind::small_copies);
    ASSERT_NE(small, nullptr) << process.gains_unavailable;
    EXPECT_TRUE(small->fix.starts_with("Gather the data in one host buffer")) << small->fix;
    EXPECT_TRUE(small->alternatives.empty());
  };
  expect_gathered(machine(), Memory::pinned);
  expect_gathered(machine_of_pieces(), Memory::pageable);
}

TEST(SmallCopies, OfBothDirectionsByTurnsAreOneRunEach) {
  const std::vector<Finding> findings =
      explained_pieces(machine_of_pieces(), Memory::pinned, 16 * KiB, {CopyKind::d2h, CopyKind::h2d}).findings;
  const auto is_one_run = [](const Finding& f) { return f.count == 4096 && f.what.ends_with("merged into one"); };
  EXPECT_EQ(std::ranges::count_if(findings, is_one_run), 2);
}

TEST(MachineLimits, SayWhose) { EXPECT_EQ(limits_of(machine()).of, "Some GPU, driver 580, measured 2026-11-23"); }

}  // namespace
}  // namespace xferbench::explain
