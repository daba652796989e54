// `xferbench report`, --html pages of other commands, and files compressed with xz.

#include <fstream>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

class ReportCommandTest : public testing::Test {
 protected:
  void SetUp() override { table_ = xferbench(small_run({"--json", file("r.json")})).out; }

  [[nodiscard]] std::string file(const std::string& name) const { return folder_ / name; }
  /// Compresses the file with xz. Returns the new path.
  [[nodiscard]] std::string packed(const std::string& name) const {
    EXPECT_EQ(run("/usr/bin/env", {"xz", "-k", file(name)}).exit_code, 0);
    return file(name) + ".xz";
  }

  TemporaryFolder folder_;
  std::string table_;
};

void expect_page(const std::string& page, const std::string& part) {
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>\n")) << page.substr(0, 100);
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_TRUE(contains(page, part)) << part;
}

TEST_F(ReportCommandTest, ShowsARunAsTheRunDidAndAsItsPage) {
  EXPECT_EQ(xferbench({"report", file("r.json")}).out, table_);
  const Outcome o = xferbench({"report", file("r.json"), "--html", file("r.html"), "--markdown", file("r.md")});
  expect_success(o);
  EXPECT_EQ(o.out, table_);
  EXPECT_TRUE(contains(read_file(file("r.html")), "aria-label=Warning>SIMULATED</div>"));
  expect_page(read_file(file("r.html")), "<h2 id=\"part-1\">overlap <span class=mark>SIMULATED</span></h2>");
  expect_success(
      xferbench(small_run({"--json", file("2.json"), "--html", file("run.html"), "--markdown", file("run.md")})));
  expect_success(xferbench({"report", file("2.json"), "--html", file("2.html"), "--markdown", file("2.md")}));
  EXPECT_EQ(read_file(file("2.html")), read_file(file("run.html"))) << "what is stored is all that is shown";
  EXPECT_EQ(read_file(file("2.md")), read_file(file("run.md")));
  const Outcome page = xferbench({"report", file("r.json"), "--html", "-"});
  expect_success(page);
  EXPECT_EQ(page.out, read_file(file("r.html")));
}

TEST_F(ReportCommandTest, ShowsWhatChangedBetweenTwoFilesAndMoreSideBySide) {
  const std::string r = file("r.json");
  const Outcome two = xferbench({"report", r, r, "--html", "-"});
  EXPECT_EQ(two.exit_code, 0) << two.err;
  expect_page(two.out, "<h1>xferbench: 1 same</h1>");
  const Outcome three = xferbench({"report", r, r, r, "--html", "-"});
  EXPECT_EQ(three.exit_code, 0) << three.err;
  expect_page(three.out, "<h1>xferbench: side by side</h1>");
}

TEST_F(ReportCommandTest, TakesProcessesOfOneRunTogether) {
  for (const char* name : {"a-1.json", "a-2.json", "b-1.json", "b-2.json"}) {
    std::filesystem::copy_file(file("r.json"), file(name));
  }
  const std::string a1 = file("a-1.json");
  const std::string a2 = file("a-2.json");
  const Outcome run = xferbench({"report", a1, a2});
  expect_success(run);
  EXPECT_TRUE(contains(run.out, "medians of " + a1 + " to a-2.json (2 processes)")) << run.out;
  const Outcome two = xferbench({"report", a1, a2, file("b-1.json"), file("b-2.json")});
  EXPECT_TRUE(contains(two.out, "  2, 2  ")) << two.out;
  const Outcome sides = xferbench({"report", "--base", a1, a2, "--new", file("b-1.json"), file("b-2.json")});
  EXPECT_EQ(sides.exit_code, 0) << sides.err;
  EXPECT_EQ(sides.out, two.out);
  expect_refusal(xferbench({"report", "--base", a1}), 2, "--base requires --new");
  expect_refusal(xferbench({"report", a1, "--base", a2, "--new", a1}), 2, "belongs to neither side");
  expect_refusal(xferbench({"report", "--base", a1, a1, "--new", a2}), 2, "is given twice on one side");
}

/// Of the same numbers in each of them, the findings are as of one; but for what has no interval.
TEST_F(ReportCommandTest, ConcludesFromTheMediansOfAllProcesses) {
  const Arguments run{"memcpy",    "--simulate", "h200",     "--dir", "h2d",    "--size",
                      "4K,1M,64M", "--quiet",    "--repeat", "2",     "--json", file("m.json")};
  expect_success(xferbench(run));
  const Outcome both = xferbench({"report", file("m-1.json"), file("m-2.json"), "--markdown", "-"});
  expect_success(both);
  EXPECT_TRUE(contains(both.out, "Fits: time = latency + size / rate")) << both.out;
  EXPECT_FALSE(contains(both.out, "findings of process 1"));
  EXPECT_FALSE(contains(xferbench({"report", file("m-1.json"), file("m-2.json"), "--html", "-"}).out, "--process"));
}

TEST_F(ReportCommandTest, ShowsHowNumbersOfOneMachineWent) {
  Arguments arguments{"report", "--html", file("t.html"), "--trend"};
  for (const char* name : {"a.json", "b.json", "c.json", "d.json"}) {
    std::filesystem::copy_file(file("r.json"), file(name));
    arguments.push_back(file(name));
  }
  expect_refusal(xferbench(arguments), 2, "a trend needs at least 5 runs, but there are 4");
  EXPECT_FALSE(std::filesystem::exists(file("t.html")));
  arguments.push_back(file("r.json"));
  const Outcome o = xferbench(arguments);
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "too few runs: 1 case over 5 runs")) << o.out;
  expect_page(read_file(file("t.html")), "<h1>xferbench: trend of 5 runs</h1>");
  EXPECT_TRUE(contains(read_file(file("t.html")), "aria-label=Warning>SIMULATED</div>"));
  expect_success(xferbench({"memcpy", "--simulate", "h100", "--size", "1M", "--quiet", "--json", file("e.json")}));
  expect_refusal(xferbench({"report", "--trend", file("a.json"), file("e.json")}), 2,
                 "a trend needs one machine: pass the files of each machine separately");
  expect_refusal(xferbench({"report", "--trend", file("a.json"), "--base", file("b.json"), "--new", file("c.json")}), 2,
                 "--trend compares all runs with each other");
}

TEST_F(ReportCommandTest, ShowsASoak) {
  expect_success(xferbench({"soak", "--simulate", "--size", "4M", "--for", "2s", "--json", file("s.jsonl")}));
  const Outcome o = xferbench({"report", file("s.jsonl"), "--html", file("s.html")});
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "PASS: complete after")) << o.out;
  expect_page(read_file(file("s.html")), "PASS: complete after");
  EXPECT_EQ(xferbench({"report", packed("s.jsonl")}).out, o.out);
  expect_refusal(xferbench({"report", file("s.jsonl"), file("r.json")}), 2, "is a soak, which must be given alone");
}

TEST_F(ReportCommandTest, DrawsTimelinesAloneAndBesideResults) {
  const Arguments run = small_run({"--timeline", file("t.json"), "--html", file("run.html")});
  expect_success(xferbench(run));
  expect_page(read_file(file("run.html")), "<figcaption>Timeline: overlap/");
  const Outcome alone = xferbench({"report", file("t.json"), "--html", file("t.html")});
  expect_success(alone);
  EXPECT_TRUE(contains(alone.out, "timeline of overlap/")) << alone.out;
  expect_page(read_file(file("t.html")), "aria-label=Warning>SIMULATED</div>");
  const Outcome beside = xferbench({"report", file("r.json"), packed("t.json"), "--html", file("b.html")});
  expect_success(beside);
  EXPECT_TRUE(beside.out.starts_with(table_)) << beside.out;
  expect_page(read_file(file("b.html")), "<figcaption>overlap/");
}

TEST_F(ReportCommandTest, ShowsAnExplanation) {
  const std::string stored = XFERBENCH_SOURCE_DIR "/tests/unit/golden/explain/torch.json";
  const Outcome o = xferbench({"report", stored, "--html", file("e.html")});
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "Transfers take")) << o.out;
  expect_page(read_file(file("e.html")), "<figcaption>Where the time went</figcaption>");
  expect_refusal(xferbench({"report", stored, file("r.json")}), 2, "is an explanation, which must be given alone");
}

TEST_F(ReportCommandTest, SaysWhichFilesItUnderstands) {
  const std::string r = file("r.json");
  EXPECT_EQ(xferbench({"compare", r, r, "--json", file("c.json")}).exit_code, 0);
  expect_refusal(xferbench({"report", file("c.json")}), 2,
                 "c.json is 'xferbench-compare/1'; report shows results (--json of a run) and timelines");
  std::filesystem::copy_file("/bin/true", file("true"));
  expect_refusal(xferbench({"report", file("true")}), 2, "is not a file written by xferbench");
  expect_refusal(xferbench({"report"}), 2, "report needs a file of results");
  expect_refusal(xferbench({"report", file("missing.json")}), 2, "cannot read");
  expect_refusal(xferbench({"report", r, "--html", r}), 2, "which is an input; write to another file");
  expect_refusal(xferbench({"report", r, "--html", "-", "--markdown", "-"}), 2, "cannot both be standard output");
}

TEST_F(ReportCommandTest, ReadsFilesThatArePackedWherePackedOnesMakeSense) {
  const std::string r = file("r.json");
  const std::string xz = packed("r.json");
  EXPECT_EQ(xferbench({"report", xz}).out, table_);
  EXPECT_EQ(xferbench({"compare", xz, r, "--json", "-"}).exit_code, 0);
  const Outcome checked = xferbench({"check", xz, "--expect", "h200", "--allow-simulated"});
  EXPECT_TRUE(contains(checked.out, "0 passed, 0 failed, 21 not measured")) << checked.err;
  expect_refusal(xferbench({"--resume", xz}), 2, "is compressed");
}

TEST_F(ReportCommandTest, RefusesPackedFilesThatAreDamagedOrBombsAndSaysWhereXzIsMissing) {
  const std::string xz = packed("r.json");
  Options without_xz;
  without_xz.environment["PATH"] = "/nowhere";
  expect_refusal(xferbench({"report", xz}, without_xz), 2, "but xz is not installed: install xz-utils");
  std::filesystem::resize_file(xz, std::filesystem::file_size(xz) / 2);
  for (const char* command : {"report", "expect"}) {
    expect_refusal(xferbench({command, xz}), 2, "xz cannot unpack it: it is damaged or truncated");
  }
  { const std::ofstream bomb(file("b.json")); }
  std::filesystem::resize_file(file("b.json"), std::uintmax_t{100} << 20);
  expect_refusal(xferbench({"report", packed("b.json")}), 2, "unpack to more than 64 MiB");
}

TEST_F(ReportCommandTest, EveryCommandWithTablesHasAPage) {
  const std::string r = file("r.json");
  const std::string page = file("p.html");
  const auto writes = [&](Arguments arguments, const std::string& part) {
    arguments.insert(arguments.end(), {"--html", page});
    const Outcome o = xferbench(arguments);
    EXPECT_NE(o.exit_code, 2) << o.err;
    expect_page(read_file(page), part);
  };
  writes({"compare", r, r}, "<h1>xferbench: 1 same</h1>");
  writes({"compare", "--across", r, r}, "<h1>xferbench: side by side</h1>");
  writes({"check", r, "--expect", "h200", "--allow-simulated"}, "<h1>xferbench check</h1>");
  writes({"validate", r, "--simulate", "h200", "--allow-simulated"}, "median error");
  writes({"tune", "--simulate", "--size", "1M", "--strategy", "streams", "--streams", "2", "--chunks", "4,8"},
         ">residual</th>");
}

}  // namespace
}  // namespace xferbench::test
