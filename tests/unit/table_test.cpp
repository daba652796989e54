// Tables that are wider than the terminal.
#include "paper/table.hpp"

#include <gtest/gtest.h>

#include "paper/text.hpp"
#include "paper/writers.hpp"

namespace xferbench {
namespace {

Table of_three_columns() {
  return {.header = {"time", "clock", "case"},
          .last_left = true,
          .least_important = {1},
          .rows = {{.cells = {"1.000 ms", "event", "memcpy/size=1MiB"}, .below = {"worse by at least 4 %"}}}};
}

std::string in_columns(const Table& table, std::size_t columns) {
  return to_terminal(table, Style{.columns = columns});
}

TEST(Table, IsWholeWhereThereIsRoomOrNobodySaysHowMuch) {
  const std::string whole =
      "      time   clock   case\n"
      "  1.000 ms   event   memcpy/size=1MiB\n"
      "      worse by at least 4 %\n";
  EXPECT_EQ(in_columns(of_three_columns(), 0), whole);
  EXPECT_EQ(in_columns(of_three_columns(), 37), whole);
}

TEST(Table, LeavesOutWhatIsLeastImportantAndSaysSo) {
  EXPECT_EQ(in_columns(of_three_columns(), 36),
            "      time   case\n"
            "  1.000 ms   memcpy/size=1MiB\n"
            "      worse by at least 4 %\n"
            "not in 36 columns: clock; --wide\n"
            "  shows all\n");
}

TEST(Table, PutsKeysBeneathTheirRowsRatherThanCutThem) {
  EXPECT_EQ(in_columns(of_three_columns(), 28),
            "      time   clock\n"
            "  1.000 ms   event\n"
            "      memcpy/size=1MiB\n"
            "      worse by at least 4 %\n");
  EXPECT_EQ(in_columns(of_three_columns(), 16),
            "      time\n"
            "  1.000 ms\n"
            "      memcpy/\n"
            "      size=1MiB\n"
            "      worse by\n"
            "      at least\n"
            "      4 %\n"
            "not in\n"
            "  16 columns:\n"
            "  clock; --wide\n"
            "  shows all\n");
}

TEST(Table, KeepsTheColumnsBeforeASentenceAndBreaksTheSentence) {
  const Table grid{
      .header = {"dir", "time", "rate"},
      .left_columns = 1,
      .least_important = {2, 1},
      .rows = {{.cells = {"h2d", "skipped: the simulated device cannot say"}}, {.cells = {"d2h", "1 ms", "2 GB/s"}}}};
  EXPECT_EQ(in_columns(grid, 30),
            "  dir   time     rate\n"
            "  h2d   skipped: the simulated\n"
            "        device cannot say\n"
            "  d2h   1 ms   2 GB/s\n");
  EXPECT_TRUE(in_columns(grid, 20).starts_with("  dir   time     rate\n")) << "what the sentence stands under stays";
}

TEST(Wrapped, BreaksAtBlanksAndNeverWithinAWord) {
  EXPECT_EQ(wrapped("one two three", 0, "- ", "  "), "- one two three\n");
  EXPECT_EQ(wrapped("one two three", 9, "- ", "  "), "- one two\n  three\n");
  EXPECT_EQ(wrapped("incomprehensible", 5, "", ""), "incomprehensible\n");
  EXPECT_EQ(wrapped("", 5, "- ", ""), "- \n");
  EXPECT_EQ(wrapped("alone: xferbench tune --size 4K", 25, "", "  "), "alone: xferbench tune \\\n  --size 4K\n");
}

}  // namespace
}  // namespace xferbench
