// Quoting of file names in printed commands, so that a shell reads the same names.
#include "core/shell.hpp"

#include <gtest/gtest.h>

namespace xferbench {
namespace {

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
