// The model that guides `tune smem`, with costs of an H200: it ranks configurations, and never predicts less than the
// bound.
#include "scenarios/smem/model.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "core/units.hpp"

namespace xferbench {
namespace {

using kernels::SmemMethod;
using kernels::SmemSchedule;
using kernels::SmemShape;

constexpr SmemCosts kBalanced{.memory = 250e-6, .compute = 255e-6, .latency = 1.2e-6, .multiprocessors = 132};
constexpr SmemCosts kCopy{.memory = 250e-6, .compute = 0, .latency = 1.2e-6, .multiprocessors = 132};

/// 512 MiB in tiles of 16 KiB, three stages, 256 threads; blocks take tiles dynamically from a counter.
SmemShape shape(
    SmemMethod method, const std::function<void(SmemShape&)>& change = [](SmemShape&) {}) {
  SmemShape s{.method = method, .schedule = SmemSchedule::dynamic, .tile_bytes = 16384, .threads = 256, .stages = 3};
  s.set_array(512 * MiB);
  change(s);
  return s;
}

double predicted(const SmemCosts& costs, SmemMethod method, const std::function<void(SmemShape&)>& change,
                 unsigned blocks) {
  return predict_smem(costs, shape(method, change), blocks);
}

TEST(SmemModel, NothingIsFasterThanMemoryOrArithmetic) {
  for (const unsigned blocks : {1U, 2U, 4U, 8U}) {
    for (const unsigned threads : {64U, 128U, 256U}) {
      const auto with = [threads](SmemShape& s) { s.threads = threads; };
      const double time = predicted(kBalanced, SmemMethod::tma_specialized, with, blocks);
      EXPECT_GE(time, kBalanced.memory);
      EXPECT_GE(time, kBalanced.compute);
      EXPECT_LT(time, 10 * kBalanced.compute);
    }
  }
}

TEST(SmemModel, AFedLoopTakesAsLongAsACopy) {
  EXPECT_NEAR(predict_smem(kCopy, shape(SmemMethod::tma_specialized), 4), kCopy.memory, 1e-9);
}

TEST(SmemModel, StagesHelpWhereTooLittleIsInFlight) {
  const auto stages = [](unsigned n) {
    return predicted(
        kCopy, SmemMethod::tma_specialized,
        [n](SmemShape& s) {
          s.stages = n;
          s.tile_bytes = 4096;
          s.threads = 64;
          s.schedule = SmemSchedule::persistent;
        },
        1);
  };
  // By Little's law: 132 x 4 KiB per 1.2 us. More stages cannot beat the time of one loop iteration.
  EXPECT_NEAR(stages(1), 512.0 * MiB / (132 * 4096 / 1.2e-6), 1e-6);
  EXPECT_LT(stages(2), stages(1));
  EXPECT_GE(stages(2), stages(8));
}

TEST(SmemModel, FewThreadsAndFewVectorsSlowArithmetic) {
  const auto with = [](unsigned threads, unsigned tile) {
    return predicted(
        kBalanced, SmemMethod::tma_specialized,
        [=](SmemShape& s) {
          s.threads = threads;
          s.tile_bytes = tile;
        },
        2);
  };
  EXPECT_GT(with(64, 4096), with(256, 16384)) << "fewer threads with as many vectors";
  EXPECT_GT(with(256, 4096), with(256, 16384)) << "one vector instead of four";
}

TEST(SmemModel, TheCounterServesATileAtATime) {
  const auto small = [](SmemSchedule schedule) {
    return predicted(
        kCopy, SmemMethod::tma_specialized,
        [schedule](SmemShape& s) {
          s.schedule = schedule;
          s.tile_bytes = 1024;
          s.threads = 64;
        },
        8);
  };
  EXPECT_GT(small(SmemSchedule::dynamic), 512.0 * MiB / 1024 * 2e-9);
  EXPECT_LT(small(SmemSchedule::persistent), small(SmemSchedule::dynamic));
}

TEST(SmemModel, ABarrierForEachTileCosts) {
  const auto tiles_of_2k = [](SmemShape& s) {
    s.tile_bytes = 2048;
    s.threads = 64;
    s.schedule = SmemSchedule::persistent;
  };
  EXPECT_GT(predicted(kBalanced, SmemMethod::tma, tiles_of_2k, 8),
            predicted(kBalanced, SmemMethod::tma_specialized, tiles_of_2k, 8));
}

}  // namespace
}  // namespace xferbench
