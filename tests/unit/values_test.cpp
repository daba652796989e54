// The grammar of flag values: what every text means for an axis, and the message for an invalid one.
#include "cli/values.hpp"

#include <cstdint>
#include <map>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "unit/support.hpp"

namespace xferbench::cli {
namespace {

using test::mentions;
using test::message_of;

const Axis kSize{.name = "size", .kind = AxisKind::size};
const Axis kCount{.name = "count", .kind = AxisKind::count, .max = 1e6};
const Axis kFromZero{.name = "seed", .min = 0};
const Axis kReal{.name = "real", .kind = AxisKind::real, .min = 0.001, .max = 1000};
const Axis kWord{.name = "dir", .kind = AxisKind::choice, .choices = {"h2d", "d2h", "bidirectional"}};

template <class T>
std::vector<T> values(const Axis& axis, const std::string& text) {
  std::vector<T> all;
  for (const Value& value : parse_axis(axis, text, "--" + axis.name)) all.push_back(std::get<T>(value));
  return all;
}

using Texts = std::vector<const char*>;
using Reals = std::vector<double>;
using Words = std::vector<std::string>;
using Numbers = std::vector<std::uint64_t>;
Numbers numbers(const Axis& axis, const std::string& text) { return values<std::uint64_t>(axis, text); }

std::string error(const Axis& axis, const std::string& text) {
  return message_of<UsageError>([&] { static_cast<void>(parse_axis(axis, text, "--" + axis.name)); });
}

/// Each text must be refused with a message that begins with the flag and contains `why`.
void expect_refused(const Axis& axis, const Texts& texts, const std::string& why) {
  for (const char* text : texts) {
    EXPECT_TRUE(error(axis, text).starts_with("--" + axis.name + ": ")) << text;
    EXPECT_TRUE(mentions(error(axis, text), why)) << text;
  }
}

// --- GPUs -----------------------------------------------------------------------------------------------------------

TEST(Gpus, AreNumbersEachOnceOrAWord) {
  const Axis group = gpus_axis("group", {"all", "pairs"}, {});
  EXPECT_EQ(values<std::string>(group, "0+3,1,pairs"), (Words{"0+3", "1", "pairs"}));
  expect_refused(group, {"0+0", "00", "0+", "+1", "0-1", "0++1", "1 +2", "99999999999"}, "as in 0+1, nor all, pairs");
  expect_refused(group, {"pair"}, "did you mean 'pairs'?");
}

TEST(Gpus, AreOneWhereTheAxisJoinsNone) {
  const Axis one = gpus_axis("from", {"all"}, {.joined_by = '\0'});
  EXPECT_EQ(values<std::string>(one, "7,all"), (Words{"7", "all"}));
  expect_refused(one, {"0+1", "07", "-1"}, "the number of a GPU, as in 1, nor all");
}

TEST(GpuSelections, AreAllSoManyOrThese) {
  EXPECT_EQ(gpu_selection("all"), (GpuSelection{.numbers = {}}));
  EXPECT_EQ(gpu_selection("2"), (GpuSelection{.numbers = {}, .first = 2}));
  EXPECT_EQ(gpu_selection("3,0"), (GpuSelection{.numbers = {3, 0}}));
}

TEST(GpuSelections, OfOneGpuAreItsNumberUuidOrAddress) {
  EXPECT_EQ(one_gpu("7"), (GpuSelection{.numbers = {7}}));
  for (const char* name : {"GPU-8932f937", "gpu-8", "MIG-41b35014-745a-5c64-8acd-7edbb4e0c5b7", "0000:1a:00.0",
                           "00000000:1A:00.0", "1a:00.0"}) {
    EXPECT_EQ(one_gpu(name), (GpuSelection{.named = name}));
  }
  for (const char* text : {"", "-1", "1.5", "0,1", "all", "H100", "1a:00", "99999999999999999999999"}) {
    const std::string message = message_of<UsageError>([&] { static_cast<void>(one_gpu(text)); });
    EXPECT_TRUE(message.starts_with("--gpu: '" + std::string(text) + "' is no GPU; write its number (0), UUID"))
        << text;
  }
  EXPECT_EQ(message_of<UsageError>([] { static_cast<void>(one_gpu("1024")); }),
            "--gpu: 1024 is too large; the largest is 1023");
}

TEST(GpuSelections, AreNothingElse) {
  for (const char* text : {"", "0", "00", "al", "two", "-1", "1.5", "0,", ",0", "0,0", "0,00", "0+1", "0:3", "0, 1",
                           "0,99999999999", "99999999999999999999999"}) {
    const std::string message = message_of<UsageError>([&] { static_cast<void>(gpu_selection(text)); });
    EXPECT_TRUE(message.starts_with("--gpus: '" + std::string(text) + "' ")) << text << ": " << message;
  }
}

// --- Texts and files ------------------------------------------------------------------------------------------------

TEST(Texts, AreAnythingThatCanBeShown) {
  const Axis option{.name = "option", .kind = AxisKind::text, .example = "-O3"};
  EXPECT_EQ(values<std::string>(option, "-DX=1 -O3,a:b,all"), (Words{"-DX=1 -O3", "a:b", "all"}));
  expect_refused(option, {""}, "a value is missing; write one like -O3");
  expect_refused(option, {"a\nb", "a\x1b[2J"}, "has unprintable characters");
}

TEST(Files, KeepTheirSlashesOutOfKeys) {
  const Axis file{.name = "file", .kind = AxisKind::file, .example = "a.cu"};
  Case c("overlap");
  c.set(file, std::string("dir/50%.cu"));
  EXPECT_EQ(c.key(), "overlap/file=dir%2F50%25.cu");
  EXPECT_EQ(c.word("file"), "dir/50%.cu");
}

// --- Sizes ----------------------------------------------------------------------------------------------------------

TEST(Sizes, AreBytesOrInUnits) {
  const std::vector<std::pair<const char*, std::uint64_t>> sizes{
      {"1", 1},
      {"4096", 4096},
      {"4096B", 4096},
      // Short and IEC units are powers of 1024, SI units powers of 1000; case does not matter.
      {"4K", 4096},
      {"4KiB", 4096},
      {"4kib", 4096},
      {"4k", 4096},
      {"256M", 268435456},
      {"256MiB", 268435456},
      {"1G", 1073741824},
      {"1GiB", 1073741824},
      {"1 GiB", 1073741824},
      {"1T", 1099511627776},
      {"1TiB", 1099511627776},
      {"4KB", 4000},
      {"4kb", 4000},
      {"4Mb", 4000000},
      {"256MB", 256000000},
      {"1GB", 1000000000},
      {"1TB", 1000000000000},
      // Fractions of a unit must be whole bytes.
      {"1.5G", 1610612736},
      {"0.5K", 512},
      {".5K", 512},
      {"2.5KB", 2500},
      {"8.0", 8},
      // None of these factors is exact in a double: 1.001 * 1000 is 1000.9999999999999.
      {"1.001KB", 1001},
      {"4.001MB", 4001000},
      {"16.1MB", 16100000},
      {"4.35GB", 4350000000},
      // 2^53 + 1 is the smallest whole number that a double cannot hold.
      {"9007199254740993", 9007199254740993},
      {"9007199254741K", 9223372036854784},
      {"1152921504606846977", (std::uint64_t{1} << 60) + 1},
      {"9007199254740993KB", 9007199254740993000},
  };
  for (const auto& [text, bytes] : sizes) EXPECT_EQ(parse_size(text), bytes) << text;
}

TEST(Sizes, ThatAreNoneAreRefusedWithTheReason) {
  expect_refused(kSize, {"1.5", "0.3K", "1.0000000001GB"}, "not a whole number of bytes");
  expect_refused(kSize, {"1,5G"}, "'1,5G' may mean 1.5G, or 1 B and 5G; write 1.5G or 1B,5G");
  expect_refused(kSize, {"0,5G", "4K,2,25MiB", "1,5GB,8G"}, " may mean ");
  EXPECT_EQ(values<std::uint64_t>(kSize, "512,4K"), (std::vector<std::uint64_t>{512, 4096})) << "no 512.4K is a size";
  EXPECT_EQ(values<std::uint64_t>(kSize, "1B,5G").size(), 2U);
  expect_refused(kSize, {"0", "0K", "0.0G", "-1", "-4K"}, "is not a positive size");
  expect_refused(kSize, {"K", "abc", "inf", "nan", "-", "+4K", " 4K"}, "is not a size");
  const Texts unknown{"4Q", "4KBs", "4Ki", "4  K", "1e3", "0x10", "4P"};
  expect_refused(kSize, unknown, "unknown unit");
  expect_refused(kSize, {"1K..1G"}, "write a range as 1K:1G");
  expect_refused(kSize, unknown, "KB, MB, GB, TB for powers of 1000");
  expect_refused(kSize, {"16777216T", "9300000000000000000", "99999999999999999999999999", "18446744073709551616"},
                 "too large");
  expect_refused(kSize, {std::string(400, '9').c_str()}, "too large");  // more than a double can hold
  EXPECT_TRUE(mentions(message_of<UsageError>([] { static_cast<void>(parse_size("")); }), "is not a size"));
}

// --- Counts, reals and choices --------------------------------------------------------------------------------------

TEST(Counts, AreWholeNumbersExactWhereDoublesAreNot) {
  EXPECT_EQ(numbers(kCount, "8"), Numbers{8});
  EXPECT_EQ(numbers(kFromZero, "9007199254740993"), Numbers{9007199254740993U});
  expect_refused(kCount, {"1.5", "8K", "eight", "+4", "0x8", " 8", "8 ", "1e9"}, "is not a whole number");
  expect_refused(kCount, {"-4"}, "-4 is too small; the smallest is 1");
  expect_refused(kFromZero, {"-1"}, "-1 is too small; the smallest is 0");
  expect_refused(kCount, {"1e3", "1000.0"}, "has a point or an exponent; write it out: 1000");
}

TEST(Reals, AreDecimalNumbers) {
  EXPECT_EQ(values<double>(kReal, "0.5,2,.25"), (Reals{0.5, 2, 0.25}));
  EXPECT_EQ(values<double>(kReal, "1e-2,5E1,1e3"), (Reals{0.01, 50, 1000}));
  expect_refused(kReal, {"half", "0.5s", "1e", "1e3s", "inf", "nan", "0x1"}, "is not a number");
  expect_refused(kReal, {"1e9", "1e999"}, " is too large; the largest is 1000");
  expect_refused(kReal, {"1e-9", "1e-999", "-1e9", "-1e999"}, " is too small; the smallest is 0.001");
}

TEST(Limits, OfTheAxisAreLegalAndNamedToWhatIsBeyond) {
  EXPECT_EQ(numbers(kCount, "1000000"), Numbers{1000000});
  expect_refused(kCount, {"0", "0:4"}, "0 is too small; the smallest is 1");
  expect_refused(kCount, {"1000001", "1:1000001"}, "1000001 is too large; the largest is 1000000");
  expect_refused(kCount, {"18446744073709551617"}, "18446744073709551617 is too large; the largest is 1000000");
  const Axis size{.name = "size", .kind = AxisKind::size, .min = 4, .max = 1048576};
  expect_refused(size, {"1"}, "1 is too small; the smallest is 4B");
  expect_refused(size, {"2M"}, "2M is too large; the largest is 1MiB");
  expect_refused(kReal, {"0"}, "0 is too small; the smallest is 0.001");
  expect_refused(kReal, {"-1"}, "-1 is too small; the smallest is 0.001");
  expect_refused(kReal, {"1000.5"}, "1000.5 is too large; the largest is 1000");
}

TEST(Choices, AreTakenAsWrittenAndAllStandsForEveryOne) {
  EXPECT_EQ(values<std::string>(kWord, "d2h,h2d"), (Words{"d2h", "h2d"}));
  EXPECT_EQ(values<std::string>(kWord, "all"), (Words{"h2d", "d2h", "bidirectional"}));
  EXPECT_EQ(values<std::string>(kWord, "d2h,all"), (Words{"d2h", "h2d", "bidirectional"}));
}

TEST(Choices, ThatDoNotExistAreRefusedWithAllThatDoAndTheNearest) {
  const std::string why = "is not one of h2d, d2h, bidirectional";
  EXPECT_EQ(error(kWord, "h2f"), "--dir: 'h2f' " + why + "; did you mean 'h2d'?");
  EXPECT_EQ(error(kWord, "sideways"), "--dir: 'sideways' " + why);
  expect_refused(kWord, {"h2d:d2h"}, "'h2d:d2h' " + why);  // words have no ranges
  expect_refused(kWord, {"bidi", "BIDIRECTIONAL"}, why + "; did you mean 'bidirectional'?");
}

// --- Lists ----------------------------------------------------------------------------------------------------------

TEST(Lists, KeepTheirOrderAndEachValueOnce) {
  EXPECT_EQ(numbers(kCount, "4,1,2"), (Numbers{4, 1, 2}));
  EXPECT_EQ(numbers(kSize, "1M,4K,1GB"), (Numbers{1048576, 4096, 1000000000}));
  EXPECT_EQ(numbers(kCount, "2,1,2,1"), (Numbers{2, 1}));
  EXPECT_EQ(numbers(kSize, "1K,1024,1KiB"), Numbers{1024}) << "however it is spelled";
  EXPECT_EQ(numbers(kCount, "4,1:8"), (Numbers{4, 1, 2, 8})) << "across lists and ranges";
  EXPECT_EQ(values<std::string>(kWord, "h2d,h2d"), Words{"h2d"});
}

TEST(Lists, WithAGapAreRefused) {
  expect_refused(kCount, {"", ",", "1,", ",1", "1,,2"}, "a value is missing; write one like 8");
  expect_refused(kCount, {":", "1:", ":8", "::", "1::x2"}, "a value is missing");
  expect_refused(kSize, {""}, "a value is missing; write one like 256M");
  expect_refused(kReal, {""}, "a value is missing; write one like 0.5");
  expect_refused(kWord, {""}, "a value is missing; write one like h2d");
}

// --- Ranges ---------------------------------------------------------------------------------------------------------

TEST(Ranges, OfWholeNumbersDoubleMultiplyOrAdd) {
  struct Range {
    const Axis& axis;
    const char* text;
    Numbers numbers;
  };
  const std::vector<Range> ranges{
      {kCount, "1:16", {1, 2, 4, 8, 16}},
      {kSize, "4K:16K", {4096, 8192, 16384}},
      {kCount, "1:1000:x10", {1, 10, 100, 1000}},
      {kSize, "4K:64M:x16", {4096, 65536, 1048576, 16777216}},
      // 1.5^n is 1, 1.5, 2.25, 3.375, 5.06, 7.59. Each power is rounded, and duplicates are dropped.
      {kCount, "1:8:x1.5", {1, 2, 3, 5, 8}},
      {kCount, "1:4:+1", {1, 2, 3, 4}},
      {kSize, "4K:12K:+4K", {4096, 8192, 12288}},
      {kSize, "1KB:3KB:+1KB", {1000, 2000, 3000}},
      {kFromZero, "0:2:+1", {0, 1, 2}},
      // A range stops before an end that it does not hit.
      {kCount, "1:15", {1, 2, 4, 8}},
      {kCount, "1:10:+4", {1, 5, 9}},
      // One step of 1000 overshoots the end by 4. That is 4e-15 of the value, but must not count as equal.
      {kSize, "999999999999000:999999999999996:+1000", {999999999999000}},
      // The first value is exact, although a double cannot hold it.
      {kSize, "9007199254740993:9007199254740995:+1K", {9007199254740993}},
      {kCount, "8:8", {8}},
      {kFromZero, "0:0", {0}},
  };
  for (const Range& r : ranges) EXPECT_EQ(numbers(r.axis, r.text), r.numbers) << r.text;
}

TEST(Ranges, OfRealsHaveTheValuesThatOneWouldWrite) {
  EXPECT_EQ(values<double>(kReal, "0.5:2"), (Reals{0.5, 1, 2}));
  EXPECT_EQ(values<double>(kReal, "1:1.9:+0.5"), (Reals{1, 1.5}));
  // In doubles 0.1 + 2 * 0.1 is 0.30000000000000004: its key would differ from that of 0.3 in a list.
  EXPECT_EQ(values<double>(kReal, "0.1:0.5:+0.1"), (Reals{0.1, 0.2, 0.3, 0.4, 0.5}));
  EXPECT_EQ(values<double>(kReal, "0.1:0.3:+0.1").size(), 3U) << "the end is reached in spite of rounding";
}

TEST(Ranges, ThatNeverReachTheirEndAreRefused) {
  EXPECT_EQ(error(kCount, "8:4"), "--count: the range 8:4 ends before it begins");
  expect_refused(kSize, {"1G:1M:x2"}, "ends before it begins");
  expect_refused(kCount, {"1:8:x1", "1:8:x0", "1:8:x0.5", "1:8:x-2", "1:8:+0", "1:8:+-1"}, "never reaches its end");
  expect_refused(kSize, {"1K:8K:+0"}, "is not a positive size");
  expect_refused(kFromZero, {"0:16"}, "multiplying 0 in 0:16 never reaches its end; add instead, as in 0:16:+1");
}

TEST(Ranges, WithAStepOfNeitherKindAreRefused) {
  expect_refused(kCount, {"1:8:2", "1:8:*2", "1:8:X2"}, "must begin with x or +");
  expect_refused(kCount, {"1:8:x", "1:8:xtwo"}, "is not a number to step by");
  expect_refused(kCount, {"1:8:+1.5"}, "is not a whole number");
  expect_refused(kCount, {"1:8:", "1:8:+1:+1"}, "");
  expect_refused(kSize, {"1K:8K:+1Q"}, "unknown unit");
}

TEST(Ranges, OfTooManyValuesAreRefused) {
  EXPECT_EQ(numbers(kCount, "1:10000:+1").size(), 10000U);
  EXPECT_EQ(error(kCount, "1:10001:+1"), "--count: more than 10000 values; choose a larger step");
  const Texts over_the_whole_list_or_without_end{"1:10000:+1,20000", "1:2:x1.000000000001"};
  expect_refused(kCount, over_the_whole_list_or_without_end, "more than 10000 values");
  expect_refused(kReal, {"1:1000:+0.0000000000000001"}, "more than 10000 values");
}

// --- Suggestions ----------------------------------------------------------------------------------------------------

TEST(Nearest, FindsASlipOfTheHandOrABeginningAndElseNothing) {
  const Words commands{"overlap", "memcpy", "list", "info"};
  const Words directions{"d2d", "d2h", "h2d"};
  EXPECT_EQ(nearest("overlab", commands), "overlap") << "a wrong letter";
  EXPECT_EQ(nearest("mempcy", commands), "memcpy") << "two swapped";
  EXPECT_EQ(nearest("--szie", Words{"--suite", "--size"}), "--size") << "two swapped are one mistake";
  EXPECT_EQ(nearest("overap", commands), "overlap") << "one missing";
  EXPECT_EQ(nearest("memccpy", commands), "memcpy") << "one too many";
  EXPECT_EQ(nearest("INFO", commands), "info") << "another case";
  EXPECT_EQ(nearest("bi", Words{"bidirectional", "d2h"}), "bidirectional") << "a beginning";
  EXPECT_EQ(nearest("d2hh", directions), "d2h") << "the nearer of two";
  EXPECT_EQ(nearest("hh2d", directions), "h2d");
  for (const char* unlike : {"quux", "bandwidth"}) EXPECT_EQ(nearest(unlike, commands), "");
  EXPECT_EQ(nearest("overlap", {}), "");
  EXPECT_EQ(nearest("mover", Words{"mover", "moves"}), "moves") << "never what was typed";
}

TEST(Suggestion, IsTheEndOfASentenceOrNothing) {
  EXPECT_EQ(suggestion("h2x", Words{"h2d"}), "; did you mean 'h2d'?");
  EXPECT_EQ(suggestion("something", Words{"h2d"}), "");
}

TEST(Printable, HasNoControlCharacters) {
  EXPECT_EQ(printable("NVIDIA H200"), "NVIDIA H200");
  EXPECT_EQ(printable("a\x1b[2J\r\n\x7f"), "a?[2J???");
  EXPECT_EQ(printable("\xC2\x9B"
                      "2J \xC2\xB5s \xC3\xA9"),
            "?2J \xC2\xB5s \xC3\xA9");
  EXPECT_EQ(printable("a\nb\tc", ' '), "a b c");
}

TEST(Times, HaveUnitsAndAreHeldInTheAxisOwn) {
  const Axis seconds{.name = "for", .kind = AxisKind::time, .min = 0.001, .max = 86400};
  const Axis microseconds{.name = "kernel-time", .kind = AxisKind::time, .unit = 1e-6};
  const auto one = [](const Axis& axis, const char* text) {
    return std::get<double>(parse_axis(axis, text, "--for").front());
  };
  for (const auto& [text, value] : std::map<const char*, double>{
           {"1ms", 1e-3}, {"90s", 90}, {"20min", 1200}, {"20m", 1200}, {"8h", 28800}, {"1d", 86400}, {"2.5", 2.5}}) {
    EXPECT_DOUBLE_EQ(one(seconds, text), value) << text;
  }
  EXPECT_DOUBLE_EQ(one(microseconds, "3ms"), 3000);
  EXPECT_DOUBLE_EQ(one(microseconds, "500"), 500);
  EXPECT_EQ(parse_axis(microseconds, "1us:1ms:x10", "--kernel-time").size(), 4U);
  EXPECT_EQ(bound_text(seconds, 86400), "1d");
  EXPECT_EQ(bound_text(microseconds, 1500), "1500us");
}

TEST(Times, AreRefusedInWords) {
  const Axis axis{.name = "for", .kind = AxisKind::time, .min = 0.001, .max = 86400};
  const auto told = [&axis](const char* text) {
    return message_of<UsageError>([&] { static_cast<void>(parse_axis(axis, text, "--for")); });
  };
  for (const char* text : {"1 ms", "10y", "soon"})
    EXPECT_TRUE(mentions(
        told(text), "is not a time; write one like 500ms, with ns, us, ms, s, min, h or d; a number alone is in s"))
        << told(text);
  EXPECT_TRUE(mentions(told("2d"), "2d is too large; the largest is 1d")) << told("2d");
  EXPECT_TRUE(mentions(told("1us"), "1us is too small; the smallest is 1ms")) << told("1us");
}

TEST(Printable, HasNothingThatTurnsTextOrCannotBeSeen) {
  for (const char* hidden : {"\xE2\x80\xAE", "\xE2\x80\xAA", "\xE2\x81\xA6", "\xE2\x81\xA9", "\xE2\x80\x8E",
                             "\xE2\x80\x8F", "\xEF\xBB\xBF", "\xE2\x80\xA8", "\xD8\x9C", "\xF3\xA0\x81\x81"}) {
    EXPECT_EQ(printable(std::string("a") + hidden + "b"), "a?b");
  }
  EXPECT_EQ(printable("\xF0\x9F\x98\x80 \xE2\x82\xAC \xE2\x80\x94"), "\xF0\x9F\x98\x80 \xE2\x82\xAC \xE2\x80\x94");
}

TEST(Printable, HasNoBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\x9B[2J"), "?[2J") << "ESC [ as one byte";
  EXPECT_EQ(printable("\xC0\x9B"), "??") << "longer than need be";
  EXPECT_EQ(printable("\xED\xA0\x80"), "???") << "half of a pair";
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "????") << "beyond the last character";
  EXPECT_EQ(printable("\xE2\x82"), "??") << "cut off";
}

}  // namespace
}  // namespace xferbench::cli
