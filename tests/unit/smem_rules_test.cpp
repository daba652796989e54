// Rules for tile kernels (scenario smem), each with its message, and cases as kernel shapes. No GPU is needed.
#include "scenarios/smem/rules.hpp"

#include <functional>

#include "core/error.hpp"
#include "core/units.hpp"
#include "parsing.hpp"
#include "scenarios/smem/case.hpp"
#include "unit/support.hpp"

namespace xferbench {
namespace {

using kernels::SmemMethod;
using kernels::SmemOp;
using kernels::SmemSchedule;
using kernels::SmemShape;
using kernels::SmemStore;
using kernels::SmemType;
using test::mentions;

constexpr Multiprocessor kH200{.compute_capability = 90,
                               .shared_per_block = 227 * KiB,
                               .shared_in_all = 228 * KiB,
                               .shared_reserved = KiB,
                               .threads = 2048};

/// 1 MiB, contiguous, in tiles of 4 KiB.
SmemShape array(SmemMethod method) {
  SmemShape s{.method = method, .schedule = SmemSchedule::dynamic, .threads = 128};
  s.set_array(MiB);
  return s;
}

/// 1000 rows of 1003 float elements.
SmemShape matrix(SmemMethod method) {
  SmemShape s = array(method);
  s.set_matrix(1000, 4012);
  return s;
}

SmemShape changed(SmemShape s, const std::function<void(SmemShape&)>& change) {
  change(s);
  return s;
}

std::vector<SmemMethod> all_methods() {
  std::vector<SmemMethod> all;
  for (std::size_t i = 0; i < kernels::kSmemMethodNames.size(); ++i) all.push_back(static_cast<SmemMethod>(i));
  return all;
}

TEST(SmemRules, OrdinaryShapesBreakNone) {
  for (const SmemMethod method : all_methods()) {
    for (const SmemShape& s : {array(method), matrix(method)}) {
      EXPECT_EQ(broken_rule(s, kH200), std::nullopt) << static_cast<int>(method);
      EXPECT_EQ(broken_rule(changed(s, [](auto& x) { x.type = SmemType::f16; }), kH200), std::nullopt);
      EXPECT_EQ(broken_rule(changed(s, [](auto& x) { x.schedule = SmemSchedule::one_tile; }), kH200), std::nullopt);
    }
  }
  for (const SmemMethod method : {SmemMethod::cp_async, SmemMethod::pipeline, SmemMethod::bulk, SmemMethod::tma}) {
    EXPECT_EQ(broken_rule(changed(matrix(method), [](auto& x) { x.stages = 8; }), kH200), std::nullopt);
  }
  for (const unsigned span : {32U, 64U, 128U}) {
    const auto swizzled = changed(array(SmemMethod::tma), [span](auto& x) {
      x.swizzle = x.tile_width = span;
      x.set_array(MiB);
    });
    EXPECT_EQ(broken_rule(swizzled, kH200), std::nullopt) << span;
  }
}

struct Breach {
  const char* rule;
  SmemShape shape;
  const char* says;
};

std::vector<Breach> breaches() {
  using S = SmemShape&;
  using M = SmemMethod;
  const auto with = [](M method, const std::function<void(S)>& change) { return changed(array(method), change); };
  return {
      {"whole warps", with(M::sync, [](S s) { s.threads = 100; }), "--threads 100"},
      {"no thread", with(M::sync, [](S s) { s.threads = 0; }), "--threads 0"},
      {"too many threads", with(M::sync, [](S s) { s.threads = 544; }), "from 32 to 512"},
      {"vectors for every thread", with(M::direct, [](S s) { s.threads = 96; }), "multiple of 1536 B"},
      {"an empty tile", with(M::direct, [](S s) { s.tile_bytes = 0; }), "--tile 0B"},
      {"width a power of two", with(M::sync, [](S s) { s.tile_width = 48; }), "--tile-width 48"},
      {"width of a vector at least", with(M::sync, [](S s) { s.tile_width = 8; }), "from 16"},
      {"width of a box at most", with(M::tma, [](S s) { s.tile_width = 1024; }), "to 512"},
      {"rows of a box", with(M::tma, [](S s) { s.tile_width = 16, s.tile_bytes = 8192; }), "at most 256 rows"},
      {"nine stages", with(M::tma, [](S s) { s.stages = 9; }), "--stages 9"},
      {"no stage", with(M::tma, [](S s) { s.stages = 0; }), "--stages 0"},
      {"stages of direct", with(M::direct, [](S s) { s.stages = 2; }), "direct has no second tile"},
      {"stages of sync", with(M::sync, [](S s) { s.stages = 2; }), "sync has no second tile"},
      {"stages of prefetch", with(M::prefetch, [](S s) { s.stages = 2; }), "prefetch has no second tile"},
      {"stages of a block with one tile", with(M::tma, [](S s) { s.stages = 2, s.schedule = SmemSchedule::one_tile; }),
       "a second stage has no use"},
      {"registers of prefetch", with(M::prefetch, [](S s) { s.tile_bytes = 16384; }), "holds the next tile"},
      {"three vectors of prefetch", with(M::prefetch, [](S s) { s.tile_bytes = 6144; }), "choose --tile 2KiB, 4KiB or"},
      {"long rows",
       changed(matrix(M::sync),
               [](S s) { s.rows = 1, s.pitch = s.row_bytes = s.last_row_bytes = std::uint64_t{1} << 31; }),
       "exceed the maximum of 2^31 - 1"},
      {"bytes of cp.async", with(M::cp_async, [](S s) { s.copy_bytes = 2; }), "4, 8 or 16"},
      {"rows 16 bytes apart", changed(matrix(M::sync), [](S s) { s.pitch = 4012; }), "multiple of 16"},
      {"commits of cg", changed(matrix(M::cg), [](S s) { s.stages = 6; }), "(stages - 2) x 8 rows are 32"},
      {"who swizzles", with(M::bulk, [](S s) { s.swizzle = 128; }), "bulk cannot swizzle"},
      {"spans of a swizzle", with(M::tma, [](S s) { s.swizzle = 16; }), "no swizzle of 16"},
      {"box of a swizzle", with(M::tma, [](S s) { s.swizzle = 128; }), "needs --tile-width 128"},
      {"pattern of a swizzle",
       with(M::tma, [](S s) { s.swizzle = s.tile_width = 128, s.threads = 96, s.tile_bytes = 1536; }),
       "repeats every 1024 B"},
      {"who stores by himself", with(M::cg, [](S s) { s.store = SmemStore::async; }), "cg stores from registers"},
      {"what is stored", with(M::bulk, [](S s) { s.store = SmemStore::async, s.op = SmemOp::read; }), "--op read"},
      {"who fills", with(M::bulk, [](S s) { s.fill_nan = true; }), "never reads outside of the matrix"},
      {"exact f32", with(M::sync, [](S s) { s.intensity = (1U << 20) + 1; }), "f32 results are exact"},
      {"exact f16", with(M::sync, [](S s) { s.type = SmemType::f16, s.intensity = 513; }), "f16 results are exact"},
      {"number of tiles", with(M::sync, [](S s) { s.rows = std::uint64_t{1} << 34; }),
       "exceed the maximum of 2^31 - 1"},
      {"less than a vector",
       changed(matrix(M::tma), [](S s) { s.row_bytes = s.last_row_bytes = 12, s.store = SmemStore::async; }),
       "rows have only 12 B"},
      {"less than a box", with(M::tma, [](S s) { s.rows = 1, s.last_row_bytes = 100; }), "less than one row"},
  };
}

TEST(SmemRules, EachIsSaidInOneSentence) {
  for (const Breach& b : breaches()) {
    const auto broken = broken_rule(b.shape, kH200);
    ASSERT_TRUE(broken) << b.rule;
    EXPECT_TRUE(mentions(*broken, b.says)) << b.rule << ": " << *broken;
    EXPECT_EQ(broken->find('\n'), std::string::npos) << b.rule;
    EXPECT_EQ(broken, broken_rule(b.shape)) << b.rule << " holds on every GPU";
  }
}

TEST(SmemRules, JustWithinEachOfThemIsLegal) {
  using M = SmemMethod;
  const std::vector<SmemShape> legal{
      changed(array(M::prefetch), [](auto& s) { s.tile_bytes = 8192; }),
      changed(array(M::tma), [](auto& s) { s.pitch = s.row_bytes = s.last_row_bytes = s.tile_width = 16; }),
      changed(matrix(M::cg), [](auto& s) { s.stages = 4; }),
      changed(array(M::cg), [](auto& s) { s.stages = 8; }),
      changed(array(M::sync), [](auto& s) { s.intensity = 1U << 20; }),
      changed(array(M::sync), [](auto& s) { s.type = SmemType::f16, s.intensity = 512; }),
      changed(array(M::tma), [](auto& s) { s.rows = 2, s.last_row_bytes = 4; }),
      changed(array(M::sync), [](auto& s) { s.rows = 1, s.last_row_bytes = 4; }),
      changed(array(M::tma_specialized), [](auto& s) { s.threads = 512, s.tile_bytes = 8192; }),
  };
  for (const SmemShape& s : legal) EXPECT_EQ(broken_rule(s, kH200), std::nullopt) << static_cast<int>(s.method);
}

TEST(SmemRules, OlderGpusLackInstructions) {
  const auto on = [](unsigned capability, SmemMethod method) {
    Multiprocessor mp = kH200;
    mp.compute_capability = capability;
    return broken_rule(array(method), mp).value_or("");
  };
  for (const SmemMethod method : all_methods()) {
    const bool bulk = method >= SmemMethod::bulk;
    EXPECT_EQ(on(bulk ? 90 : 80, method), "");
    EXPECT_TRUE(mentions(on(bulk ? 89 : 75, method), bulk ? "needs compute capability 9.0, this GPU has 8.9"
                                                          : "needs compute capability 8.0, this GPU has 7.5"));
  }
}

TEST(SmemRules, SharedMemoryOfABlockIsLimited) {
  const auto stages_of_32k = [](unsigned stages) {
    return changed(array(SmemMethod::tma), [stages](auto& s) { s.tile_bytes = 32768, s.stages = stages; });
  };
  EXPECT_EQ(broken_rule(stages_of_32k(7), kH200), std::nullopt);
  EXPECT_EQ(broken_rule(stages_of_32k(8)), std::nullopt) << "a rule of the GPU";
  EXPECT_TRUE(mentions(broken_rule(stages_of_32k(8), kH200).value_or(""), "257 KiB of shared memory"));
}

TEST(SmemRules, BlocksThatFitAreLimitedByThreadsAndSharedMemory) {
  const auto blocks = [](SmemMethod method, const std::function<void(SmemShape&)>& change) {
    return most_blocks(changed(array(method), change), kH200);
  };
  EXPECT_EQ(blocks(SmemMethod::direct, [](SmemShape&) {}), 16U) << "2048 threads";
  EXPECT_EQ(blocks(SmemMethod::direct, [](SmemShape& s) { s.threads = 32; }), 32U) << "never more";
  EXPECT_EQ(blocks(SmemMethod::sync, [](SmemShape& s) { s.tile_bytes = 32768; }), 6U) << "33 KiB each of 228 KiB";
  EXPECT_EQ(blocks(SmemMethod::tma_specialized, [](SmemShape& s) { s.store = SmemStore::async; }), 10U)
      << "192 threads each";
}

// --- Parsing of cases ------------------------------------------------------------------------------------------------

std::vector<SmemCase> cases(const std::string& flags) {
  std::vector<SmemCase> all;
  for (const PlannedCase& planned : test::cases_of_line("smem " + flags)) all.push_back(smem_case(planned.config));
  return all;
}

SmemShape shape_of(const std::string& flags) { return cases(flags + " --stages 1 --schedule dynamic").front().shape; }

Capabilities h200() {
  Capabilities can;
  can.multiprocessor = kH200;
  can.environment.gpu.l2_bytes = 60 * MiB;
  return can;
}

TEST(SmemCases, DefaultsAreLegalOnAnH200) {
  const Capabilities can = h200();
  const auto all = cases("");
  EXPECT_EQ(all.size(), 46U);
  for (const SmemCase& c : all) EXPECT_FALSE(smem_skip_reason(c, &can)) << static_cast<int>(c.shape.method);
}

TEST(SmemCases, AnArrayIsAMatrixAsWideAsATile) {
  const SmemShape s = shape_of("--method sync --size 1000");
  EXPECT_EQ(s.pitch, 512U);
  EXPECT_EQ(s.rows, 2U);
  EXPECT_EQ(s.last_row_bytes, 488U);
  EXPECT_EQ(s.payload_bytes(), 1000U);
  EXPECT_EQ(shape_of("--method sync --size 4").payload_bytes(), 4U);
  EXPECT_EQ(shape_of("--method tma --swizzle 64").tile_width, 64U);
}

TEST(SmemCases, AMatrixHasWholeRows) {
  const SmemShape s = shape_of("--method sync --access strided --columns 1003 --size 4012000");
  EXPECT_EQ(s.rows, 1000U);
  EXPECT_EQ(s.row_bytes, 4012U);
  EXPECT_EQ(s.pitch, 4016U);
  EXPECT_EQ(s.tiles(), 125U * 8U);
  const auto message = test::message_of<UsageError>([] { cases("--access strided --columns 1003 --size 4012001"); });
  EXPECT_TRUE(mentions(message, "4012000 or 4016012")) << message;
}

TEST(SmemCases, ResultsOfBulkCopiesLeaveByBulkCopiesUnlessAskedOtherwise) {
  EXPECT_EQ(shape_of("--method bulk").store, SmemStore::async);
  for (const char* flags : {"--method bulk --op read", "--method bulk --store registers", "--method cg"}) {
    EXPECT_EQ(shape_of(flags).store, SmemStore::registers) << flags;
  }
}

TEST(SmemCases, WhatABlockHasInFlight) {
  using M = SmemMethod;
  struct InFlight {
    SmemMethod method;
    unsigned stages;
    SmemStore store;
    unsigned tiles;
  };
  for (const InFlight& f : {InFlight{M::sync, 1, SmemStore::registers, 1},
                            {M::cp_async, 1, SmemStore::registers, 1},
                            {M::cp_async, 4, SmemStore::registers, 3},
                            {M::pipeline, 4, SmemStore::registers, 4},
                            {M::bulk, 4, SmemStore::registers, 4},
                            {M::bulk, 4, SmemStore::async, 3},
                            {M::tma_specialized, 4, SmemStore::async, 4}}) {
    const SmemShape s = changed(array(f.method), [&f](auto& x) { x.stages = f.stages, x.store = f.store; });
    EXPECT_EQ(in_flight_per_block(s), 4096.0 * f.tiles) << static_cast<int>(f.method) << " " << f.stages;
  }
  const auto grouped = changed(array(M::direct), [](auto& s) { s.tile_bytes = 32768; });
  EXPECT_EQ(in_flight_per_block(grouped), 64.0 * grouped.threads) << "four vectors of each thread at a time";
  const auto column = changed(matrix(M::sync), [](auto& s) { s.row_bytes = s.last_row_bytes = 16; });
  EXPECT_EQ(in_flight_per_block(column), 4096.0 / 32) << "of each 512 bytes 16 are payload";
}

TEST(SmemCases, ResidentDataFitsHalfTheCache) {
  const Capabilities can = h200();
  const auto all = cases("--l2 resident --size 15M,16M --method sync --tile 4K --schedule dynamic --stages 1");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_FALSE(smem_skip_reason(all[0], &can));
  const auto refused = smem_skip_reason(all[1], &can);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->kind, SkipReason::Kind::unavailable);
  EXPECT_TRUE(mentions(refused->text, "half of the L2 cache"));
}

TEST(SmemCases, MoreBlocksThanFitAreRefused) {
  const Capabilities can = h200();
  const auto c = cases("--method sync --schedule persistent --stages 1 --blocks-per-sm 16,17");
  EXPECT_FALSE(smem_skip_reason(c[0], &can));
  const auto refused = smem_skip_reason(c[1], &can);
  ASSERT_TRUE(refused);
  EXPECT_TRUE(mentions(refused->text, "leave room for 16"));
}

TEST(SmemCases, IllegalOnesAreLeftOutOfProductsAndKeptWhereAskedFor) {
  const auto product = cases("--method sync,cp-async --stages 1,4 --schedule dynamic --tile 4K");
  EXPECT_EQ(product.size(), 3U);
  for (const SmemCase& c : product) EXPECT_FALSE(smem_skip_reason(c, nullptr));

  const auto named = cases("--method sync --stages 4 --schedule dynamic --tile 4K");
  ASSERT_EQ(named.size(), 1U);
  const auto reason = smem_skip_reason(named[0], nullptr);
  ASSERT_TRUE(reason);
  EXPECT_EQ(reason->kind, SkipReason::Kind::meaningless);
  EXPECT_TRUE(mentions(reason->text, "sync has no second tile"));

  const auto beside = cases("--method sync,cp-async --stages 4 --schedule dynamic --tile 4K");
  ASSERT_EQ(beside.size(), 2U) << "sync was asked for, too";
  EXPECT_EQ(beside[0].shape.method, SmemMethod::sync);
}

}  // namespace
}  // namespace xferbench
