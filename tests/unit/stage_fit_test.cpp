// Costs of single operations from the times of many: what is put in must come out.
#include "model/stage_fit.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace xferbench::model {
namespace {

constexpr std::size_t kPieces = 64;
constexpr std::size_t kLinks = 16;
constexpr double kLinkBytes = 4096;

/// An H200's costs.
StageCosts known() {
  StageCosts c;
  c.h2d = {2.4e-6, 1 / 55.5e9, 0.945, 1.2};
  c.kernel = {2.2e-6, 1 / 1000e9};
  c.d2h = {1.9e-6, 1 / 55.4e9, 0.914, 2.4};
  return c;
}

/// What an ideal machine with these costs would measure.
StageTimes times_of(const StageCosts& c, double bytes, std::size_t pieces = kPieces) {
  const auto alone = [bytes](const Cost& s, std::size_t n) {
    return static_cast<double>(n) * s.per_operation + bytes * s.per_byte;
  };
  StageTimes t;
  t.bytes = bytes;
  t.pieces = pieces;
  t.h2d = alone(c.h2d, 1), t.h2d_pieces = alone(c.h2d, pieces);
  t.kernel = alone(c.kernel, 1), t.kernel_pieces = alone(c.kernel, pieces);
  t.d2h = alone(c.d2h, 1), t.d2h_pieces = alone(c.d2h, pieces);
  t.both = copies_at_once(c.h2d, c.d2h, bytes, 1, 1);
  t.h2d_pieces_beside = copies_at_once(c.h2d, c.d2h, bytes, pieces, 1).h2d;
  t.d2h_pieces_beside = copies_at_once(c.h2d, c.d2h, bytes, 1, pieces).d2h;
  t.links = kLinks;
  t.link_bytes = kLinkBytes;
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
  t.h2d_pieces = 0.99 * t.h2d;  // faster in pieces than whole
  t.d2h_pieces_beside = 0.9 * t.both.d2h;
  const StageCosts fitted = fit_stage_costs(t);
  EXPECT_DOUBLE_EQ(fitted.h2d.per_operation, 0);
  EXPECT_GE(fitted.d2h.duplex_overhead, 1);
  EXPECT_GE(handoff(fitted, t, 0), 0);
}

TEST(StageFit, TheHandOverIsWhatAChainTakesBesideItsOperations) {
  const StageCosts c = known();
  const StageTimes t = times_of(c, 64e6);
  const auto alone = [](const Cost& s) { return s.per_operation + kLinkBytes * s.per_byte; };
  const double chain = kLinks * (alone(c.h2d) + alone(c.kernel) + alone(c.d2h) + 3 * 2.2e-6);
  EXPECT_NEAR(handoff(c, t, chain), 2.2e-6, 1e-12);
}

TEST(CopiesAtOnce, EachDirectionIsSlowedWhileTheOtherMoves) {
  Cost in;
  Cost out;
  in.per_byte = out.per_byte = 1;
  out.duplex_rate = 0.5;
  const CopyEnds ends = copies_at_once(in, out, 4, 1, 1);
  EXPECT_DOUBLE_EQ(ends.h2d, 4);
  EXPECT_DOUBLE_EQ(ends.d2h, 6);
}

}  // namespace
}  // namespace xferbench::model
