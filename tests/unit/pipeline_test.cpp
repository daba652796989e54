// The pipeline model: closed forms, effects of more streams, chunks and slots, and losses that add up.
#include "model/pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/bounds.hpp"
#include "model/stage_fit.hpp"

namespace xferbench::model {

namespace {

constexpr double kPayloadBytes = 1e9;
constexpr double kExact = 1e-12;  // relative; sums round

/// Copies: 50 GB/s each way and 2 us each. A kernel: 3 us, and `balance` times the time per byte of a copy.
StageCosts costs(double balance, double duplex_ratio = 1) {
  StageCosts c;
  c.h2d = c.d2h = {2e-6, 2e-11, duplex_ratio};
  c.kernel = {3e-6, balance * 2e-11};
  return c;
}

/// Costs per chunk in seconds, independent of its size.
StageCosts per_chunk(double h2d, double kernel, double d2h) {
  StageCosts c;
  c.h2d.per_operation = h2d;
  c.kernel.per_operation = kernel;
  c.d2h.per_operation = d2h;
  return c;
}

std::vector<double> equal_parts(double bytes, std::size_t chunks) {
  return std::vector<double>(chunks, bytes / static_cast<double>(chunks));
}

/// Equal chunks processed in place in one of `slots` buffers; 0: no limit.
Arrangement in_place(double bytes, std::size_t chunks, std::size_t slots) {
  return {.chunks = equal_parts(bytes, chunks), .h2d_after_d2h = slots};
}

/// Equal chunks with `slots` input and `slots` output buffers.
Arrangement double_buffered(double bytes, std::size_t chunks, std::size_t slots) {
  return {.chunks = equal_parts(bytes, chunks), .h2d_after_kernel = slots, .kernel_after_d2h = slots};
}

/// The closed form of docs/lab/overlap-model.md. With enough slots the longest stage never waits. With fewer, each
/// round of slots takes the time of a chunk through all stages.
double equal_chunks_makespan(std::size_t chunks, double h2d, double kernel, double d2h, std::size_t slots) {
  const double through = h2d + kernel + d2h;
  const double longest = std::max({h2d, kernel, d2h});
  const auto n = [](std::size_t count) { return static_cast<double>(count); };
  if (slots == 0 || n(slots) * longest >= through) return through + n(chunks - 1) * longest;
  return n((chunks - 1) / slots + 1) * through + n((chunks - 1) % slots) * longest;
}

double sum(const Losses& l) { return l.limit + l.fill_drain + l.overhead + l.slots + l.submission + l.unexplained; }

TEST(PipelineClosedForm, EqualChunksInAnyNumberOfSlots) {
  for (const double h2d : {1.0, 2.0, 5.0}) {
    for (const double kernel : {0.5, 2.0, 7.0}) {
      for (const double d2h : {1.0, 3.0}) {
        for (const std::size_t slots : {0U, 1U, 2U, 3U, 4U, 5U, 16U}) {
          for (const std::size_t chunks : {1U, 2U, 3U, 4U, 5U, 7U, 16U, 33U}) {
            const double closed = equal_chunks_makespan(chunks, h2d, kernel, d2h, slots);
            const double stepped = makespan(per_chunk(h2d, kernel, d2h), in_place(kPayloadBytes, chunks, slots));
            EXPECT_NEAR(closed, stepped, kExact * stepped)
                << h2d << " " << kernel << " " << d2h << ", " << slots << " slots, " << chunks << " chunks";
          }
        }
      }
    }
  }
}

TEST(PipelineClosedForm, TheBestNumberOfChunksIsTheBest) {
  for (const double balance : {0.2, 1.5, 4.0}) {
    StageCosts c = costs(balance);
    c.h2d.per_byte *= 1.1;
    const bool kernel_is_longest = c.kernel.per_byte > c.h2d.per_byte;
    const Cost& longest = kernel_is_longest ? c.kernel : c.h2d;
    const Cost& other = kernel_is_longest ? c.h2d : c.kernel;
    const double others = kPayloadBytes * (other.per_byte + c.d2h.per_byte);
    const double best = std::sqrt(others / longest.per_operation);
    const double least = kPayloadBytes * longest.per_byte + 2 * std::sqrt(others * longest.per_operation) +
                         other.per_operation + c.d2h.per_operation;
    const auto time = [&](double chunks) {
      return makespan(c, in_place(kPayloadBytes, static_cast<std::size_t>(chunks), 0));
    };
    for (double chunks = 1; chunks < 4 * best; chunks += 1) EXPECT_GE(time(chunks), least * (1 - kExact));
    EXPECT_NEAR(time(std::round(best)), least, 1e-4 * least) << "the optimum is flat";
  }
}

TEST(PipelineModel, OneChunkTakesItsWayThrough) {
  StageCosts c = costs(2, 0.8);
  c.handoff = Handoff::alike(1e-6);
  const double expected = 2e-6 + 3e-6 + 2e-6 + kPayloadBytes * 2e-11 * (1 + 2 + 1) + 2e-6;
  EXPECT_NEAR(makespan(c, in_place(kPayloadBytes, 1, 1)), expected, kExact);
  EXPECT_NEAR(makespan(c, double_buffered(kPayloadBytes, 1, 2)), expected, kExact);
  EXPECT_DOUBLE_EQ(makespan(c, {}), 0);
}

TEST(PipelineModel, DirectionsSlowEachOtherOnlyWhileBothMovePayload) {
  // There is no kernel: D2H of one chunk overlaps H2D of the next.
  StageCosts both;
  both.h2d.per_byte = both.d2h.per_byte = 1;
  both.h2d.duplex_rate = both.d2h.duplex_rate = 0.8;
  EXPECT_DOUBLE_EQ(makespan(both, {.chunks = {4, 4}}), 4 + 5 + 4);
  both.d2h.per_operation = 5;  // D2H starts moving when H2D has ended
  EXPECT_DOUBLE_EQ(makespan(both, {.chunks = {4, 4}}), 4 + 9 + 9);
  StageCosts one;
  one.h2d.per_byte = one.d2h.per_byte = 1;
  one.d2h.duplex_rate = 0.5;  // H2D keeps its full rate
  EXPECT_DOUBLE_EQ(makespan(one, {.chunks = {4, 4}}), 4 + 4 + 2 + 4);
  one.d2h.per_operation = 1;
  // While the second H2D copy runs, the first D2H copy has 2 s of overhead and moves 1 byte in 2 s; 3 bytes remain. The
  // second D2H copy runs alone.
  one.d2h.duplex_overhead = 2;
  EXPECT_DOUBLE_EQ(makespan(one, {.chunks = {4, 4}}), 4 + 4 + 3 + 5);
}

TEST(PipelineModel, UnevenChunks) {
  StageCosts c;
  c.h2d.per_byte = c.kernel.per_byte = c.d2h.per_byte = 1;
  // H2D 0-1, 1-4, 4-6; kernels 1-2, 4-7, 7-9; D2H 2-3, 7-10, 10-12.
  EXPECT_DOUBLE_EQ(makespan(c, {.chunks = {1, 3, 2}}), 12);
}

TEST(PipelineModel, OneCopyEngineTakesTurns) {
  StageCosts c = costs(0.1, 0.8);
  c.copy_engines = 1;
  const double copies = kPayloadBytes * 4e-11 + 32 * 4e-6;
  EXPECT_GE(makespan(c, in_place(kPayloadBytes, 32, 4)), copies);
  EXPECT_LT(makespan(c, in_place(kPayloadBytes, 32, 4)), 1.01 * copies);
}

TEST(PipelineModel, PlacesAreWaitedFor) {
  // Kernel-bound double buffering: the third H2D copy waits for the first kernel.
  const StageCosts c = per_chunk(1, 10, 1);
  EXPECT_DOUBLE_EQ(makespan(c, double_buffered(kPayloadBytes, 3, 2)), 1 + 30 + 1);
  EXPECT_DOUBLE_EQ(makespan(c, double_buffered(kPayloadBytes, 3, 1)), 1 + 10 + 1 + 10 + 1 + 10 + 1)
      << "with one place the copy waits for the kernel, and the kernel for the copy back";
  EXPECT_DOUBLE_EQ(makespan(c, in_place(kPayloadBytes, 3, 1)), 36);
}

TEST(PipelineModel, ASlowHostIsWaitedFor) {
  StageCosts c = costs(1);
  c.submit_h2d = c.submit_kernel = c.submit_d2h = 1e-3;
  Arrangement a = in_place(1e6, 20, 0);
  EXPECT_NEAR(makespan(c, a), 60e-3 + 2e-6 + 1e-6, 1e-6) << "all calls, and what the last one does";
  a.wave = 20;
  EXPECT_NEAR(makespan(c, a), 60e-3 + 2e-6 + 1e-6, 1e-6);
  a = in_place(1e6, 1, 0);
  EXPECT_GT(makespan(c, a), 3e-3);
}

TEST(PipelineModel, MoreOfAnythingGoodIsNeverSlower) {
  for (const double balance : {0.2, 1.0, 3.0}) {
    for (const double ratio : {0.6, 0.9, 1.0}) {
      const StageCosts c = costs(balance, ratio);
      for (const std::size_t chunks : {1U, 5U, 32U}) {
        for (std::size_t slots = 1; slots < 8; ++slots) {
          EXPECT_LE(makespan(c, in_place(kPayloadBytes, chunks, slots + 1)),
                    makespan(c, in_place(kPayloadBytes, chunks, slots)) * (1 + kExact));
        }
        EXPECT_LE(makespan(costs(balance, 1), in_place(kPayloadBytes, chunks, 4)),
                  makespan(c, in_place(kPayloadBytes, chunks, 4)) * (1 + kExact));
      }
    }
  }
}

// During D2H's large overhead, H2D moves at its full rate.
TEST(PipelineBound, IsNotAboveWhatBothDirectionsTakeAtOnceThoughOverheadsAreLarge) {
  StageCosts c;
  c.h2d = {0, 1, 0.5};
  c.d2h = {0.3, 0.7, 0.5};
  EXPECT_DOUBLE_EQ(lower_bound(c, 1), 1.7) << "the payloads, which gain nothing from each other";
  const CopyEnds ends = copies_at_once(c.h2d, c.d2h, {1, 1}, {1, 1});
  EXPECT_DOUBLE_EQ(std::max(ends.h2d, ends.d2h), 1.7);
}

TEST(PipelineBound, HasTheTimeInWhichNothingMoves) {
  StageCosts c;
  c.h2d = {2, 1, 0.8};
  c.d2h = {2.5, 1, 0.8};
  EXPECT_DOUBLE_EQ(lower_bound(c, 4), 2 + 5) << "the shorter overhead, and both payloads at 0.8";
  EXPECT_DOUBLE_EQ(lower_bound(c, 0), 2.5) << "an overhead";
  c.copy_engines = 1;
  EXPECT_DOUBLE_EQ(lower_bound(c, 4), 2 + 4 + 2.5 + 4);
}

TEST(PipelineLosses, EachEffectIsChargedWithWhatItAdds) {
  StageCosts c = costs(1, 0.9);
  c.submit_h2d = c.submit_kernel = c.submit_d2h = 1e-6;
  const double limit = lower_bound(c, kPayloadBytes);
  const auto losses = [&](const Arrangement& a) { return explain(c, a, makespan(c, a), limit); };
  const Losses good = losses(in_place(kPayloadBytes, 32, 4));
  EXPECT_NEAR(good.contention, limit - kPayloadBytes * 2e-11 - 3e-6, 2e-6);
  EXPECT_GT(good.fill_drain, 0);
  EXPECT_GT(good.overhead, 0);
  EXPECT_NEAR(good.unexplained, 0, 1e-15);
  const Losses few_slots = losses(in_place(kPayloadBytes, 32, 1));
  EXPECT_GT(few_slots.slots, 0.02) << "nothing overlaps";
  EXPECT_DOUBLE_EQ(few_slots.fill_drain, good.fill_drain);
  EXPECT_DOUBLE_EQ(few_slots.overhead, good.overhead);
  const Losses many = losses(in_place(kPayloadBytes, 10'000, 4));
  EXPECT_GT(many.submission + many.overhead, 10'000 * 2e-6);
  EXPECT_LT(many.fill_drain, good.fill_drain);
  const Losses slow = explain(c, in_place(kPayloadBytes, 32, 4), 0.1, limit);
  EXPECT_GT(slow.unexplained, 0.07);
}

TEST(PipelineLosses, MayBeNoneOfContentionAndLessThanNothingUnexplained) {
  const auto losses = [](const StageCosts& c, double measured) {
    return explain(c, in_place(kPayloadBytes, 32, 4), measured, lower_bound(c, kPayloadBytes));
  };
  EXPECT_DOUBLE_EQ(losses(costs(3, 0.8), 0.1).contention, 0) << "the kernel sets the limit";
  const Losses fast = losses(costs(1, 0.9), 0.02);
  EXPECT_LT(fast.unexplained, 0) << "faster than the model";
  EXPECT_DOUBLE_EQ(sum(fast), 0.02);
}

}  // namespace
}  // namespace xferbench::model
