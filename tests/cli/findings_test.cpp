// Findings below a table: a few by default, all of them with --details.
#include <algorithm>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

/// Counts the findings, lines indented by two blanks, that begin like this.
std::size_t sentences_in(const std::string& out, const std::string& beginning) {
  const auto all = lines(out);
  return static_cast<std::size_t>(
      std::ranges::count_if(all, [&](const std::string& line) { return line.starts_with("  " + beginning); }));
}

Arguments many_kinds_of_memory(Arguments more) {
  Arguments arguments{"memcpy",     "--simulate",    "--host", "all",           "--dir", "h2d,d2h", "--size",
                      "64K,1M,16M", "--max-samples", "6",      "--min-samples", "6",     "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Findings, OfManyKindsOfMemoryAreFewSentencesAndAllWhereAskedFor) {
  const Outcome brief = xferbench(many_kinds_of_memory({}));
  EXPECT_EQ(brief.exit_code, 0);
  EXPECT_EQ(sentences_in(brief.out, "h2d: "), 1U) << brief.out;
  EXPECT_EQ(sentences_in(brief.out, "d2h: "), 1U);
  EXPECT_TRUE(contains(brief.out, " more findings: --details shows them\n"));
  const Outcome all = xferbench(many_kinds_of_memory({"--details"}));
  EXPECT_GT(sentences_in(all.out, "h2d: "), 6U) << all.out;
  EXPECT_FALSE(contains(all.out, "--details"));
}

TEST(Findings, StandInFilesHoweverFewAreShown) {
  const TemporaryFolder folder;
  const Outcome brief = xferbench(many_kinds_of_memory({"--json", folder / "brief.json"}));
  const Outcome all = xferbench(many_kinds_of_memory({"--details", "--json", folder / "all.json"}));
  const Json few = read_json(folder / "brief.json");
  EXPECT_EQ(few["findings"].size(), read_json(folder / "all.json")["findings"].size());
  const auto details = std::ranges::count_if(few["findings"], [](const Json& f) { return f.contains("detail"); });
  EXPECT_GT(details, 6);
}

TEST(Findings, AreNotForRunsThatHaveNone) {
  EXPECT_EQ(xferbench({"--simulate", "--dry-run", "--details"}).exit_code, 2);
  EXPECT_EQ(xferbench({"--simulate", "--repeat", "2", "--json", "r.json", "--details"}).exit_code, 2);
}

TEST(Findings, SayFirstThatPinnedMemoryIsSlowerThanPageable) {
  const TemporaryFolder folder;
  const auto profile = folder / "narrow.json";
  write_file(profile, R"({"schema":"xferbench-profile/1","base":"h200","name":"narrow","set":{"h2d_rate":6e9}})");
  const Outcome o = xferbench({"memcpy", "--dir", "h2d,d2h", "--simulate", profile, "--max-samples", "6"});
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "\nh2d: pinned memory is slower than pageable: 5.999")) << o.out;
  EXPECT_FALSE(contains(o.out, "d2h: pinned memory is slower")) << o.out;
}

TEST(Memcpy, SaysWhatBothDirectionsGainAndFromWhichSizeOnCopiesAreFast) {
  const Outcome both = xferbench({"memcpy", "--dir", "h2d,d2h,bidirectional", "--host", "pinned", "--simulate"});
  EXPECT_TRUE(
      contains(both.out, "both directions at once move 101.4 GB/s, 1.83 times one alone (55.45 GB/s); the link "))
      << both.out;
  const Outcome sizes = xferbench({"memcpy", "--dir", "h2d", "--host", "pinned", "--size", "64K:64M:x4", "--simulate"});
  EXPECT_TRUE(contains(sizes.out, ": 90 % of its best rate, 55.15 GB/s, from 4 MiB on")) << sizes.out;
  EXPECT_FALSE(contains(both.out, "90 % of its best")) << "one size has no best";
}

TEST(CompareSides, RefusesProcessesOfOneRunOnBothSides) {
  const Outcome o = xferbench({"compare", "b-1.json", "b-2.json", "n-1.json"});
  expect_refusal(o, 2, "write compare --base b-*.json --new OTHER-*.json");
  // Two files are two sides, whatever their names are: here only the first cannot be read.
  EXPECT_FALSE(contains(xferbench({"compare", "b-1.json", "b-2.json"}).err, "processes of one run"));
}

TEST(Storage, SimulatedNamesTheSizeOfAFileThatItDoesNotOpen) {
  const TemporaryFolder folder;
  write_file(folder / "weights.bin", std::string(4096, 'x'));
  expect_refusal(xferbench({"storage", "--simulate", "--path", folder / "weights.bin"}), 2, "--path . --size 4096B");
}

TEST(Async, SaysFirstWhichCallsReturnEarly) {
  const Outcome o = xferbench({"async", "--simulate", "--size", "4K,1M"});
  EXPECT_LT(o.out.find("returns early at every size"), o.out.find("complete after")) << o.out;
}

TEST(SkippedCases, OfOneReasonAreOneLine) {
  const Outcome o = xferbench(many_kinds_of_memory({"--markdown", "/dev/stderr"}));
  EXPECT_EQ(sentences_in(o.out, "12 of 84 cases skipped"), 1U) << o.out;
  EXPECT_FALSE(contains(o.out, "  skipped: "));
  EXPECT_TRUE(contains(o.err, "- 12 of 84 cases skipped")) << o.err;
}

}  // namespace
}  // namespace xferbench::test
