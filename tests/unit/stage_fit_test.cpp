// Costs per operation fitted to times of passes: known costs must be recovered.
#include "model/stage_fit.hpp"

#include <gtest/gtest.h>

#include <vector>

#include <string>
#include <utility>

namespace xferbench::model {
namespace {

constexpr std::size_t kPieces = 64;
constexpr std::size_t kLinks = 16;
constexpr double kLinkBytes = 4096;

StageCosts known() {
  StageCosts c;
  c.h2d = {2.4e-6, 1 / 55.5e9, 0.945, 1.2};
  c.kernel = {2.2e-6, 1 / 1000e9};
  c.d2h = {1.9e-6, 1 / 55.4e9, 0.914, 2.4};
  c.start = 6.5e-6;
  c.stream_switch = 3e-6;
  return c;
}

/// The times that a machine with exactly these costs would show.
StageTimes times_of(const StageCosts& c, double bytes, std::size_t pieces = kPieces) {
  const auto pass = [&c](const Cost& s, double n, double size) {
    return (&s == &c.kernel ? 0 : c.start) + n * s.per_operation + size * s.per_byte;
  };
  const auto each = [&](double n, double size) {
    return StageSeconds{pass(c.h2d, n, size), pass(c.kernel, n, size), pass(c.d2h, n, size)};
  };
  StageTimes t;
  t.bytes = bytes;
  t.pieces = pieces;
  t.whole = each(1, bytes);
  t.in_pieces = each(static_cast<double>(pieces), bytes);
  t.small_bytes = 64 * 1024;
  t.small = each(1, t.small_bytes);
  t.both = copies_at_once(c.h2d, c.d2h, {bytes, 1}, {bytes, 1});
  t.both.h2d += c.start, t.both.d2h += c.start;
  t.opposing = 2;
  const CopyRow opposing{2 * bytes, 2};
  t.h2d_pieces_beside = c.start + copies_at_once(c.h2d, c.d2h, {bytes, pieces}, opposing).h2d;
  t.d2h_pieces_beside = c.start + copies_at_once(c.h2d, c.d2h, opposing, {bytes, pieces}).d2h;
  t.h2d_in_turns_beside = t.h2d_pieces_beside + static_cast<double>(pieces - 1) * c.stream_switch;
  t.d2h_in_turns_beside = t.d2h_pieces_beside + static_cast<double>(pieces - 1) * c.stream_switch;
  return t;
}

void expect_like(const Cost& fitted, const Cost& real, double tolerance) {
  EXPECT_NEAR(fitted.per_operation, real.per_operation, tolerance * real.per_operation);
  EXPECT_NEAR(fitted.per_byte, real.per_byte, tolerance * real.per_byte);
  EXPECT_NEAR(fitted.duplex_rate, real.duplex_rate, tolerance * real.duplex_rate);
  EXPECT_NEAR(fitted.duplex_overhead, real.duplex_overhead, tolerance * real.duplex_overhead);
}

TEST(StageFit, FindsTheCostsOfEverySizeAndEveryLink) {
  StageCosts other_way = known();
  std::swap(other_way.h2d, other_way.d2h);
  StageCosts full_duplex = known();
  for (Cost* s : {&full_duplex.h2d, &full_duplex.d2h}) s->duplex_rate = s->duplex_overhead = 1;
  for (const StageCosts& c : {known(), other_way, full_duplex}) {
    for (const double bytes : {4e6, 16e6, 64e6, 256e6, 1e9}) {
      SCOPED_TRACE(std::to_string(bytes) + " bytes");
      const StageCosts fitted = fit_stage_costs(times_of(c, bytes));
      expect_like(fitted.h2d, c.h2d, 0.01);
      expect_like(fitted.kernel, c.kernel, 0.01);
      expect_like(fitted.d2h, c.d2h, 0.01);
      EXPECT_NEAR(fitted.start, c.start, 1e-9);
      EXPECT_NEAR(fitted.stream_switch, c.stream_switch, 1e-9);
    }
  }
}

TEST(StageFit, OfOnePieceKnowsNoCostPerOperation) {
  const StageCosts fitted = fit_stage_costs(times_of(known(), 64e6, 1));
  EXPECT_DOUBLE_EQ(fitted.h2d.per_operation, 0);
  EXPECT_DOUBLE_EQ(fitted.d2h.duplex_overhead, 1);
}

TEST(StageFit, NoiseNeverMakesACostNegative) {
  StageTimes t = times_of(known(), 64e6);
  t.in_pieces.h2d = 0.99 * t.whole.h2d;  // noise: faster in pieces than whole
  t.d2h_pieces_beside = 0.9 * t.both.d2h;
  const StageCosts fitted = fit_stage_costs(t);
  EXPECT_DOUBLE_EQ(fitted.h2d.per_operation, 0);
  EXPECT_GE(fitted.d2h.duplex_overhead, 1);
  EXPECT_GE(fitted.stream_switch, 0);
  t.small.h2d = 0;
  EXPECT_GE(fit_stage_costs(t).start, 0);
  const Handoff none = fit_handoff(fitted, {.links = kLinks, .bytes = kLinkBytes});
  EXPECT_EQ(none.copy_to_kernel, 0);
  EXPECT_EQ(none.copy_to_copy, 0);
}

TEST(StageFit, WithoutASmallPassWhatPassesTakeIsInTheirBytes) {
  StageTimes t = times_of(known(), 64e6);
  t.small_bytes = 0;
  const StageCosts fitted = fit_stage_costs(t);
  EXPECT_EQ(fitted.start, 0);
  EXPECT_NEAR(64e6 * fitted.h2d.per_byte, 64e6 * known().h2d.per_byte + known().start, 1e-12);
}

TEST(StageFit, TheHandOversAreWhatChainsTakeBesideTheirOperations) {
  const StageCosts c = known();
  const auto alone = [](const Cost& s) { return s.per_operation + kLinkBytes * s.per_byte; };
  const double one_way = alone(c.h2d) + alone(c.kernel);
  const Handoff found = fit_handoff(c, {.links = kLinks,
                                        .bytes = kLinkBytes,
                                        .all_stages = c.start + kLinks * (one_way + alone(c.d2h) + 2 * 3.5e-6 + 2e-6),
                                        .without_d2h = c.start + kLinks * (one_way + 2 * 3.5e-6)});
  EXPECT_NEAR(found.copy_to_kernel, 3.5e-6, 1e-12);
  EXPECT_NEAR(found.kernel_to_copy, 3.5e-6, 1e-12);
  EXPECT_NEAR(found.copy_to_copy, 2e-6, 1e-12);
}

TEST(StageFit, TheRatesOfAnArrangementAreThoseThatMakeItsMakespan) {
  StageCosts costs;
  costs.h2d = {2.5e-6, 1 / 55e9, 0.93, 1.6};
  costs.d2h = {2.8e-6, 1 / 55e9, 0.92, 1.8};
  const Arrangement turns{.chunks = std::vector<double>(16, 4e6), .h2d_after_d2h = 4, .streams = 4};
  StageCosts slower = costs;
  slower.h2d.duplex_rate *= 0.95;
  slower.d2h.duplex_rate *= 0.95;
  const StageCosts found = with_rates_of(costs, turns, makespan(slower, turns));
  EXPECT_NEAR(found.h2d.duplex_rate, slower.h2d.duplex_rate, 1e-6);
  EXPECT_NEAR(found.d2h.duplex_rate, slower.d2h.duplex_rate, 1e-6);
  EXPECT_EQ(found.h2d.per_operation, costs.h2d.per_operation) << "nothing else is corrected";
  const StageCosts same = with_rates_of(costs, turns, makespan(costs, turns));
  EXPECT_NEAR(same.h2d.duplex_rate, costs.h2d.duplex_rate, 1e-6);
}

/// As on an H100: both directions at once are fastest in 8 chunks each, and the fit must know that number.
TEST(StageFit, BothDirectionsAreTakenToBeInAsManyPiecesAsTheyWereMeasured) {
  const Cost in{2.5e-6, 1 / 55e9, 0.93, 1};
  const Cost out{2.8e-6, 1 / 55e9, 0.92, 1};
  constexpr double kBytes = 64e6;
  const auto alone = [](const Cost& c, std::size_t pieces) {
    return static_cast<double>(pieces) * c.per_operation + kBytes * c.per_byte;
  };
  StageTimes t;
  t.bytes = kBytes;
  t.pieces = 64;
  t.whole = {.h2d = alone(in, 1), .d2h = alone(out, 1)};
  t.in_pieces = {.h2d = alone(in, 64), .d2h = alone(out, 64)};
  t.both = copies_at_once(in, out, {kBytes, 8}, {kBytes, 8});
  t.both_pieces = 8;
  t.opposing = 2;
  t.h2d_pieces_beside = copies_at_once(in, out, {kBytes, 64}, {2 * kBytes, 2}).h2d;
  t.d2h_pieces_beside = copies_at_once(in, out, {2 * kBytes, 2}, {kBytes, 64}).d2h;
  EXPECT_NEAR(fit_stage_costs(t).h2d.duplex_rate, in.duplex_rate, 1e-4);
  EXPECT_NEAR(fit_stage_costs(t).d2h.duplex_rate, out.duplex_rate, 1e-4);
  t.both_pieces = 1;
  EXPECT_LT(fit_stage_costs(t).h2d.duplex_rate, in.duplex_rate - 1e-3) << "what chunks cost would be laid to the rates";
}

TEST(CopiesAtOnce, EachDirectionIsSlowedWhileTheOtherMoves) {
  Cost in;
  Cost out;
  in.per_byte = out.per_byte = 1;
  out.duplex_rate = 0.5;
  const CopyEnds ends = copies_at_once(in, out, {4, 1}, {4, 1});
  EXPECT_DOUBLE_EQ(ends.h2d, 4);
  EXPECT_DOUBLE_EQ(ends.d2h, 6);
}

TEST(CopiesAtOnce, WhatAnOperationCostsIsSlowedWhileTheOtherDirectionRunsAtAll) {
  Cost in{.per_operation = 1, .per_byte = 1};
  Cost out = in;
  out.duplex_overhead = 3;
  // Two copies of one byte each way. H2D 0-2, 2-4. D2H: overhead until 3, moves until 4, then alone: overhead 1, moves
  // 1.
  const CopyEnds ends = copies_at_once(in, out, {2, 2}, {2, 2});
  EXPECT_DOUBLE_EQ(ends.h2d, 4);
  EXPECT_DOUBLE_EQ(ends.d2h, 6);
}

}  // namespace
}  // namespace xferbench::model
