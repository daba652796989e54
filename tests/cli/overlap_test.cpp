// Scenario overlap as users call it: --in-place without a value, and the sentence on where the time went.
#include <regex>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

std::string keys_of(Arguments arguments) {
  arguments.emplace_back("--dry-run");
  const Outcome o = xferbench(arguments);
  expect_success(o);
  return o.out;
}

TEST(InPlace, MeansYesWithoutAValueAndTakesOne) {
  for (const auto& [arguments, value] : std::vector<std::pair<Arguments, std::string>>{
           {{"--in-place"}, "yes"},
           {{"--in-place", "--size", "4M"}, "yes"},
           {{"--in-place", "overlap", "--size", "4M"}, "yes"},  // the scenario is not the value
           {{"--in-place", "no"}, "no"},
           {{"--in-place=no"}, "no"}}) {
    const std::string keys = keys_of(arguments);
    EXPECT_TRUE(contains(keys, "/in-place=" + value + "/")) << keys;
    EXPECT_EQ(lines(keys).size(), 1U) << keys;
  }
  EXPECT_FALSE(contains(keys_of({"--size", "4M"}), "in-place")) << "absent unless given";
  EXPECT_EQ(lines(keys_of({"--in-place", "no,yes"})).size(), 2U);
}

// --- Where the time went ---------------------------------------------------------------------------------------------

TEST(Diagnosis, StandsUnderTheTableForTheFastest) {
  const Outcome o = xferbench({"--simulate", "--size", "64M", "--streams", "1,4", "--chunks", "4,32"});
  expect_success(o);
  const std::regex beginning(
      "  streams 4, chunks 32: [0-9.]+ ms makespan = [0-9.]+ ms limit \\(link, both directions at their");
  EXPECT_TRUE(std::regex_search(o.out, beginning)) << o.out;
  EXPECT_GT(o.out.find("  streams 4, chunks 32: "), o.out.find("efficiency, %")) << "under the table";
  for (const std::string& line : lines(o.out)) EXPECT_LE(line.size(), 165U) << line;
}

}  // namespace
}  // namespace xferbench::test
