// Soaks on the simulated machine: each load moves its data, and a single wrong byte is found anywhere.
#include "soak/stage.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/error.hpp"
#include "device/intercepted.hpp"
#include "device/open.hpp"
#include "run/watchdog.hpp"
#include "soak/host_pattern.hpp"

namespace xferbench::soak {
namespace {

constexpr std::uint64_t kSmall = std::uint64_t{1} << 20;  // small enough to be moved and checked completely
constexpr std::uint64_t kLarge = std::uint64_t{64} << 20;

SoakSettings settings(std::uint64_t size = kSmall) {
  SoakSettings s;
  s.size = size;
  s.loads = {SoakLoad::h2d, SoakLoad::d2h, SoakLoad::both, SoakLoad::d2d, SoakLoad::kernel};
  return s;
}

std::vector<GpuTurn> run(Stage& stage, SoakLoad load, double seconds) {
  std::vector<GpuTurn> turns;
  stage.run(load, seconds, turns);
  return turns;
}

/// Begins a round, which writes new source words; they must arrive unchanged.
void begin_well(Stage& stage, std::uint64_t round) {
  std::vector<GpuTurn> turns;
  stage.begin_round(round, turns);
  for (const GpuTurn& turn : turns) EXPECT_TRUE(turn.wrong.empty());
}

std::vector<GpuTurn> all_turns(Machine& machine, const SoakSettings& s) {
  Stage stage(machine, s);
  std::vector<GpuTurn> all;
  for (std::uint64_t round = 0; round < kernels::kSoakPatternNames.size(); ++round) {
    begin_well(stage, round);
    for (const SoakLoad load : s.loads) {
      for (GpuTurn& turn : run(stage, load, 0.01)) all.push_back(std::move(turn));
    }
  }
  return all;
}

TEST(SoakStage, EveryLoadBringsWhatItShouldInEveryPattern) {
  for (const std::uint64_t size : {kSmall, kLarge}) {
    const auto machine = open_simulated("h200", GpuSelection{});
    for (const GpuTurn& turn : all_turns(*machine, settings(size))) {
      EXPECT_TRUE(turn.wrong.empty()) << to_text(turn.load);
      EXPECT_GT(turn.verified, 0U) << to_text(turn.load);
      EXPECT_GT(turn.seconds, 0) << to_text(turn.load);
    }
  }
}

TEST(SoakStage, RatesAreThoseOfTheProfile) {
  const auto machine = open_simulated("h200", GpuSelection{});
  Stage stage(*machine, settings(std::uint64_t{256} << 20));
  begin_well(stage, 0);
  const GpuTurn in = run(stage, SoakLoad::h2d, 0.1).front();
  const GpuTurn out = run(stage, SoakLoad::d2h, 0.1).front();
  const GpuTurn both = run(stage, SoakLoad::both, 0.1).front();
  const auto rate = [](const GpuTurn& t) { return static_cast<double>(t.moved) / t.seconds; };
  EXPECT_NEAR(rate(in), 55.5e9, 0.5e9);
  EXPECT_NEAR(rate(out), 55.4e9, 0.5e9);
  EXPECT_GT(rate(both), 1.7 * rate(in));
}

TEST(SoakStage, AllGpusCarryTheLoadAtOnceAndEachToTheNext) {
  const auto machine = open_simulated("h200-x2", GpuSelection{.numbers = {}});
  SoakSettings s = settings();
  s.loads.push_back(SoakLoad::p2p);
  const auto turns = all_turns(*machine, s);
  ASSERT_EQ(turns.size(), 2 * s.loads.size() * kernels::kSoakPatternNames.size());
  for (const GpuTurn& turn : turns) {
    EXPECT_TRUE(turn.wrong.empty()) << to_text(turn.load);
    EXPECT_GT(turn.verified, 0U);
  }
  EXPECT_EQ(turns[0].gpu, 0);
  EXPECT_EQ(turns[1].gpu, 1);
}

/// The wrong data found in one round in which the n-th copy flips a bit.
std::vector<SoakWrong> wrong_after(std::uint64_t nth, SoakLoad load, const char* profile = "h200") {
  Watchdog watchdog;
  const InjectedFault flip{InjectedFault::Effect::flip, CallKind::copy, nth};
  const auto machine = intercept(with_fault(open_simulated(profile, GpuSelection{.numbers = {}}), flip, "the test"),
                                 watchdog.observer());
  Stage stage(*machine, settings(kLarge));
  std::vector<GpuTurn> turns;
  stage.begin_round(0, turns);
  std::vector<SoakWrong> all = turns.front().wrong;
  for (int turn = 0; turn < 3; ++turn) {
    for (const GpuTurn& t : run(stage, load, 0.01)) all.insert(all.end(), t.wrong.begin(), t.wrong.end());
  }
  return all;
}

TEST(SoakStage, FindsTheOneWrongBitWithItsPlace) {
  for (const SoakLoad load : {SoakLoad::h2d, SoakLoad::d2h, SoakLoad::both, SoakLoad::d2d}) {
    const auto wrong = wrong_after(6, load);  // the copies before bring the sources and check them
    ASSERT_EQ(wrong.size(), 1U) << to_text(load) << ", then " << wrong.back().memory << " at " << wrong.back().offset
                                << ": " << wrong.back().expected << " is " << wrong.back().found;
    EXPECT_EQ(wrong[0].bytes, 1U);
    EXPECT_EQ(wrong[0].bits, 1U);
    EXPECT_EQ(wrong[0].load, load);
    EXPECT_EQ(wrong[0].offset, wrong[0].last) << "the byte is the first of its word";
    if (load != SoakLoad::both) {
      EXPECT_EQ(wrong[0].memory == "host", load == SoakLoad::d2h) << wrong[0].memory;
    }
    EXPECT_NE(wrong[0].found, wrong[0].expected);
    EXPECT_EQ(wrong[0].pattern.substr(0, 5), "noise");
  }
}

TEST(SoakStage, FindsWhatIsWrongInItsSources) {
  const auto wrong = wrong_after(1, SoakLoad::h2d);
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_EQ(wrong[0].memory, "GPU 0");
}

TEST(SoakStage, RefusesMoreThanAGpuHolds) {
  const auto machine = open_simulated("h200", GpuSelection{});
  EXPECT_THROW(Stage(*machine, settings(std::uint64_t{100} << 30)), UsageError);
}

// --- Patterns of words ----------------------------------------------------------------------------------------------

TEST(SoakWordsTest, InvertedWordsDifferInEveryBit) {
  for (std::uint32_t p = 0; p < kernels::kSoakPatternNames.size(); ++p) {
    const auto pattern = static_cast<kernels::SoakPattern>(p);
    for (std::uint64_t i = 0; i < 1000; ++i) {
      EXPECT_EQ((kernels::SoakWords{pattern, 7, false}.at(i)) ^ (kernels::SoakWords{pattern, 7, true}.at(i)),
                0xFFFFFFFFU);
    }
  }
}

TEST(SoakWordsTest, CheckFindsEverySingleWrongByte) {
  std::vector<std::byte> memory(1 << 16);
  for (std::uint32_t p = 0; p < kernels::kSoakPatternNames.size(); ++p) {
    const kernels::SoakWords words{static_cast<kernels::SoakPattern>(p), 3, p % 2 == 1};
    fill(memory, words, {});
    EXPECT_EQ(check(memory, words, {}).words, 0U);
    for (const std::size_t at : {std::size_t{0}, std::size_t{4097}, memory.size() - 1}) {
      memory[at] ^= std::byte{0x10};
      const kernels::SoakErrors found = check(memory, words, {});
      EXPECT_EQ(found.words, 1U);
      EXPECT_EQ(found.bytes, 1U);
      EXPECT_EQ(found.bits, 1U);
      EXPECT_EQ(found.first(), at / 4);
      EXPECT_EQ(found.last, at / 4);
      memory[at] ^= std::byte{0x10};
    }
  }
}

TEST(SoakWordsTest, CheckCountsAllThatIsWrong) {
  std::vector<std::byte> memory(1 << 22);
  const kernels::SoakWords words{kernels::SoakPattern::noise, 3, false};
  fill(memory, {kernels::SoakPattern::noise, 3, true}, {});
  const kernels::SoakErrors found = check(memory, words, {});
  EXPECT_EQ(found.words, memory.size() / 4);
  EXPECT_EQ(found.bytes, memory.size());
  EXPECT_EQ(found.bits, memory.size() * 8);
  EXPECT_EQ(found.first(), 0U);
  EXPECT_EQ(found.last, memory.size() / 4 - 1);
}

}  // namespace
}  // namespace xferbench::soak
