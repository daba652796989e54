// The files of a run beside the JSON: CSV and Markdown as a user asks for them.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

TEST(CsvFile, OnStandardOutputIsAllThatIsThere) {
  const Outcome o = xferbench(small_run({"--csv", "-"}));
  expect_success(o);
  const std::vector<std::string> all = lines(o.out);
  ASSERT_GT(all.size(), 5U);
  EXPECT_TRUE(all[0].starts_with("scenario,key,status,reason,kind,name,unit,value,ci95_low,ci95_high,n,")) << all[0];
  for (const std::string& line : all) {
    EXPECT_EQ(std::ranges::count(line, ','), std::ranges::count(all[0], ',')) << line;
    EXPECT_TRUE(&line == &all[0] || contains(line, ",simulated,h200,")) << line;
  }
}

TEST(CsvFile, HasTheNumbersOfTheJson) {
  const TemporaryFolder folder;
  expect_success(xferbench(small_run({"--csv", folder / "r.csv", "--json", folder / "r.json"})));
  const Json result = read_json(folder / "r.json")["results"][0];
  const std::string csv = read_file(folder / "r.csv");
  const std::size_t rows = result["measurements"].size() + result["metrics"].size();
  EXPECT_EQ(lines(csv).size(), rows + 1);
  EXPECT_TRUE(contains(csv, ",metric,bandwidth,GB/s," + result["metrics"]["bandwidth"]["value"].dump() + ","));
}

TEST(MarkdownFile, ShowsTheTableOfTheTerminal) {
  const Outcome o = xferbench(small_run({"--markdown", "-"}));
  expect_success(o);
  EXPECT_TRUE(o.out.starts_with("# xferbench\n\n**SIMULATED by profile h200"));
  EXPECT_TRUE(contains(o.out, "\n## overlap (SIMULATED)\n"));
  EXPECT_TRUE(contains(o.out, "| of limit |")) << o.out;
}

TEST(MarkdownFile, OfTuneShowsWhatWasPredicted) {
  const TemporaryFolder folder;
  const Outcome o = xferbench({"tune", "--simulate", "--size", "1M", "--strategy", "streams", "--streams", "2",
                               "--chunks", "4,8", "--markdown", folder / "r.md", "--csv", folder / "r.csv"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_TRUE(contains(read_file(folder / "r.md"), "| predicted | residual |"));
  EXPECT_TRUE(contains(read_file(folder / "r.csv"), ",metric,predicted,s,"));
}

TEST(Files, AllAtOnceLeaveTheTableWhereItWas) {
  const TemporaryFolder folder;
  const Outcome o =
      xferbench(small_run({"--json", folder / "r.json", "--csv", folder / "r.csv", "--markdown", folder / "r.md",
                           "--html", folder / "r.html", "--timeline", folder / "r.trace"}));
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "SIMULATED by profile"));
  for (const char* name : {"r.json", "r.csv", "r.md", "r.html", "r.trace"})
    EXPECT_NE(read_file(folder / name), "") << name;
  EXPECT_FALSE(std::filesystem::exists(folder / "r.csv.partial"));
}

class SharedFile : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(SharedFile, IsRefused) {
  const auto& [one, other] = GetParam();
  const TemporaryFolder folder;
  const std::string same = folder / "same";
  const std::string detour = folder.path() / "." / "same";
  const std::string both = one + " and " + other;
  expect_refusal(xferbench(small_run({one, "-", other, "-"})), 2, both + " cannot both be standard output");
  expect_refusal(xferbench(small_run({one, "-", other, "/dev/stdout"})), 2, both + " cannot both be standard output");
  expect_refusal(xferbench(small_run({one, same, other, same})), 2, both + " name the same file");
  expect_refusal(xferbench(small_run({one, same, other, detour})), 2, both + " name the same file");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

INSTANTIATE_TEST_SUITE_P(OfEveryTwo, SharedFile,
                         testing::Values(std::pair("--json", "--openmetrics"), std::pair("--csv", "--openmetrics"),
                                         std::pair("--markdown", "--openmetrics"),
                                         std::pair("--timeline", "--openmetrics"), std::pair("--json", "--csv"),
                                         std::pair("--json", "--markdown"), std::pair("--json", "--timeline"),
                                         std::pair("--csv", "--markdown"), std::pair("--csv", "--timeline"),
                                         std::pair("--markdown", "--timeline"), std::pair("--markdown", "--html")));

TEST(NamedPipe, AsOutputThatNobodyReadsCostsNeitherTheRunNorItsTable) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Outcome o = xferbench(small_run({"--json", pipe}));
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_EQ(o.err, "xferbench: cannot write " + pipe + ": nobody reads from this pipe\n");
  EXPECT_EQ(o.out, xferbench(small_run()).out);
  const std::string json = folder / "r.json";
  expect_success(xferbench(small_run({"--json", json, "--quiet"})));
  const Outcome judged = xferbench({"compare", json, json, "--json", pipe});
  EXPECT_EQ(judged.exit_code, 2);
  EXPECT_TRUE(contains(judged.out, "same")) << judged.out;
}

TEST(NamedPipe, AsInputIsRefusedBeforeItIsOpened) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe.json";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const Arguments& arguments :
       {Arguments{"expect", pipe}, Arguments{"check", pipe, "--expect", "h200"},
        Arguments{"--simulate", "--suite", pipe}, Arguments{"info", "--simulate", pipe}, Arguments{"--resume", pipe}}) {
    expect_refusal(xferbench(arguments), 2, pipe + ": it is a named pipe; give an ordinary file");
  }
}

class LostFile : public testing::TestWithParam<std::string> {};

TEST_P(LostFile, BehindAFullDiskDoesNotCostTheTable) {
  const Outcome o = xferbench(small_run({GetParam(), "/dev/full"}));
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_EQ(o.err, "xferbench: cannot write /dev/full: No space left on device\n");
  const std::string table = xferbench(small_run()).out;  // below it --timeline draws what it cannot write
  EXPECT_EQ(o.out.substr(0, table.size()), table);
}

TEST_P(LostFile, OnAFullStandardOutputIsReported) {
  Options options;
  options.out = Sink::file("/dev/full");
  expect_refusal(xferbench(small_run({GetParam(), "-"}), options), 2, "cannot write standard output");
}

TEST_P(LostFile, InAMissingFolderIsRefusedBeforeTheRun) {
  const TemporaryFolder folder;
  expect_refusal(xferbench(small_run({GetParam(), folder / "missing/file"})), 2, "missing/file");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

INSTANTIATE_TEST_SUITE_P(Each, LostFile,
                         testing::Values("--json", "--csv", "--markdown", "--html", "--timeline", "--openmetrics"));

}  // namespace
}  // namespace xferbench::test
