// Formatting of numbers, sizes and axis values for people.
#include "core/units.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cli/values.hpp"
#include "core/axis.hpp"

namespace xferbench {
namespace {

template <class Number>
using Shown = std::vector<std::pair<Number, const char*>>;

TEST(FormatSizeExact, UsesTheLargestUnitThatDivides) {
  const Shown<std::uint64_t> sizes{{268435456, "256MiB"},   {1572864, "1536KiB"},
                                   {38797324, "38797324B"}, {1000, "1000B"},
                                   {1023, "1023B"},         {1024, "1KiB"},
                                   {TiB, "1TiB"},           {0, "0B"},
                                   {TiB + GiB, "1025GiB"},  {5 * MiB + 4, "5242884B"},
                                   {7 * GiB, "7GiB"},       {2 * TiB, "2TiB"}};
  for (const auto& [bytes, text] : sizes) {
    EXPECT_EQ(format_size_exact(bytes), text);
    if (bytes == 0) continue;
    EXPECT_EQ(cli::parse_size(text), bytes) << "is read back by the command line";
  }
  EXPECT_EQ(format_size_exact(1572864, " "), "1536 KiB") << "what is wanted between number and unit";
  EXPECT_EQ(format_size_exact(1000, " "), "1000 B");
}

TEST(FormatSize, RoundsForReading) {
  const Shown<std::uint64_t> sizes{
      {268435456, "256 MiB"},     {38797324, "37.0 MiB"},        {1572864, "1.5 MiB"},    {12, "12 B"},
      {1000, "1000 B"},           {256'000'000, "256 MB"},       {2'000'000'000, "2 GB"}, {1'500'000, "1500 KB"},
      {123'456'000, "117.7 MiB"}, {150'754'820'096, "140.4 GiB"}};
  for (const auto& [bytes, text] : sizes) EXPECT_EQ(format_size(bytes), text);
}

TEST(FormatSizeReadable, IsExactInTheUnitOfFewerDigits) {
  const Shown<std::uint64_t> sizes{{268435456, "256 MiB"},   {256'000'000, "256 MB"}, {1'000'000'000, "1 GB"},
                                   {1572864, "1536 KiB"},    {4096, "4 KiB"},         {128'000, "125 KiB"},
                                   {38797324, "38797324 B"}, {1000, "1000 B"},        {2000, "2 KB"},
                                   {64 * GiB, "64 GiB"}};
  for (const auto& [bytes, text] : sizes) EXPECT_EQ(format_size_readable(bytes), text);
}

TEST(UnitForAll, IsThatOfTheSmallestUnlessTheLargestWouldBeUnreadable) {
  const auto unit = [](std::vector<double> seconds) { return unit_for_all(seconds); };
  EXPECT_EQ(unit({}), "");
  EXPECT_EQ(unit({4.6e-6, 112.4e-3}), "us");
  EXPECT_EQ(unit({4.6e-6, 1.5}), "ms");
  EXPECT_EQ(unit({0, 5e-3}), "ms");
  EXPECT_EQ(unit({0}), "ns");
  EXPECT_EQ(unit({368e-9, 1.2e-6}), "ns");
  EXPECT_EQ(unit({2, 3e9}), "s");
  EXPECT_EQ(format_seconds_in(112.4e-3, "us"), "112400 us");
  EXPECT_EQ(format_seconds_in(4.6e-6, "us"), "4.600 us");
  EXPECT_EQ(format_seconds_in(4.6e-6, ""), "4.600 us") << "of its own where there is none for all";
}

TEST(FormatSignificant, GivesFourDigitsAndAnExponentOnlyForExtremes) {
  const Shown<double> numbers{{95.214, "95.21"},
                              {0.94118, "0.9412"},
                              {4266.4, "4266"},
                              {1, "1.000"},
                              {123456, "123456"},
                              {0.0512, "0.05120"},
                              {0.00123456, "0.001235"},
                              {0.000123456, "0.0001235"},
                              {99.996, "100.0"},
                              {0.999961, "1.000"},
                              {9.9994, "9.999"},
                              {-12.345678, "-12.35"},
                              {0, "0"},
                              {1.5e9, "1.500e+09"},
                              {2e-5, "2.000e-05"},
                              {std::numeric_limits<double>::infinity(), "inf"}};
  for (const auto& [number, text] : numbers) EXPECT_EQ(format_significant(number), text);
}

TEST(FormatSeconds, ChangesUnitAtItsPowerOfAThousand) {
  const Shown<double> times{{12.5e-9, "12.50 ns"}, {3.7e-6, "3.700 us"}, {5.617e-3, "5.617 ms"}, {1.25, "1.250 s"},
                            {90, "90.00 s"},       {1e-6, "1.000 us"},   {1e-3, "1.000 ms"},     {1, "1.000 s"},
                            {0.9e-3, "900.0 us"},  {-2e-3, "-2.000 ms"}};
  for (const auto& [seconds, text] : times) EXPECT_EQ(format_seconds(seconds), text);
}

TEST(FormatPercent, HasOneDecimal) {
  const Shown<double> shares{{0.941, "94.1 %"}, {0, "0.0 %"}, {1.0049, "100.5 %"}, {-0.25, "-25.0 %"}};
  for (const auto& [share, text] : shares) EXPECT_EQ(format_percent(share), text);
  EXPECT_EQ(format_percent(0.12345, 2), "12.35 %");
  EXPECT_EQ(format_change(0.081), "+8.1 %");
  EXPECT_EQ(format_change(-0.081, 2), "-8.10 %");
}

TEST(FormatPercent, IsOfFewDigitsWhateverAFileHolds) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Shown<double> shares{{1e300, "over 1000000 %"}, {infinity, "over 1000000 %"}, {-1e300, "below -1000000 %"}};
  for (const auto& [share, text] : shares) {
    EXPECT_EQ(format_percent(share, 2), text);
    EXPECT_EQ(format_change(share), text);
    EXPECT_EQ(format_percent_short(share), text);
  }
  EXPECT_EQ(format_change(-std::numeric_limits<double>::quiet_NaN()), "-");
}

TEST(FormatPercentShort, HasNoExponent) {
  const Shown<double> shares{{0.0053, "0.53 %"}, {0.02, "2 %"},    {0.018, "1.8 %"}, {0.996, "100 %"},
                             {1.8, "180 %"},     {123, "12300 %"}, {0, "0 %"},       {1e-9, "under 0.0001 %"}};
  for (const auto& [share, text] : shares) EXPECT_EQ(format_percent_short(share), text);
}

// --- Values and cases -----------------------------------------------------------------------------------------------

TEST(ToText, OfAValueFollowsItsAxis) {
  EXPECT_EQ(to_text(std::uint64_t{1048576}, AxisKind::size), "1MiB");
  EXPECT_EQ(to_text(std::uint64_t{1048576}, AxisKind::count), "1048576");
  EXPECT_EQ(to_text(0.5, AxisKind::real), "0.5");
  EXPECT_EQ(to_text(std::string("h2d"), AxisKind::choice), "h2d");
}

TEST(Case, HasAKeyInTheOrderOfItsAxesAndGivesValuesByTheirNames) {
  Case c("overlap");
  c.set({.name = "size", .kind = AxisKind::size}, std::uint64_t{268435456});
  c.set({.name = "balance", .kind = AxisKind::real}, 0.5);
  c.set({.name = "kernel", .kind = AxisKind::choice}, std::string("fma"));
  EXPECT_EQ(c.key(), "overlap/size=256MiB/balance=0.5/kernel=fma");
  EXPECT_EQ(c.count("size"), 268435456U);
  EXPECT_EQ(c.real("balance"), 0.5);
  EXPECT_EQ(c.word("kernel"), "fma");
  EXPECT_TRUE(c.has("size"));
  EXPECT_FALSE(c.has("work"));
  EXPECT_THROW(static_cast<void>(c.count("work")), std::logic_error) << "a mistake in the scenario";
}

}  // namespace
}  // namespace xferbench
