// Tally, which sums up a soak, on made-up turns (one load on one GPU each).

#include "paper/writers.hpp"
#include "report/soak/soak_report.hpp"
#include "soak/tally.hpp"
#include "unit/support.hpp"
#include "words/soak.hpp"
#include "words/soak_terms.hpp"

namespace xferbench::soak {
namespace {

constexpr double kGigabyte = 1e9;

SoakSettings settings() {
  return {.seconds = 100, .interval = 5, .floor = 0.9, .loads = {SoakLoad::h2d, SoakLoad::d2h}};
}

Moment moment(double elapsed) { return {elapsed, "2026-11-24T12:00:00Z"}; }

/// A turn of one second at `rate` GB/s.
GpuTurn turn(double rate, SoakLoad load = SoakLoad::h2d, int gpu = 0) {
  const auto bytes = static_cast<std::uint64_t>(rate * kGigabyte);
  return {.gpu = gpu, .load = load, .moved = bytes, .verified = bytes, .seconds = 1};
}

GpuState state(const Health& health = {}) { return {.gpu = 0, .health = health}; }

SoakWrong wrong(std::uint64_t bytes) {
  SoakWrong w;
  w.memory = "GPU 0";
  w.expected = "0x00000001";
  w.found = "0x00000000";
  w.pattern = "noise";
  w.bytes = w.bits = bytes;
  return w;
}

GpuTurn turn_with(const SoakWrong& wrong) {
  GpuTurn turn{.gpu = wrong.gpu, .load = wrong.load};
  turn.wrong = {wrong};
  return turn;
}

/// Ten seconds at 50 GB/s in two intervals, which set the baseline of a soak of 100 s.
void settle(Tally& tally) {
  for (int second = 1; second <= 10; ++second) {
    tally.add(turn(50), 1, moment(second));
    if (second % 5 == 0) static_cast<void>(tally.close(moment(second), {state()}));
  }
}

TEST(SoakTally, SumsWhatWasMovedAndVerifiedByGpuAndLoad) {
  Tally tally(settings(), {state()});
  tally.add(turn(50), 1, moment(1));
  tally.add(turn(60, SoakLoad::d2h), 1, moment(2));
  tally.add(turn(70, SoakLoad::h2d, 1), 1, moment(3));
  tally.add(turn(52), 1, moment(4));
  const auto& loads = tally.so_far().loads;
  ASSERT_EQ(loads.size(), 3U);
  EXPECT_EQ(loads[0].moved, 102'000'000'000U);
  EXPECT_EQ(loads[0].verified, 102'000'000'000U);
  EXPECT_DOUBLE_EQ(loads[0].busy, 2);
  EXPECT_EQ(loads[1].load, SoakLoad::d2h);
  EXPECT_EQ(loads[2].gpu, 1);
}

TEST(SoakTally, NamesALoadThatWasNotAskedForOnlyWhereItsNewDataWereWrong) {
  Tally tally(settings(), {state()});
  tally.add({.gpu = 0, .load = SoakLoad::h2d}, 1, moment(1));
  EXPECT_TRUE(tally.so_far().loads.empty());
  EXPECT_DOUBLE_EQ(tally.so_far().elapsed, 1);
  tally.add(turn_with(wrong(4)), 1, moment(2));
  EXPECT_EQ(tally.so_far().loads.size(), 1U);
}

TEST(SoakTally, AnIntervalHasTheRatesOfItsOwnTurns) {
  Tally tally(settings(), {state()});
  for (const double rate : {50.0, 52.0, 51.0}) tally.add(turn(rate), 1, moment(1));
  const SoakInterval first = tally.close(moment(5), {state()});
  ASSERT_EQ(first.gpus.size(), 1U);
  ASSERT_EQ(first.gpus[0].rates.size(), 1U);
  const SoakRate& rate = first.gpus[0].rates[0];
  EXPECT_DOUBLE_EQ(rate.median, 51 * kGigabyte);
  EXPECT_DOUBLE_EQ(rate.lowest, 50 * kGigabyte);
  EXPECT_DOUBLE_EQ(rate.highest, 52 * kGigabyte);
  EXPECT_EQ(rate.turns, 3U);
  EXPECT_TRUE(tally.close(moment(10), {state()}).gpus[0].rates.empty());
}

TEST(SoakTally, HoldsRatesAgainstThoseOfTheFirstMinutes) {
  Tally tally(settings(), {state()});
  tally.add(turn(10), 1, moment(0.5));  // there is no baseline yet
  settle(tally);
  ASSERT_TRUE(tally.so_far().loads[0].baseline);
  EXPECT_DOUBLE_EQ(*tally.so_far().loads[0].baseline, 50 * kGigabyte);
  tally.add(turn(45.5), 1, moment(11));
  EXPECT_EQ(tally.so_far().drop_count, 0U);
  tally.add(turn(44), 1, moment(12));
  EXPECT_EQ(tally.so_far().drop_count, 1U);
  EXPECT_FALSE(is_healthy(tally.so_far()));
}

TEST(SoakTally, TurnsThatAreLowOneAfterAnotherAreOneDrop) {
  Tally tally(settings(), {state()});
  settle(tally);
  for (const double rate : {50.0, 40.0, 30.0, 42.0, 50.0, 20.0}) {
    tally.add(turn(rate), 1, moment(tally.so_far().elapsed + 1));
  }
  const SoakTotals& totals = tally.so_far();
  EXPECT_EQ(totals.drop_count, 2U);
  EXPECT_DOUBLE_EQ(totals.drop_seconds, 4);
  ASSERT_EQ(totals.drops.size(), 2U);
  EXPECT_DOUBLE_EQ(totals.drops[0].from, 11);
  EXPECT_DOUBLE_EQ(totals.drops[0].to, 14);
  EXPECT_DOUBLE_EQ(totals.drops[0].lowest, 30 * kGigabyte);
  EXPECT_DOUBLE_EQ(*totals.loads[0].lowest, 20 * kGigabyte);
}

TEST(SoakTally, DropsTakeAsLongInAllAsTheyAreOneByOne) {
  Tally tally(settings(), {state()});
  settle(tally);
  tally.add(turn(30), 1, moment(11));
  tally.add(turn(60, SoakLoad::d2h), 1, moment(12));  // between two turns of the load that is low
  tally.add(turn(30), 1, moment(13));
  tally.add(turn(50), 1, moment(14));
  tally.add(turn(30), 0.5, moment(15));
  const SoakTotals& totals = tally.so_far();
  ASSERT_EQ(totals.drops.size(), 2U);
  double seconds = 0;
  for (const SoakDrop& drop : totals.drops) seconds += drop.to - drop.from;
  EXPECT_DOUBLE_EQ(seconds, 3.5);
  EXPECT_DOUBLE_EQ(totals.drop_seconds, seconds);
}

TEST(SoakTally, TellsWhatElseChangedWhileARateWasLow) {
  Tally tally(settings(), {state({.pcie_replays = 7})});
  settle(tally);
  static_cast<void>(tally.close(moment(10), {state({.pcie_replays = 7})}));
  tally.add(turn(30), 1, moment(12));
  const SoakInterval interval = tally.close(moment(15), {state({.pcie_replays = 19})});
  ASSERT_EQ(interval.so_far.drops.size(), 1U);
  ASSERT_EQ(interval.so_far.drops[0].beside.size(), 1U);
  EXPECT_NE(interval.so_far.drops[0].beside[0].find("12"), std::string::npos) << interval.so_far.drops[0].beside[0];
  EXPECT_EQ(interval.gpus[0].changes, interval.so_far.drops[0].beside);
}

TEST(SoakTally, SaysWhatLastsOnlyWhenItBegins) {
  const GpuState held = state({.throttle = std::vector<std::string>{"power-cap"}});
  const GpuState free = state({.throttle = std::vector<std::string>{}});
  Tally tally(settings(), {free});
  settle(tally);
  EXPECT_EQ(tally.close(moment(10), {held}).gpus[0].changes.size(), 1U);
  tally.add(turn(30), 1, moment(12));
  const SoakInterval lasting = tally.close(moment(15), {held});
  EXPECT_TRUE(lasting.gpus[0].changes.empty());
  EXPECT_TRUE(lasting.so_far.drops.at(0).beside.empty()) << "it was so when the rate was not low, too";
  static_cast<void>(tally.close(moment(20), {free}));
  EXPECT_EQ(tally.close(moment(25), {held}).gpus[0].changes.size(), 1U);
}

TEST(SoakTally, CountsAllLossesAndKeepsTheFirstReasons) {
  SoakTotals totals;
  for (int i = 0; i < 100; ++i) add_loss(totals, std::to_string(i), "it does not answer");
  EXPECT_EQ(totals.lost_count, 100U);
  ASSERT_EQ(totals.lost.size(), SoakTotals::kMostKept);
  EXPECT_EQ(totals.lost.front(), "0: it does not answer");
}

TEST(SoakTally, CountersMoveFromLookToLookAndMayBeReset) {
  Tally tally(settings(), {state({.ecc_corrected = 5})});
  static_cast<void>(tally.close(moment(5), {state({.ecc_corrected = 8})}));
  static_cast<void>(tally.close(moment(10), {state({.ecc_corrected = 2})}));
  EXPECT_EQ(tally.so_far().counters[0].ecc_corrected, 5U);
  EXPECT_FALSE(tally.so_far().counters[0].ecc_uncorrected);
  EXPECT_TRUE(is_healthy(tally.so_far()));
}

TEST(SoakTally, CriticalErrorsAndUncorrectedOnesAreNotWell) {
  Tally xid(settings(), {state()});
  static_cast<void>(xid.close(moment(5), {state({.xids = std::vector<std::uint64_t>{79}})}));
  EXPECT_FALSE(is_healthy(xid.so_far()));
  Tally ecc(settings(), {state({.ecc_uncorrected = 0})});
  static_cast<void>(ecc.close(moment(5), {state({.ecc_uncorrected = 1})}));
  EXPECT_FALSE(is_healthy(ecc.so_far()));
}

TEST(SoakTally, CountsAllWrongBytesAndKeepsTheFirst) {
  Tally tally(settings(), {state()});
  for (int i = 0; i < 100; ++i) tally.add(turn_with(wrong(3)), 1, moment(1));
  EXPECT_EQ(tally.so_far().wrong_bytes, 300U);
  EXPECT_EQ(tally.so_far().wrong_buffers, 100U);
  EXPECT_EQ(tally.so_far().loads[0].wrong, 300U);  // counts all, not only those kept
  EXPECT_EQ(tally.so_far().wrong.size(), SoakTotals::kMostKept);
  EXPECT_FALSE(is_healthy(tally.so_far()));
}

TEST(SoakTally, DoesNotGrowWithTime) {
  Tally tally(settings(), {state()});
  settle(tally);
  for (int i = 0; i < 5000; ++i) {
    tally.add(turn(i % 2 == 0 ? 10 : 50), 1, moment(10 + i));
    if (i % 5 == 0) static_cast<void>(tally.close(moment(10 + i), {state({.xids = std::vector<std::uint64_t>{31}})}));
  }
  const SoakTotals& totals = tally.so_far();
  EXPECT_EQ(totals.drop_count, 2500U);
  EXPECT_EQ(totals.drops.size(), SoakTotals::kMostKept);
  EXPECT_EQ(totals.counters[0].xids.size(), SoakTotals::kMostKept);
  EXPECT_TRUE(totals.loads[0].first.empty());  // replaced by the baseline
  EXPECT_EQ(totals.counters[0].xid_count, 1000U);
}

TEST(SoakTally, GoesOnFromWhatItCameToBefore) {
  Tally before(settings(), {state()});
  settle(before);
  Tally after(settings(), {state()}, before.so_far());
  after.add(turn(30), 1, moment(12));
  EXPECT_EQ(after.so_far().loads[0].moved, before.so_far().loads[0].moved + 30'000'000'000U);
  EXPECT_EQ(after.so_far().drop_count, 1U);
}

TEST(SoakTally, TheFirstMinutesAreFiveOrATenth) {
  EXPECT_DOUBLE_EQ(Tally::first_minutes({.seconds = 28800}), 300);
  EXPECT_DOUBLE_EQ(Tally::first_minutes({.seconds = 600}), 60);
}

// --- Texts ----------------------------------------------------------------------------------------------------------

TEST(SoakReport, SaysWhereAWrongByteIs) {
  Tally tally(settings(), {state()});
  SoakWrong w = wrong(1);
  w.address = 0x7f0000000064;
  w.offset = 100;
  tally.add(turn_with(w), 1, moment(1));
  SoakInterval last = tally.close(moment(5), {state()});
  last.end = SoakEnd::interrupted;
  const std::string text = to_terminal(document_of(SoakHeader{.settings = settings()}, last), Style{});
  EXPECT_NE(text.find("FAIL: 1 wrong byte; interrupted after 0:00:05"), std::string::npos) << text;
  EXPECT_NE(text.find("1 wrong byte in 1 buffer"), std::string::npos) << text;
  EXPECT_NE(text.find("in the memory of GPU 0 at 0x7f0000000064, buffer offset 100"), std::string::npos) << text;
}

TEST(SoakReport, DoesNotSayThatThereWereNoDropsBeforeItLooksForThem) {
  Tally tally(settings(), {state()});
  tally.add(turn(50), 1, moment(1));
  const SoakInterval last = tally.close(moment(5), {state()});
  EXPECT_NE(to_terminal(document_of(SoakHeader{.settings = settings()}, last), Style{}).find("rate drops not checked"),
            std::string::npos);
}

std::string said_of(const Tally& tally, const SoakSettings& settings) {
  SoakInterval last{.elapsed = tally.so_far().elapsed};
  last.so_far = tally.so_far();
  return to_terminal(document_of(SoakHeader{.settings = settings}, last), Style{});
}

TEST(SoakReport, SaysHowLongTheBeginningWasThatRatesAreHeldAgainst) {
  Tally tally(settings(), {state()});
  tally.add(turn(50), 1, moment(1));
  EXPECT_TRUE(test::mentions(said_of(tally, settings()), "no load ran after the baseline period, the first 10 s"));
  for (const double second : {6.0, 12.0}) {  // intervals end when a turn does
    tally.add(turn(50), 1, moment(second));
    static_cast<void>(tally.close(moment(second), {state()}));
  }
  tally.add(turn(50), 1, moment(13));
  const std::string text = said_of(tally, settings());
  EXPECT_TRUE(test::mentions(text, "  first 12 s GB/s  "));
  EXPECT_TRUE(test::mentions(text, "no rate fell below 90 % of its baseline, the first 12 s"));
  SoakSettings hours = settings();
  hours.seconds = 28800;
  EXPECT_TRUE(test::mentions(said_of(Tally(hours, {state()}), hours), "  first 5 min GB/s  "));
  hours.seconds = 1500;
  EXPECT_TRUE(test::mentions(said_of(Tally(hours, {state()}), hours), "  first 2.5 min GB/s  "));
  SoakInterval of_old_file{.elapsed = 80};
  const std::vector<RateSample> rates{{.elapsed = 6}, {.elapsed = 11.2}, {.elapsed = 17}};
  EXPECT_TRUE(test::mentions(to_terminal(document_of(SoakHeader{.settings = settings()}, of_old_file, rates), Style{}),
                             "  first 11 s GB/s  "));
}

TEST(SoakReport, SaysHowLongADropWasThatBeganAndEndedInTheSameSecond) {
  Tally tally(settings(), {state()});
  settle(tally);
  tally.add(turn(30), 0.2, moment(67.3));
  tally.add(turn(50), 0.2, moment(68));
  tally.add(turn(30), 3, moment(73));
  const std::string text = said_of(tally, settings());
  EXPECT_TRUE(test::mentions(text, "2 times a rate fell below 90 % of its baseline, the first 10 s; 3.2 s in total"));
  EXPECT_TRUE(test::mentions(text, " 0:01:07, for 0.2 s (2026"));
  EXPECT_TRUE(test::mentions(text, " 0:01:10 to 0:01:13 (2026"));
}

TEST(SoakReport, MetricsAreReadableAndCountUp) {
  Tally tally(settings(), {state({.temperature = 61})});
  tally.add(turn(50), 1, moment(1));
  const SoakInterval last = tally.close(moment(5), {state({.temperature = 61})});
  SoakHeader header{.started_at = "2026-11-24T12:00:00Z", .settings = settings()};
  header.environment.backend = "cuda";
  const std::string text = openmetrics::to_text(soak_metrics(header, last));
  EXPECT_NE(text.find("xferbench_soak_moved_bytes_total{gpu=\"0\",load=\"h2d\"} 50000000000\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("xferbench_soak_temperature_celsius{gpu=\"0\"} 61\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("# EOF\n"));
}

TEST(SoakReport, DurationsAreInTheLargestUnitThatIsExact) {
  EXPECT_EQ(duration_text(90), "90 s");
  EXPECT_EQ(duration_text(1200), "20 min");
  EXPECT_EQ(duration_text(28800), "8 h");
  EXPECT_EQ(duration_text(7 * 86400), "7 days");
  EXPECT_EQ(clock_text(28805), "8:00:05");
}

}  // namespace
}  // namespace xferbench::soak
