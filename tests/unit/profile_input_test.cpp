// A results file used as a profile: cases that the tests of the program do not cover.
#include "app/profile_input.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>

#include "core/error.hpp"
#include "core/printable.hpp"

namespace xferbench::app {
namespace {

TEST(Calibrated, ResultsSayNothingOfRanks) {
  EXPECT_EQ(modelled_rank_of(XFERBENCH_SOURCE_DIR "/docs/results/h200-quick.json"), ModelledRank());
  EXPECT_EQ(modelled_rank_of("h200"), ModelledRank());
  EXPECT_THROW(static_cast<void>(modelled_rank_of("no/such/file")), std::exception);
}

TEST(Calibrated, RefusesResultsOfWhichNoneWasMeasured) {
  Report report;
  report.environment.backend = "cuda";
  report.environment.gpu.multiprocessors = 132;  // a profile has it, but it is not a result of calibration
  Result& skipped = report.results.emplace_back(Case("memcpy"));
  skipped.status = Status::skipped;
  const std::array runs{NamedReport{"a.json", report}};
  EXPECT_THROW(static_cast<void>(calibration_of(runs, "h200", false)), InputError);
}

TEST(Calibrated, DropsWhatNoProfileCanHave) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  Calibration made{.gpu = "G"};
  made.figures = {{.field = "h2d_rate", .value = -1, .interval = {}, .source = "a.json: b"},
                  {.field = "multiprocessors", .value = 1.5, .interval = {}, .source = "a.json: b"},
                  {.field = "d2h_rate", .value = 5e10, .interval = Interval{1, kInfinite}, .source = "a.json: b"}};
  const std::vector<std::string> dropped = drop_invalid_figures(made);
  ASSERT_EQ(dropped.size(), 2U);
  EXPECT_EQ(dropped[0], "h2d_rate is calculated as -1, expected one from 1000 to 1e+18 (per second), from a.json: b");
  ASSERT_EQ(made.figures.size(), 1U);
  EXPECT_FALSE(made.figures[0].interval) << "JSON has no infinities";
}

TEST(Printable, ShortensWithoutCuttingCharacters) {
  EXPECT_EQ(shortened("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shortened("abcdefghijk", 9), "abc...ijk");
  const std::string umlauts = "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4";
  EXPECT_EQ(shortened(umlauts, 9), "\xC3\xA4...\xC3\xA4");
}

}  // namespace
}  // namespace xferbench::app
