// Soaks on a real GPU: each load moves its data close to the rate of a plain copy, and a single wrong byte is found.
#include <vector>

#include "device/intercepted.hpp"
#include "gpu/gpu_fixture.hpp"
#include "run/watchdog.hpp"
#include "soak/stage.hpp"

namespace xferbench::test {

namespace {

SoakSettings soak_of(std::uint64_t size) {
  SoakSettings settings;
  settings.size = size;
  settings.loads = {SoakLoad::h2d, SoakLoad::d2h, SoakLoad::both, SoakLoad::d2d, SoakLoad::kernel};
  return settings;
}

std::vector<soak::GpuTurn> soaked(soak::Stage& stage, SoakLoad load, double seconds) {
  std::vector<soak::GpuTurn> turns;
  stage.run(load, seconds, turns);
  return turns;
}

/// Begins a round, which writes new source words; they must arrive unchanged.
void begin_well(soak::Stage& stage, std::uint64_t round) {
  std::vector<soak::GpuTurn> turns;
  stage.begin_round(round, turns);
  for (const soak::GpuTurn& turn : turns) EXPECT_TRUE(turn.wrong.empty());
}

class GpuSoak : public GpuTest {};

TEST_F(GpuSoak, EveryLoadBringsWhatItShouldSmallForSanitizers) {
  const SoakSettings settings = soak_of(std::uint64_t{1} << 20);
  soak::Stage stage(machine(), settings);
  for (std::uint64_t round = 0; round < kernels::kSoakPatternNames.size(); ++round) {
    begin_well(stage, round);
    for (const SoakLoad load : settings.loads) {
      for (const soak::GpuTurn& turn : soaked(stage, load, 0.001)) {
        EXPECT_TRUE(turn.wrong.empty()) << to_text(load);
        EXPECT_EQ(turn.verified, turn.moved) << to_text(load);
      }
    }
  }
}

TEST_F(GpuSoak, EveryByteThatMovesIsVerified) {
  const SoakSettings settings = soak_of(std::uint64_t{64} << 20);
  soak::Stage stage(machine(), settings);
  begin_well(stage, 0);
  for (const SoakLoad load : settings.loads) {
    const soak::GpuTurn turn = soaked(stage, load, 0.2).front();
    EXPECT_TRUE(turn.wrong.empty()) << to_text(load);
    EXPECT_EQ(turn.verified, turn.moved) << to_text(load);
    EXPECT_GT(static_cast<double>(turn.moved) / turn.seconds, 1e9) << to_text(load);
  }
}

/// The wrong data found in two turns of this load, in which a kernel flips one bit of the n-th copy on the GPU.
std::vector<SoakWrong> wrong_after(std::uint64_t nth, SoakLoad load) {
  Watchdog watchdog;
  const InjectedFault flip{InjectedFault::Effect::flip, CallKind::copy, nth};
  const auto machine = intercept(with_fault(open_gpus({}), flip, "the test"), watchdog.observer());
  soak::Stage stage(*machine, soak_of(std::uint64_t{64} << 20));
  std::vector<soak::GpuTurn> turns;
  stage.begin_round(0, turns);
  std::vector<SoakWrong> all = turns.front().wrong;
  for (int turn = 0; turn < 2; ++turn) {
    for (const soak::GpuTurn& t : soaked(stage, load, 0.05)) all.insert(all.end(), t.wrong.begin(), t.wrong.end());
  }
  return all;
}

TEST_F(GpuSoak, FindsTheOneWrongBitWithItsPlace) {
  for (const SoakLoad load : {SoakLoad::h2d, SoakLoad::d2h, SoakLoad::both, SoakLoad::d2d}) {
    const auto wrong = wrong_after(6, load);
    ASSERT_EQ(wrong.size(), 1U) << to_text(load);
    EXPECT_EQ(wrong[0].bytes, 1U);
    EXPECT_EQ(wrong[0].bits, 1U);
    if (load != SoakLoad::both) {
      EXPECT_EQ(wrong[0].memory == "host", load == SoakLoad::d2h);
    }
    EXPECT_NE(wrong[0].found, wrong[0].expected);
    EXPECT_GT(wrong[0].address, 0U);
  }
}

TEST_F(GpuSoak, KnowsItsClocks) {
  const Clocks clocks = device().clocks();
  ASSERT_TRUE(clocks.sm && clocks.memory);
  EXPECT_GT(*clocks.sm, 1e8);
  EXPECT_GT(*clocks.memory, 1e8);
}

}  // namespace

}  // namespace xferbench::test
