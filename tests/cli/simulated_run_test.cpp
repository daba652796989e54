// Whole runs on the simulated device: the table, the results file, skipped cases.

#include <set>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

// --- Tables. Simulated times are the same on every machine, so whole tables are compared. ---------------------------

TEST(Table, OfASingleCase) {
  const Outcome o = xferbench({"--simulate", "h200", "--streams", "8", "--size", "16M"});
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "SIMULATED by profile h200")) << o.out;
  expect_golden("overlap.txt", o.out);
}

TEST(Table, OfASweep) {
  const Outcome o = xferbench({"--simulate", "--size", "16M", "--streams", "1,2,4", "--chunks", "4:16"});
  expect_success(o);
  expect_golden("sweep.txt", o.out);
}

TEST(Table, OfCopies) {
  const Outcome o = xferbench({"memcpy", "--simulate", "--size", "1M,16M"});
  EXPECT_EQ(o.exit_code, 0);
  // Only d2d copies that fit in the L2 cache cause a warning: they do not measure device memory.
  for (const std::string& line : lines(o.err)) EXPECT_TRUE(contains(line, "warning: memcpy/dir=d2d/")) << line;
  expect_golden("memcpy.txt", o.out);
}

TEST(NotVerified, StaysSaidWhereThatPartOfARunWasThatIsResumed) {
  const TemporaryFolder folder;
  ASSERT_EQ(xferbench(small_run({"--json", folder / "r.json"})).exit_code, 0);
  Json part = read_json(folder / "r.json");
  part["complete"] = false;
  part["verified"] = false;
  part["results"] = Json::array();
  write_file(folder / "r.json", part.dump());
  const Outcome o = xferbench({"--resume", folder / "r.json", "--quiet"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_TRUE(contains(o.out, "NOT VERIFIED")) << o.out;
  EXPECT_EQ(read_json(folder / "r.json")["verified"], false);
}

// --- The results file ------------------------------------------------------------------------------------------------

TEST(Json, InAFileComesWithTheTable) {
  const TemporaryFolder folder;
  const Arguments command = small_run({"--json", folder / "results.json"});
  const Outcome o = xferbench(command);
  expect_success(o);
  EXPECT_EQ(o.out, xferbench(small_run()).out) << "--json must not change the table";
  const Json json = read_json(folder / "results.json");
  EXPECT_EQ(json["complete"], true);
  EXPECT_EQ(json["command"].size(), 1 + command.size());
  EXPECT_EQ(json["command"][2], "--size");
  EXPECT_EQ(json["environment"]["backend"], "simulated");
  EXPECT_EQ(json["environment"]["profile"], "h200");
  ASSERT_EQ(json["results"].size(), 1U);
  EXPECT_EQ(json["results"][0]["status"], "ok");
  EXPECT_EQ(json["results"][0]["params"]["size"], 4 << 20);
  EXPECT_GT(json["results"][0]["metrics"]["bandwidth"]["value"], 1.0);
  expect_valid_results(folder / "results.json");
}

TEST(Json, OfEveryKindOfCaseIsValid) {
  const TemporaryFolder folder;
  const Arguments all = {"--simulate",
                         "--size",
                         "16,1M",
                         "overlap",
                         "--kernel",
                         "fma,vector-add,sincos",
                         "--issue",
                         "depth,breadth",
                         "--stream-kind",
                         "nonblocking,blocking,default",
                         "--balance",
                         "1",
                         "memcpy",
                         "--json",
                         folder / "results.json"};
  EXPECT_EQ(xferbench(all).exit_code, 0);
  std::set<std::string> seen;
  const Json json = read_json(folder / "results.json");
  for (const Json& result : json["results"]) seen.insert(result["status"]);
  EXPECT_EQ(seen, (std::set<std::string>{"ok", "skipped"}));
  expect_valid_results(folder / "results.json");
}

// A validator that accepts everything would make the tests above worthless.
TEST(Json, ThatBreaksTheSchemaIsNotAccepted) {
  const std::filesystem::path script = std::filesystem::path(XFERBENCH_SOURCE_DIR) / "scripts" / "validate-results";
  const TemporaryFolder folder;
  Json json = parse_json(xferbench(small_run({"--json", "-"})).out);
  json["results"][0]["status"] = "excellent";
  write_file(folder / "results.json", json.dump());
  const Outcome o = run("/usr/bin/python3", {script.string(), folder / "results.json"});
  EXPECT_EQ(o.exit_code, 1) << o.out << o.err;
  EXPECT_TRUE(contains(o.out + o.err, "status")) << o.out << o.err;
}

// --- Cases -----------------------------------------------------------------------------------------------------------

TEST(Cases, SkippedOnesStandInTheTable) {
  const Outcome o = xferbench({"--simulate", "--size", "16,1M", "--chunks", "8"});
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_TRUE(contains(o.out, "\n  16 B    skipped: --chunks 8 is more than the 4 elements")) << o.out;
}

TEST(Cases, WhatCannotBeSimulatedIsSkippedWithTheReason) {
  const Outcome o = xferbench({"memcpy", "--simulate", "--dir", "h2d", "--host", "managed,pinned"});
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "skipped: the simulator does not model page faults")) << o.out;
}

TEST(DryRun, PrintsTheKeysOfTheResultsFile) {
  const std::vector<std::string> keys = lines(xferbench({"--dry-run", "--size", "1M", "--streams", "1,2"}).out);
  const Json json = parse_json(xferbench({"--simulate", "--size", "1M", "--streams", "1,2", "--json", "-"}).out);
  ASSERT_EQ(json["results"].size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(json["results"][i]["key"], keys[i]);
}

TEST(DryRun, MarksTheCasesThatWouldBeSkipped) {
  const Outcome o = xferbench({"--dry-run", "--size", "16,4K", "--chunks", "8"});
  expect_success(o);
  const std::vector<std::string> keys = lines(o.out);
  ASSERT_EQ(keys.size(), 2U) << o.out;
  EXPECT_TRUE(contains(keys[0], "  (skipped: --chunks 8 is more than the 4 elements")) << keys[0];
  EXPECT_FALSE(contains(keys[1], "skipped")) << keys[1];
}

}  // namespace
}  // namespace xferbench::test
