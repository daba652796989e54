// Tile kernels on a real GPU: every method, on shapes that no tile divides, checked to the byte; and scenario smem.
#include <functional>
#include <string>
#include <vector>

#include "gpu/gpu_fixture.hpp"
#include "kernels/smem/smem.hpp"
#include "run/tuner.hpp"
#include "scenarios/smem/case.hpp"
#include "scenarios/smem/data.hpp"
#include "scenarios/smem/launch.hpp"
#include "scenarios/smem/rules.hpp"

namespace xferbench::test {

namespace {

using kernels::Smem;
using kernels::SmemMethod;
using kernels::SmemOp;
using kernels::SmemPart;
using kernels::SmemSchedule;
using kernels::SmemShape;
using kernels::SmemStore;
using kernels::SmemType;

constexpr std::uint64_t kSeed = 17;

template <class Enumeration, std::size_t n>
std::string_view name_of(Enumeration value, const std::array<std::string_view, n>& names) {
  return names[static_cast<std::size_t>(value)];
}

std::string describe(const SmemShape& s) {
  std::string text;
  for (const std::string_view word :
       {name_of(s.method, kernels::kSmemMethodNames), name_of(s.op, kernels::kSmemOpNames),
        name_of(s.type, kernels::kSmemTypeNames), name_of(s.schedule, kernels::kSmemScheduleNames),
        name_of(s.store, kernels::kSmemStoreNames)}) {
    text += std::string(word) + " ";
  }
  const auto add = [&text](const char* what, std::uint64_t value) {
    text += std::string(what) + "=" + std::to_string(value) + " ";
  };
  add("part", static_cast<std::uint64_t>(s.part)), add("rows", s.rows), add("row", s.row_bytes);
  add("last", s.last_row_bytes), add("pitch", s.pitch), add("tile", s.tile_bytes), add("width", s.tile_width);
  add("threads", s.threads), add("stages", s.stages), add("blocks", s.blocks), add("copy-bytes", s.copy_bytes);
  add("swizzle", s.swizzle), add("nan", s.fill_nan ? 1 : 0), add("intensity", s.intensity);
  return text;
}

SmemShape matrix(SmemShape s, std::uint64_t rows, std::uint64_t columns) {
  s.set_matrix(rows, columns * kernels::bytes_of(s.type));
  return s;
}

SmemShape array(SmemShape s, std::uint64_t elements) {
  s.set_array(elements * kernels::bytes_of(s.type));
  return s;
}

/// The shape with each way of storing.
std::vector<SmemShape> both_stores(const SmemShape& payload) {
  std::vector<SmemShape> both(2, payload);
  both.back().store = SmemStore::async;
  return both;
}

/// Payloads that no tile divides: odd sides, one row, one column, less than a tile, one element, and rows that end
/// within the last vector of a tile as wide as the row pitch.
std::vector<SmemShape> payloads(const SmemShape& s, std::uint64_t rows) {
  return {matrix(s, rows, 1003), matrix(s, 1, 1003),  matrix(s, 67, 1), matrix(s, 67, 127), matrix(s, 67, 255),
          array(s, 100'003),     array(s, 32 * 4096), array(s, 301),    array(s, 1)};
}

class SmemKernelTest : public GpuTest {
 protected:
  /// Launches each shape twice and checks both results; all shapes have the same payload. Returns the number of legal
  /// shapes.
  int expect_right(const std::vector<SmemShape>& shapes) {
    SmemSizes sizes;
    for (const SmemShape& s : shapes) sizes.include(s);
    SmemData data(device(), sizes, kSeed);
    data.prepare(shapes.front());
    const Stream stream = device().make_stream(StreamKind::nonblocking);
    int legal = 0;
    for (const SmemShape& s : shapes) {
      if (broken_rule(s, device().capabilities().multiprocessor)) continue;
      ++legal;
      // A small grid, so that each block works on several tiles.
      SmemShape placed = place(device(), s, data.args(), {}).shape;
      if (placed.blocks > 3) placed.blocks = s.stages % 2 == 0 ? 3 : placed.blocks;
      for (const char* launch : {"first launch", "second launch"}) {
        data.poison();
        stream.launch(Smem(placed, data.args()));
        stream.synchronize();
        try {
          data.check(placed, launch);
        } catch (const VerificationError& error) {
          ADD_FAILURE() << describe(placed) << error.what();
        }
      }
    }
    return legal;
  }

  /// Checks all variants for each payload of `base`; the largest has `rows` rows of 1003 elements. Returns the number
  /// of legal shapes.
  int expect_right(const SmemShape& base, const std::function<std::vector<SmemShape>(const SmemShape&)>& variants,
                   std::uint64_t rows = 1000) {
    int legal = 0;
    for (const SmemShape& payload : payloads(base, rows)) legal += expect_right(variants(payload));
    return legal;
  }
};

class SmemMethodTest : public SmemKernelTest, public testing::WithParamInterface<SmemMethod> {
 protected:
  [[nodiscard]] static SmemShape base(SmemOp op, SmemType type) {
    return {.method = GetParam(), .op = op, .type = type, .threads = 128};
  }
  void SetUp() override {
    SmemKernelTest::SetUp();
    if (IsSkipped()) return;
    const SmemShape plainest = array(base(SmemOp::copy, SmemType::f32), 4096);
    if (auto broken = broken_rule(plainest, device().capabilities().multiprocessor)) GTEST_SKIP() << *broken;
  }
};

std::vector<SmemShape> arrangements(const SmemShape& payload) {
  std::vector<SmemShape> all;
  for (const SmemSchedule schedule : {SmemSchedule::one_tile, SmemSchedule::persistent, SmemSchedule::dynamic}) {
    for (const unsigned stages : {1U, 2U, 3U, 5U, 8U}) {
      for (const SmemStore store : {SmemStore::registers, SmemStore::async}) {
        for (const std::uint32_t intensity : {0U, 3U}) {
          SmemShape s = payload;
          s.schedule = schedule;
          s.stages = stages;
          s.store = store;
          s.intensity = intensity;
          all.push_back(s);
        }
      }
    }
  }
  return all;
}

TEST_P(SmemMethodTest, EveryArrangementOfEveryOperationOnOddShapes) {
  for (const SmemOp op : {SmemOp::copy, SmemOp::read, SmemOp::scale}) {
    for (const SmemType type : {SmemType::f32, SmemType::f16}) {
      EXPECT_GT(expect_right(base(op, type), arrangements, 100), 0);  // fewer rows, as there are many arrangements
    }
  }
}

TEST_P(SmemMethodTest, EveryTileAndBlock) {
  const auto variants = [](const SmemShape& payload) {
    std::vector<SmemShape> all;
    for (const unsigned threads : {32U, 64U, 256U, 512U}) {
      for (const unsigned tile : {512U, 2048U, 8192U, 32768U}) {
        for (const unsigned stages : {1U, 3U}) {
          SmemShape s = payload;
          s.threads = threads;
          s.tile_bytes = tile;
          s.stages = stages;
          s.schedule = SmemSchedule::dynamic;
          all.push_back(s);
        }
      }
    }
    return all;
  };
  for (const SmemOp op : {SmemOp::copy, SmemOp::read}) {
    EXPECT_GT(expect_right(base(op, SmemType::f32), variants), 0);
  }
}

TEST_P(SmemMethodTest, EveryWidthOfATile) {
  for (const unsigned width : {16U, 32U, 64U, 128U, 256U, 512U}) {
    SmemShape s = base(SmemOp::scale, SmemType::f16);
    s.tile_width = width;
    s.tile_bytes = 2048;
    s.schedule = SmemSchedule::dynamic;
    EXPECT_GT(expect_right(s, both_stores), 0);
  }
}

TEST_P(SmemMethodTest, ThePartWithoutArithmeticCopies) {
  for (const SmemOp op : {SmemOp::copy, SmemOp::read, SmemOp::scale}) {
    SmemShape s = base(op, SmemType::f32);
    s.part = SmemPart::memory;
    s.intensity = 5;
    s.schedule = SmemSchedule::dynamic;
    EXPECT_GT(expect_right(s, both_stores), 0);
  }
}

TEST_P(SmemMethodTest, TheMostArithmeticIsExact) {
  for (const SmemType type : {SmemType::f32, SmemType::f16}) {
    SmemShape s = array(base(SmemOp::scale, type), 4099);
    s.intensity = kernels::max_intensity(type);
    EXPECT_EQ(expect_right({s}), 1);
  }
}

/// Small enough for compute-sanitizer, see CONTRIBUTING.md.
TEST_P(SmemMethodTest, SmallForSanitizers) {
  const auto few = [](const SmemShape& payload) {
    std::vector<SmemShape> all = arrangements(payload);
    std::erase_if(all, [](const SmemShape& s) { return s.stages > 3; });
    return all;
  };
  for (const SmemOp op : {SmemOp::copy, SmemOp::read, SmemOp::scale}) {
    SmemShape s = base(op, SmemType::f32);
    s.threads = 64;
    s.tile_bytes = 1024;
    EXPECT_GT(expect_right(few(matrix(s, 37, 103))), 0);
    EXPECT_GT(expect_right(few(array(s, 5003))), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, SmemMethodTest,
                         testing::Values(SmemMethod::direct, SmemMethod::sync, SmemMethod::prefetch,
                                         SmemMethod::cp_async, SmemMethod::pipeline, SmemMethod::cg, SmemMethod::bulk,
                                         SmemMethod::tma, SmemMethod::tma_specialized),
                         [](const auto& method) {
                           std::string name(name_of(method.param, kernels::kSmemMethodNames));
                           std::erase(name, '-');
                           return name;
                         });

TEST_F(SmemKernelTest, CpAsyncByFourEightAndSixteenBytes) {
  for (const SmemType type : {SmemType::f32, SmemType::f16}) {
    SmemShape base;
    base.method = SmemMethod::cp_async;
    base.type = type;
    base.schedule = SmemSchedule::persistent;
    const int legal = expect_right(base, [](const SmemShape& payload) {
      std::vector<SmemShape> all;
      for (const unsigned bytes : {4U, 8U, 16U}) {
        for (const unsigned stages : {1U, 2U, 4U}) {
          all.push_back(payload);
          all.back().copy_bytes = bytes;
          all.back().stages = stages;
        }
      }
      return all;
    });
    if (device().capabilities().multiprocessor.compute_capability >= 80) {
      EXPECT_GT(legal, 0);
    }
  }
}

TEST_F(SmemKernelTest, TensorCopiesWithEverySwizzleAndFill) {
  for (const SmemMethod method : {SmemMethod::tma, SmemMethod::tma_specialized}) {
    for (const SmemOp op : {SmemOp::copy, SmemOp::read}) {
      for (const unsigned span : {0U, 32U, 64U, 128U}) {
        SmemShape base;
        base.method = method;
        base.op = op;
        base.swizzle = span;
        base.tile_width = span == 0 ? 512 : span;
        base.schedule = SmemSchedule::dynamic;
        const int legal = expect_right(base, [](const SmemShape& payload) {
          std::vector<SmemShape> all;
          for (const SmemStore store : {SmemStore::registers, SmemStore::async}) {
            for (const bool nan : {false, true}) {
              all.push_back(payload);
              all.back().store = store;
              all.back().fill_nan = nan;
              all.back().stages = 3;
            }
          }
          return all;
        });
        if (device().capabilities().multiprocessor.compute_capability >= 90) {
          EXPECT_GT(legal, 0);
        }
      }
    }
  }
}

TEST_F(SmemKernelTest, TellsWhatItTakes) {
  SmemShape s;
  s.method = SmemMethod::sync;
  s = array(s, 4096);
  SmemSizes sizes;
  sizes.include(s);
  const SmemData data(device(), sizes, kSeed);
  const PlacedSmem placed = place(device(), s, data.args(), {});
  ASSERT_TRUE(placed.resources);
  EXPECT_GT(placed.resources->registers, 0U);
  EXPECT_GE(placed.resources->shared_bytes, s.shared_bytes());
  EXPECT_LE(placed.resources->blocks_per_multiprocessor, most_blocks(s, device().capabilities().multiprocessor));
  EXPECT_EQ(placed.resources->local_bytes, 0U) << "nothing is spilled";
  EXPECT_TRUE(place(device(), s, data.args(), 33).skip_reason);
}

// --- Scenario smem ---------------------------------------------------------------------------------------------------

class SmemScenarioTest : public GpuTest {};

TEST_F(SmemScenarioTest, EveryMethodAndOperation) {
  run_ok("smem --size 8M --op all --dtype all --stages 1,3 --schedule all", true);
}

TEST_F(SmemScenarioTest, MatricesWithOddSides) { run_ok("smem --access strided --columns 1003 --size 4012000", true); }

TEST_F(SmemScenarioTest, ArithmeticIsMeasuredByItselfToo) {
  for (const Result& r : run("smem --size 8M --intensity 16 --method cp-async --schedule dynamic")) {
    ASSERT_EQ(r.status, Status::ok) << r.reason;
    for (const char* name : {"smem", "d2d", "sync", "memory", "compute"}) EXPECT_NE(r.measurement(name), nullptr);
    EXPECT_GT(r.metric("overlap_efficiency")->value, 0);
  }
}

TEST_F(SmemScenarioTest, DataThatStaysInTheCacheIsReadFaster) {
  const auto bandwidth = [&](const std::string& l2) {
    return run("smem --size 4M --method direct --schedule one-tile-per-block --l2 " + l2).front().value("bandwidth");
  };
  EXPECT_GT(bandwidth("resident"), bandwidth("cold"));
}

TEST_F(SmemScenarioTest, CanBeTuned) {
  const auto cases = test::cases_of_line("tune smem --size 8M --method direct,cp-async --tile 4K --intensity 8");
  RunContext bench = quick_bench();
  bench.policy.budget = 0.5;
  const std::vector<Case> space = feasible(cases, machine(), true, {});
  const TuneObserver observer{.progress = [](const TuneProgress&) {}, .measured = [](const auto&) {}};
  const Tuned tuned = tune(
      *cases.front().scenario, space, bench, [](const Case& c) { return c.key(); }, observer);
  ASSERT_FALSE(tuned.results.empty());
  for (const Result& r : tuned.results) {
    EXPECT_EQ(r.status, Status::ok) << r.config.key() << ": " << r.reason;
    EXPECT_NE(r.metric("vs_d2d"), nullptr);
  }
}

TEST_F(SmemScenarioTest, MoreBlocksThanFitAreSkippedWithTheReason) {
  const Result r =
      run("smem --size 8M --method sync --schedule dynamic --stages 1 --tile 32K --blocks-per-sm 32").front();
  EXPECT_EQ(r.status, Status::skipped);
  EXPECT_NE(r.reason.find("does not fit at once"), std::string::npos) << r.reason;
}

}  // namespace

}  // namespace xferbench::test
