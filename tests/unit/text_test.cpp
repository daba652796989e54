// Small functions of texts: names of kernels, dates, wildcards, words for a shell.
#include <gtest/gtest.h>

#include <string>

#include "core/shell.hpp"
#include "core/wildcards.hpp"
#include "recording/kernel_name.hpp"
#include "results/utc.hpp"

namespace xferbench {
namespace {

TEST(KernelNames, AreThoseInTheSource) {
  EXPECT_EQ(kernel_name("_ZN9xferbench7kernels12_GLOBAL__N_14holdEPVNS0_9GateFlagsEjm"), "hold");
  // Names that nvcc gives to kernels in an anonymous namespace.
  EXPECT_EQ(kernel_name("_ZN9xferbench7kernels39_GLOBAL__N__eebb245b_7_gate_cu_74aecece4holdEPVNS0_9GateFlagsEjm"),
            "hold");
  EXPECT_EQ(kernel_name("_ZN9xferbench7kernels47_GLOBAL__N__49652ea2_14_elementwise_cu_e87d896d11elementwise"
                        "INS1_7FmaStepELb0EEEvPKfS5_Pfmjfb"),
            "elementwise");
  EXPECT_EQ(kernel_name("_Z4fillIfEvPT_m"), "fill");
  EXPECT_EQ(kernel_name("plain"), "plain");
  EXPECT_EQ(kernel_name(nullptr), "kernel");
}

TEST(Utc, ReadsWhatFilesHaveAndWritesItAgain) {
  EXPECT_EQ(parse_utc("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(parse_utc("2026-11-24T11:26:15Z"), 1795519575);
  EXPECT_EQ(utc_text(1795519575), "2026-11-24T11:26:15");
}

TEST(Utc, RefusesWhatIsNoSuchMoment) {
  for (const char* text : {"", "yesterday", "2026-11-24", "2026-11-24T11:26:15", "2026-11-24T11:26:15+01:00",
                           "2026-02-30T00:00:00Z", "2026-11-24T11:26:15Z ", "2026-1-24T11:26:15Z"}) {
    EXPECT_FALSE(parse_utc(text)) << text;
  }
}

TEST(Patterns, MatchTheWholeKey) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("memcpy/*", "memcpy/dir=h2d/size=1KiB"));
  EXPECT_TRUE(matches("*dir=?2?*", "memcpy/dir=h2d/size=1KiB"));
  EXPECT_FALSE(matches("memcpy", "memcpy/dir=h2d"));
  EXPECT_FALSE(matches("?", ""));
  EXPECT_TRUE(matches("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(matches(std::string(2000, '*') + "x", std::string(2000, 'a')));
  std::string stars;
  for (int i = 0; i < 500; ++i) stars += "a*";
  EXPECT_FALSE(matches(stars + "b", std::string(5000, 'a')));
}

TEST(ShellWord, IsAsItIsWhereItCanBeAndElseInQuotes) {
  EXPECT_EQ(shell_word("results.json"), "results.json");
  EXPECT_EQ(shell_word("/a-b/c_d,e=f:g+h@i%.json"), "/a-b/c_d,e=f:g+h@i%.json");
  EXPECT_EQ(shell_word("two words.json"), "'two words.json'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("$(rm x)"), "'$(rm x)'");
  EXPECT_EQ(shell_word("~/x"), "'~/x'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("gr\xC3\xBC\xC3\x9F"
                       "e"),
            "'gr\xC3\xBC\xC3\x9F"
            "e'");
}

TEST(ShellWord, HasNothingThatATerminalWouldObey) {
  EXPECT_EQ(shell_word("a\nb'\x1b"), "$'a\\x0ab\\'\\x1b'");
  EXPECT_EQ(shell_word("\xff"), "$'\\xff'");
}

TEST(ShellWord, IsNeverAFlag) { EXPECT_EQ(shell_word("-x"), "./-x"); }

}  // namespace
}  // namespace xferbench
