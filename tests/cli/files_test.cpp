// CSV, Markdown, HTML and timeline files of a run, and errors of every command that writes files.
#include <sys/stat.h>

#include <algorithm>

#include "cli/support.hpp"
#include "support/stored_results.hpp"

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

TEST(MarkdownFile, OfTuneShowsWhatWasPredicted) {
  const TemporaryFolder folder;
  const Outcome o = xferbench({"tune", "--simulate", "--size", "1M", "--strategy", "streams", "--streams", "2",
                               "--chunks", "4,8", "--markdown", folder / "r.md", "--csv", folder / "r.csv"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_TRUE(contains(read_file(folder / "r.md"), "| predicted | residual |"));
  EXPECT_TRUE(contains(read_file(folder / "r.csv"), ",metric,predicted,s,"));
}

TEST(Tune, OfSeveralSizesWritesWhatToChooseForEach) {
  const TemporaryFolder folder;
  const std::string file = folder / "t.json";
  const Outcome o = xferbench({"tune", "scatter", "--simulate", "--size", "4M", "--piece", "4K,64K", "--dir", "h2d",
                               "--way", "calls,kernel", "--json", file, "--quiet"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  std::vector<std::string> chosen;
  const Json written = read_json(file);
  for (const Json& finding : written["findings"]) {
    if (finding["kind"] == "choice") chosen.push_back(finding["labels"]["piece"]);
  }
  EXPECT_EQ(chosen, (std::vector<std::string>{"4KiB", "64KiB"}));
  EXPECT_NE(o.out.find("way by piece: kernel from 4 KiB to 64 KiB"), std::string::npos) << o.out;
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

// --- Every command that writes files --------------------------------------------------------------------------------

/// A command that reads the files IN and OTHER, and its flags that name output files.
struct Writer {
  const char* name;
  Arguments command;
  Arguments flags;
};

class Outputs : public testing::TestWithParam<Writer> {
 protected:
  Outputs() {
    std::filesystem::copy_file(stored_result("h200-memcpy.json"), in_ / "in.json");
    std::filesystem::copy_file(stored_result("h200-memcpy.json"), in_ / "other.json");
    std::filesystem::create_symlink("in.json", in_ / "link.json");
  }
  Outcome with(const Arguments& more, const Options& options = {}) {
    Arguments words = GetParam().command;
    std::ranges::replace(words, "IN", (in_ / "in.json").string());
    std::ranges::replace(words, "OTHER", (in_ / "other.json").string());
    words.insert(words.end(), more.begin(), more.end());
    return xferbench(words, options);
  }

  TemporaryFolder in_;
  TemporaryFolder folder_;
};

TEST_P(Outputs, OfTwoFlagsAreTwoFiles) {
  const Arguments& flags = GetParam().flags;
  const std::string detour = folder_.path() / "." / "same";
  for (std::size_t i = 0; i < flags.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Outcome both = with({flags[j], "-", flags[i], "-"});
      expect_refusal(both, 2, "cannot both be standard output");
      EXPECT_TRUE(contains(both.err, flags[i]) && contains(both.err, flags[j])) << both.err;
      expect_refusal(with({flags[j], "-", flags[i], "/dev/stdout"}), 2, "cannot both be standard output");
      expect_refusal(with({flags[j], folder_ / "same", flags[i], detour}), 2, "name the same file");
    }
  }
  EXPECT_EQ(folder_.count(), 0);
}

TEST_P(Outputs, AreNothingThatIsRead) {
  const std::string before = read_file(in_ / "in.json");
  for (const std::string& flag : GetParam().flags) {
    if (std::ranges::count(GetParam().command, "IN") == 0) continue;
    for (const char* read : {"in.json", "link.json"}) {
      expect_refusal(with({flag, in_ / read}), 2, "which is an input; write to another file");
    }
  }
  EXPECT_EQ(read_file(in_ / "in.json"), before);
}

TEST_P(Outputs, ThatCannotBeWrittenAreReported) {
  Options options;
  options.out = Sink::file("/dev/full");
  for (const std::string& flag : GetParam().flags) {
    expect_refusal(with({flag, folder_ / "missing/file"}), 2, "there is no folder ");
    const Outcome o = with({flag, "-"}, options);
    EXPECT_EQ(o.exit_code, 2) << flag;
    EXPECT_TRUE(contains(o.err, "cannot write standard output")) << flag << o.err;
  }
  EXPECT_EQ(folder_.count(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    OfEach, Outputs,
    testing::Values(
        Writer{"run", small_run(), {"--json", "--csv", "--markdown", "--html", "--timeline", "--openmetrics"}},
        Writer{"check", {"check", "IN", "--expect", "h200"}, {"--json", "--markdown", "--junit", "--openmetrics"}},
        Writer{"compare", {"compare", "IN", "OTHER"}, {"--json", "--markdown"}},
        Writer{"across", {"compare", "--across", "IN", "OTHER"}, {"--json", "--markdown"}},
        Writer{"expect", {"expect", "IN"}, {"-o"}}),
    [](const auto& writer) { return std::string(writer.param.name); });

TEST(NamedPipe, AsOutputThatNobodyReadsCostsNeitherTheRunNorItsTable) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Outcome o = xferbench(small_run({"--json", pipe}));
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_EQ(o.err, "xferbench: cannot write " + pipe + ": no process reads from this pipe\n");
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
  const std::string table = xferbench(small_run()).out;  // --timeline also draws the timeline below the table
  EXPECT_EQ(o.out.substr(0, table.size()), table);
}

INSTANTIATE_TEST_SUITE_P(Each, LostFile,
                         testing::Values("--json", "--csv", "--markdown", "--html", "--timeline", "--openmetrics"));

}  // namespace
}  // namespace xferbench::test
