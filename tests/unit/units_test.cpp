// Numbers and values as people read them.
#include "core/units.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "cli/values.hpp"
#include "core/axis.hpp"

namespace xferbench {
namespace {

TEST(FormatSizeExact, UsesTheLargestUnitThatDivides) {
  EXPECT_EQ(format_size_exact(268435456), "256MiB");
  EXPECT_EQ(format_size_exact(1572864), "1536KiB");
  EXPECT_EQ(format_size_exact(38797324), "38797324B");
  EXPECT_EQ(format_size_exact(1000), "1000B");
  EXPECT_EQ(format_size_exact(1023), "1023B");
  EXPECT_EQ(format_size_exact(1024), "1KiB");
  EXPECT_EQ(format_size_exact(TiB), "1TiB");
  EXPECT_EQ(format_size_exact(TiB + GiB), "1025GiB");
  EXPECT_EQ(format_size_exact(0), "0B");
}

TEST(FormatSizeExact, PutsWhatIsWantedBetweenNumberAndUnit) {
  EXPECT_EQ(format_size_exact(1572864, " "), "1536 KiB");
  EXPECT_EQ(format_size_exact(1000, " "), "1000 B");
}

TEST(FormatSizeExact, IsReadBackByTheCommandLine) {
  for (const std::uint64_t bytes :
       {std::uint64_t{1}, std::uint64_t{1000}, 3 * KiB, 5 * MiB + 4, 7 * GiB, 2 * TiB, (std::uint64_t{1} << 53) + 1}) {
    EXPECT_EQ(cli::parse_size(format_size_exact(bytes)), bytes);
  }
}

TEST(FormatSize, RoundsForReading) {
  EXPECT_EQ(format_size(268435456), "256 MiB");
  EXPECT_EQ(format_size(38797324), "37.0 MiB");
  EXPECT_EQ(format_size(1572864), "1.5 MiB");
  EXPECT_EQ(format_size(12), "12 B");
  EXPECT_EQ(format_size(150'000'000'000), "139.7 GiB");
}

TEST(FormatSignificant, GivesFourDigits) {
  EXPECT_EQ(format_significant(95.214), "95.21");
  EXPECT_EQ(format_significant(0.94118), "0.9412");
  EXPECT_EQ(format_significant(4266.4), "4266");
  EXPECT_EQ(format_significant(1), "1.000");
  EXPECT_EQ(format_significant(123456), "123456") << "digits before the point are never dropped";
}

TEST(FormatSignificant, GivesFourDigitsOfSmallNumbersToo) {
  EXPECT_EQ(format_significant(0.0512), "0.05120");
  EXPECT_EQ(format_significant(0.00123456), "0.001235");
  EXPECT_EQ(format_significant(0.000123456), "0.0001235");
}

TEST(FormatSignificant, GivesFourDigitsWhereRoundingAddsOneBeforeThePoint) {
  EXPECT_EQ(format_significant(99.996), "100.0");
  EXPECT_EQ(format_significant(0.999961), "1.000");
  EXPECT_EQ(format_significant(9.9994), "9.999");
}

TEST(FormatSignificant, KeepsTheSign) { EXPECT_EQ(format_significant(-12.345678), "-12.35"); }

TEST(FormatSignificant, UsesAnExponentOnlyForExtremes) {
  EXPECT_EQ(format_significant(0), "0");
  EXPECT_EQ(format_significant(1.5e9), "1.500e+09");
  EXPECT_EQ(format_significant(2e-5), "2.000e-05");
  EXPECT_EQ(format_significant(std::numeric_limits<double>::infinity()), "inf");
}

TEST(FormatSeconds, ChoosesTheUnit) {
  EXPECT_EQ(format_seconds(12.5e-9), "12.50 ns");
  EXPECT_EQ(format_seconds(3.7e-6), "3.700 us");
  EXPECT_EQ(format_seconds(5.617e-3), "5.617 ms");
  EXPECT_EQ(format_seconds(1.25), "1.250 s");
  EXPECT_EQ(format_seconds(90), "90.00 s");
}

TEST(FormatSeconds, ChangesUnitAtItsPowerOfAThousand) {
  EXPECT_EQ(format_seconds(1e-6), "1.000 us");
  EXPECT_EQ(format_seconds(1e-3), "1.000 ms");
  EXPECT_EQ(format_seconds(1), "1.000 s");
  EXPECT_EQ(format_seconds(0.9e-3), "900.0 us");
}

TEST(FormatSeconds, OfLessThanNothingHasASign) { EXPECT_EQ(format_seconds(-2e-3), "-2.000 ms"); }

TEST(FormatPercent, HasOneDecimal) {
  EXPECT_EQ(format_percent(0.941), "94.1 %");
  EXPECT_EQ(format_percent(0), "0.0 %");
  EXPECT_EQ(format_percent(1.0049), "100.5 %");
  EXPECT_EQ(format_percent(-0.25), "-25.0 %");
}

// --- Values and cases -----------------------------------------------------------------------------------------------

TEST(ToText, OfAValueFollowsItsAxis) {
  EXPECT_EQ(to_text(std::uint64_t{1048576}, AxisKind::size), "1MiB");
  EXPECT_EQ(to_text(std::uint64_t{1048576}, AxisKind::count), "1048576");
  EXPECT_EQ(to_text(0.5, AxisKind::real), "0.5");
  EXPECT_EQ(to_text(std::string("h2d"), AxisKind::choice), "h2d");
}

TEST(Case, HasAKeyInTheOrderOfItsAxes) {
  Case c("overlap");
  c.set({.name = "size", .kind = AxisKind::size}, std::uint64_t{268435456});
  c.set({.name = "streams"}, std::uint64_t{8});
  c.set({.name = "kernel", .kind = AxisKind::choice}, std::string("fma"));
  EXPECT_EQ(c.key(), "overlap/size=256MiB/streams=8/kernel=fma");
}

TEST(Case, GivesValuesByTheNameOfTheirAxis) {
  Case c("overlap");
  c.set({.name = "streams"}, std::uint64_t{8});
  c.set({.name = "balance", .kind = AxisKind::real}, 0.5);
  c.set({.name = "kernel", .kind = AxisKind::choice}, std::string("fma"));
  EXPECT_EQ(c.count("streams"), 8U);
  EXPECT_EQ(c.real("balance"), 0.5);
  EXPECT_EQ(c.word("kernel"), "fma");
  EXPECT_TRUE(c.has("streams"));
  EXPECT_FALSE(c.has("work"));
  EXPECT_THROW(static_cast<void>(c.count("work")), std::logic_error) << "a mistake in the scenario";
}

}  // namespace
}  // namespace xferbench
