// The value grammar: what every text of an axis means, and what is said of a text that means nothing.
#include "cli/values.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "unit/support.hpp"

namespace xferbench::cli {
namespace {

using test::mentions;
using test::message_of;

const Axis kSize{.name = "size", .kind = AxisKind::size};
const Axis kCount{.name = "count", .kind = AxisKind::count, .max = 1e6};
const Axis kReal{.name = "real", .kind = AxisKind::real, .min = 0.001, .max = 1000};
const Axis kWord{.name = "dir", .kind = AxisKind::choice, .choices = {"h2d", "d2h", "bidirectional"}};

std::vector<Value> parsed(const Axis& axis, const std::string& text) {
  return parse_axis(axis, text, "--" + axis.name);
}

template <class T>
std::vector<T> values(const Axis& axis, const std::string& text) {
  std::vector<T> all;
  for (const Value& value : parsed(axis, text)) all.push_back(std::get<T>(value));
  return all;
}

using Numbers = std::vector<std::uint64_t>;
Numbers numbers(const Axis& axis, const std::string& text) { return values<std::uint64_t>(axis, text); }

std::string size_error(const std::string& text) {
  return message_of<UsageError>([&] { static_cast<void>(parse_size(text)); });
}

std::string error(const Axis& axis, const std::string& text) {
  return message_of<UsageError>([&] { static_cast<void>(parsed(axis, text)); });
}

// --- Sizes ----------------------------------------------------------------------------------------------------------

TEST(Sizes, WithoutAUnitAreBytes) {
  EXPECT_EQ(parse_size("4096"), 4096U);
  EXPECT_EQ(parse_size("4096B"), 4096U);
  EXPECT_EQ(parse_size("1"), 1U);
}

TEST(Sizes, ShortAndIecUnitsArePowersOf1024) {
  EXPECT_EQ(parse_size("4K"), 4096U);
  EXPECT_EQ(parse_size("4KiB"), 4096U);
  EXPECT_EQ(parse_size("256M"), 268435456U);
  EXPECT_EQ(parse_size("256MiB"), 268435456U);
  EXPECT_EQ(parse_size("1G"), 1073741824U);
  EXPECT_EQ(parse_size("1GiB"), 1073741824U);
  EXPECT_EQ(parse_size("1T"), 1099511627776U);
  EXPECT_EQ(parse_size("1TiB"), 1099511627776U);
}

TEST(Sizes, SiUnitsArePowersOf1000) {
  EXPECT_EQ(parse_size("4KB"), 4000U);
  EXPECT_EQ(parse_size("256MB"), 256000000U);
  EXPECT_EQ(parse_size("1GB"), 1000000000U);
  EXPECT_EQ(parse_size("1TB"), 1000000000000U);
}

TEST(Sizes, UnitsAreReadInAnyCase) {
  EXPECT_EQ(parse_size("4k"), 4096U);
  EXPECT_EQ(parse_size("4kib"), 4096U);
  EXPECT_EQ(parse_size("4kb"), 4000U);
  EXPECT_EQ(parse_size("4Mb"), 4000000U);
}

TEST(Sizes, MayBeFractionsOfAUnitThatAreWholeBytes) {
  EXPECT_EQ(parse_size("1.5G"), 1610612736U);
  EXPECT_EQ(parse_size("0.5K"), 512U);
  EXPECT_EQ(parse_size(".5K"), 512U);
  EXPECT_EQ(parse_size("2.5KB"), 2500U);
  EXPECT_EQ(parse_size("8.0"), 8U);
}

TEST(Sizes, DecimalFractionsAreNotRefusedForBinaryRounding) {
  // None of these has an exact double; in doubles 1.001 * 1000 is 1000.9999999999999.
  EXPECT_EQ(parse_size("1.001KB"), 1001U);
  EXPECT_EQ(parse_size("4.001MB"), 4001000U);
  EXPECT_EQ(parse_size("16.1MB"), 16100000U);
  EXPECT_EQ(parse_size("4.35GB"), 4350000000U);
}

TEST(Sizes, ThatAreNoWholeNumberOfBytesAreRefused) {
  EXPECT_TRUE(mentions(size_error("1.5"), "not a whole number of bytes"));
  EXPECT_TRUE(mentions(size_error("0.3K"), "not a whole number of bytes"));
  EXPECT_TRUE(mentions(size_error("1.0000000001GB"), "not a whole number of bytes"));
}

TEST(Sizes, AreExactWhereDoublesAreNot) {
  // 2^53 + 1 is the first whole number that no double holds.
  EXPECT_EQ(parse_size("9007199254740993"), 9007199254740993U);
  EXPECT_EQ(parse_size("9007199254741K"), 9223372036854784U);
  EXPECT_EQ(parse_size("1152921504606846977"), (std::uint64_t{1} << 60) + 1);
  EXPECT_EQ(parse_size("9007199254740993KB"), 9007199254740993000U);
}

TEST(Sizes, OfZeroOrLessAreRefused) {
  for (const char* text : {"0", "0K", "0.0G", "-1", "-4K"}) {
    EXPECT_TRUE(mentions(size_error(text), "is not a positive size")) << text;
  }
}

TEST(Sizes, ThatAreNoNumberAreRefused) {
  for (const char* text : {"", "K", "abc", "inf", "nan", "-", "+4K", " 4K"}) {
    EXPECT_TRUE(mentions(size_error(text), "is not a size")) << text;
  }
}

TEST(Sizes, OfAnUnknownUnitAreRefusedWithTheUnitsThereAre) {
  for (const char* text : {"4Q", "4KBs", "4Ki", "4 K", "1e3", "0x10", "4P"}) {
    const std::string message = size_error(text);
    EXPECT_TRUE(mentions(message, "unknown unit")) << text;
    EXPECT_TRUE(mentions(message, "KB, MB, GB, TB for powers of 1000")) << text;
  }
}

TEST(Sizes, BeyondWhatCountsOfBytesHoldAreRefused) {
  for (const char* text : {"16777216T", "9300000000000000000", "99999999999999999999999999", "18446744073709551616"}) {
    EXPECT_TRUE(mentions(size_error(text), "too large")) << text;
  }
  EXPECT_TRUE(mentions(size_error(std::string(400, '9')), "too large")) << "too large even for a double";
}

TEST(Sizes, ErrorsBeginWithTheFlag) { EXPECT_EQ(error(kSize, "4Q").substr(0, 12), "--size: '4Q'"); }

// --- Counts, reals and choices --------------------------------------------------------------------------------------

TEST(Counts, AreWholeNumbers) {
  EXPECT_EQ(numbers(kCount, "8"), Numbers{8});
  for (const char* text : {"1.5", "8K", "eight", "-4", "+4", "0x8", " 8", "8 "}) {
    EXPECT_TRUE(mentions(error(kCount, text), "is not a whole number")) << text;
  }
}

TEST(Counts, BeyondTheAxisAreRefusedWithItsLimit) {
  EXPECT_EQ(error(kCount, "0"), "--count: 0 is too small; the smallest is 1");
  EXPECT_EQ(error(kCount, "1000001"), "--count: 1000001 is too large; the largest is 1000000");
  EXPECT_EQ(numbers(kCount, "1000000"), Numbers{1000000}) << "the limit itself is legal";
}

TEST(Counts, ThatNoIntegerHoldsAreTooLargeAndNotWrappedAround) {
  EXPECT_TRUE(mentions(error(kCount, "18446744073709551617"), "is larger than --count allows, which is 1000000"));
}

TEST(Counts, AreExactWhereDoublesAreNot) {
  const Axis wide{.name = "n", .min = 0};
  EXPECT_EQ(numbers(wide, "9007199254740993"), Numbers{9007199254740993U});
}

TEST(SizeAxes, SayTheirLimitAsASize) {
  const Axis axis{.name = "size", .kind = AxisKind::size, .min = 4, .max = 1048576};
  EXPECT_EQ(error(axis, "1"), "--size: 1 is too small; the smallest is 4B");
  EXPECT_EQ(error(axis, "2M"), "--size: 2M is too large; the largest is 1MiB");
}

TEST(Reals, AreDecimalNumbers) {
  EXPECT_EQ(values<double>(kReal, "0.5,2,.25"), (std::vector<double>{0.5, 2, 0.25}));
  for (const char* text : {"half", "0.5s", "1e3", "inf", "nan", "0x1"}) {
    EXPECT_TRUE(mentions(error(kReal, text), "is not a number")) << text;
  }
}

TEST(Reals, BeyondTheAxisAreRefusedWithItsLimit) {
  EXPECT_EQ(error(kReal, "0"), "--real: 0 is too small; the smallest is 0.001");
  EXPECT_EQ(error(kReal, "-1"), "--real: -1 is too small; the smallest is 0.001");
  EXPECT_EQ(error(kReal, "1000.5"), "--real: 1000.5 is too large; the largest is 1000");
}

TEST(Choices, AreTakenAsWritten) {
  EXPECT_EQ(values<std::string>(kWord, "d2h,h2d"), (std::vector<std::string>{"d2h", "h2d"}));
}

TEST(Choices, ThatDoNotExistAreRefusedWithAllThatDoAndTheNearest) {
  EXPECT_EQ(error(kWord, "h2f"), "--dir: 'h2f' is not one of h2d, d2h, bidirectional; did you mean 'h2d'?");
  EXPECT_EQ(error(kWord, "bidi"), "--dir: 'bidi' is not one of h2d, d2h, bidirectional; did you mean 'bidirectional'?");
  EXPECT_EQ(error(kWord, "sideways"), "--dir: 'sideways' is not one of h2d, d2h, bidirectional");
}

TEST(Choices, OfTheWrongCaseAreSuggested) {
  EXPECT_TRUE(mentions(error(kWord, "BIDIRECTIONAL"), "did you mean 'bidirectional'?"));
}

TEST(Choices, AllStandsForEveryOne) {
  EXPECT_EQ(parse_axis(kWord, "all", "--dir"), parse_axis(kWord, "h2d,d2h,bidirectional", "--dir"));
  EXPECT_EQ(parse_axis(kWord, "d2h,all", "--dir"), parse_axis(kWord, "d2h,h2d,bidirectional", "--dir"));
}

TEST(Choices, KnowNoRanges) { EXPECT_TRUE(mentions(error(kWord, "h2d:d2h"), "'h2d:d2h' is not one of")); }

// --- Lists ----------------------------------------------------------------------------------------------------------

TEST(Lists, KeepTheOrderInWhichTheyWereWritten) {
  EXPECT_EQ(numbers(kCount, "4,1,2"), (Numbers{4, 1, 2}));
  EXPECT_EQ(numbers(kSize, "1M,4K,1GB"), (Numbers{1048576, 4096, 1000000000}));
}

TEST(Lists, KeepEachValueOnce) {
  EXPECT_EQ(numbers(kCount, "2,1,2,1"), (Numbers{2, 1}));
  EXPECT_EQ(numbers(kSize, "1K,1024,1KiB"), Numbers{1024}) << "however it is spelled";
  EXPECT_EQ(numbers(kCount, "4,1:8"), (Numbers{4, 1, 2, 8})) << "across lists and ranges";
  EXPECT_EQ(parsed(kWord, "h2d,h2d").size(), 1U);
}

TEST(Lists, WithAGapAreRefused) {
  for (const char* text : {"", ",", "1,", ",1", "1,,2"}) {
    EXPECT_EQ(error(kCount, text), "--count: a value is missing; write one like 8") << text;
  }
  EXPECT_EQ(error(kSize, ""), "--size: a value is missing; write one like 256M");
  EXPECT_EQ(error(kReal, ""), "--real: a value is missing; write one like 0.5");
  EXPECT_EQ(error(kWord, ""), "--dir: a value is missing; write one like h2d");
}

// --- Ranges ---------------------------------------------------------------------------------------------------------

TEST(Ranges, DoubleUnlessToldOtherwise) {
  EXPECT_EQ(numbers(kCount, "1:16"), (Numbers{1, 2, 4, 8, 16}));
  EXPECT_EQ(numbers(kSize, "4K:16K"), (Numbers{4096, 8192, 16384}));
  EXPECT_EQ(values<double>(kReal, "0.5:2"), (std::vector<double>{0.5, 1, 2}));
}

TEST(Ranges, MultiplyByX) {
  EXPECT_EQ(numbers(kSize, "4K:1G:x4"),
            (Numbers{4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864, 268435456, 1073741824}));
  EXPECT_EQ(numbers(kCount, "1:1000:x10"), (Numbers{1, 10, 100, 1000}));
}

TEST(Ranges, MultiplyingWholeNumbersByAFractionRoundEachFromItsPowerAndListEachOnce) {
  // 1.5^n = 1, 1.5, 2.25, 3.375, 5.06, 7.59: to the nearest 1, 2, 2, 3, 5, 8.
  EXPECT_EQ(numbers(kCount, "1:8:x1.5"), (Numbers{1, 2, 3, 5, 8}));
}

TEST(Ranges, AddByPlus) {
  EXPECT_EQ(numbers(kCount, "1:4:+1"), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(numbers(kSize, "4K:12K:+4K"), (Numbers{4096, 8192, 12288})) << "a step in bytes takes units";
  EXPECT_EQ(numbers(kSize, "1KB:3KB:+1KB"), (Numbers{1000, 2000, 3000}));
}

TEST(Ranges, OfRealsHaveTheValuesThatOneWouldWrite) {
  // In doubles 0.1 + 2 * 0.1 is 0.30000000000000004: another value, another key than that of a list.
  EXPECT_EQ(values<double>(kReal, "0.1:0.5:+0.1"), values<double>(kReal, "0.1,0.2,0.3,0.4,0.5"));
  EXPECT_EQ(values<double>(kReal, "0.1:0.3:+0.1").size(), 3U) << "the end is reached in spite of rounding";
}

TEST(Ranges, StopBeforeAnEndThatTheyDoNotHit) {
  EXPECT_EQ(numbers(kCount, "1:15"), (Numbers{1, 2, 4, 8}));
  EXPECT_EQ(numbers(kCount, "1:10:+4"), (Numbers{1, 5, 9}));
  EXPECT_EQ(values<double>(kReal, "1:1.9:+0.5"), (std::vector<double>{1, 1.5}));
}

TEST(Ranges, NeverPassTheirEndByRounding) {
  // One step of 1000 would end 4 beyond the end, a share of 4e-15 that must not count as equal.
  EXPECT_EQ(numbers(kSize, "999999999999000:999999999999996:+1000"), Numbers{999999999999000U});
}

TEST(Ranges, BeginWithTheirFirstValueExactly) {
  EXPECT_EQ(numbers(kSize, "9007199254740993:9007199254740995:+1K"), Numbers{9007199254740993U});
}

TEST(Ranges, OfOneValueHaveOneValue) {
  EXPECT_EQ(numbers(kCount, "8:8"), Numbers{8});
  const Axis from_zero{.name = "seed", .min = 0};
  EXPECT_EQ(numbers(from_zero, "0:0"), Numbers{0});
}

TEST(Ranges, ThatEndBeforeTheyBeginAreRefused) {
  EXPECT_EQ(error(kCount, "8:4"), "--count: the range 8:4 ends before it begins");
  EXPECT_TRUE(mentions(error(kSize, "1G:1M:x2"), "ends before it begins"));
}

TEST(Ranges, ThatNeverReachTheirEndAreRefused) {
  for (const char* text : {"1:8:x1", "1:8:x0", "1:8:x0.5", "1:8:x-2", "1:8:+0", "1:8:+-1"}) {
    EXPECT_TRUE(mentions(error(kCount, text), "never reaches its end")) << text;
  }
  EXPECT_TRUE(mentions(error(kSize, "1K:8K:+0"), "is not a positive size"));
  const Axis from_zero{.name = "seed", .min = 0};
  EXPECT_EQ(error(from_zero, "0:16"),
            "--seed: multiplying 0 in 0:16 never reaches its end; add instead, as in 0:16:+1");
  EXPECT_EQ(numbers(from_zero, "0:2:+1"), (Numbers{0, 1, 2}));
}

TEST(Ranges, WithAStepOfNeitherKindAreRefused) {
  for (const char* text : {"1:8:2", "1:8:", "1:8:*2", "1:8:X2", "1:8:+1:+1"}) {
    const std::string message = error(kCount, text);
    EXPECT_FALSE(message.empty()) << text;
  }
  EXPECT_TRUE(mentions(error(kCount, "1:8:2"), "must begin with x or +"));
  EXPECT_TRUE(mentions(error(kCount, "1:8:x"), "is not a number to step by"));
  EXPECT_TRUE(mentions(error(kCount, "1:8:xtwo"), "is not a number to step by"));
  EXPECT_TRUE(mentions(error(kCount, "1:8:+1.5"), "is not a whole number"));
  EXPECT_TRUE(mentions(error(kSize, "1K:8K:+1Q"), "unknown unit"));
}

TEST(Ranges, WithAnEndMissingAreRefused) {
  for (const char* text : {":", "1:", ":8", "::", "1::x2"}) {
    EXPECT_TRUE(mentions(error(kCount, text), "a value is missing")) << text;
  }
}

TEST(Ranges, BeyondTheAxisAreRefused) {
  EXPECT_TRUE(mentions(error(kCount, "0:4"), "too small"));
  EXPECT_TRUE(mentions(error(kCount, "1:1000001"), "too large"));
}

TEST(Ranges, OfTooManyValuesAreRefused) {
  EXPECT_EQ(numbers(kCount, "1:10000:+1").size(), 10000U);
  EXPECT_EQ(error(kCount, "1:10001:+1"), "--count: more than 10000 values; choose a larger step");
  EXPECT_TRUE(mentions(error(kCount, "1:10000:+1,20000"), "more than 10000 values")) << "over the whole list";
}

TEST(Ranges, OfStepsTooSmallToEverEndAreRefusedSoon) {
  EXPECT_TRUE(mentions(error(kCount, "1:2:x1.000000000001"), "more than 10000 values"));
  EXPECT_TRUE(mentions(error(kReal, "1:1000:+0.0000000000000001"), "more than 10000 values"));
}

// --- Suggestions ----------------------------------------------------------------------------------------------------

TEST(Nearest, FindsASlipOfTheHand) {
  const std::vector<std::string> words{"overlap", "memcpy", "list", "info"};
  EXPECT_EQ(nearest("overlab", words), "overlap") << "a wrong letter";
  EXPECT_EQ(nearest("mempcy", words), "memcpy") << "two swapped";
  EXPECT_EQ(nearest("overap", words), "overlap") << "one missing";
  EXPECT_EQ(nearest("memccpy", words), "memcpy") << "one too many";
  EXPECT_EQ(nearest("INFO", words), "info") << "another case";
}

TEST(Nearest, FindsABeginning) {
  const std::vector<std::string> words{"bidirectional", "d2h"};
  EXPECT_EQ(nearest("bi", words), "bidirectional");
}

TEST(Nearest, PrefersTheNearer) {
  const std::vector<std::string> words{"d2d", "d2h", "h2d"};
  EXPECT_EQ(nearest("d2hh", words), "d2h");
  EXPECT_EQ(nearest("hh2d", words), "h2d");
}

TEST(Nearest, IsNothingForAWordUnlikeAny) {
  const std::vector<std::string> words{"overlap", "memcpy"};
  EXPECT_EQ(nearest("quux", words), "");
  EXPECT_EQ(nearest("bandwidth", words), "");
  EXPECT_EQ(nearest("overlap", {}), "");
}

TEST(Printable, HasNoControlCharacters) {
  EXPECT_EQ(printable("NVIDIA H200"), "NVIDIA H200");
  EXPECT_EQ(printable("a\x1b[2J\r\n\x7f"), "a?[2J???");
  EXPECT_EQ(printable("\xC2\x9B"
                      "2J \xC2\xB5s \xC3\xA9"),
            "?2J \xC2\xB5s \xC3\xA9");
}

TEST(Suggestion, IsTheEndOfASentenceOrNothing) {
  const std::vector<std::string> words{"h2d"};
  EXPECT_EQ(suggestion("h2x", words), "; did you mean 'h2d'?");
  EXPECT_EQ(suggestion("something", words), "");
}

}  // namespace
}  // namespace xferbench::cli
