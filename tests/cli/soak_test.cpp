// `xferbench soak` on the simulated machine.

#include <csignal>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

/// Copies of 4 MiB: seconds of simulated time take moments to simulate.
Arguments soak(Arguments more) {
  more.insert(more.begin(), {"soak", "--simulate", "--size", "4M"});
  return more;
}

std::vector<Json> documents(const std::filesystem::path& file) {
  std::vector<Json> all;
  for (const std::string& line : lines(read_file(file))) all.push_back(parse_json(line));
  return all;
}

class SoakCommandTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "soak.jsonl";
};

TEST_F(SoakCommandTest, ShowsALineEachIntervalAndAVerdict) {
  const Outcome o = xferbench(soak({"--for", "3s", "--interval", "1s", "--load", "h2d,d2h,kernel"}));
  expect_success(o);
  for (const char* part : {"SIMULATED by profile h200", "for 3 s, one line every 1 s, copies of 4 MiB",
                           "     h2d     d2h  kernel", "\nPASS: complete after 0:00:03\n", "  no wrong bytes\n",
                           "  no rate fell below 90 % of its baseline, the first "}) {
    EXPECT_TRUE(contains(o.out, part)) << part << "\n" << o.out;
  }
  EXPECT_TRUE(contains(o.out, "\n  0:00:01   0 ")) << o.out;
}

TEST_F(SoakCommandTest, TheFileHasALineForEachIntervalAndTheLastSaysAll) {
  expect_success(xferbench(soak({"--for", "3s", "--interval", "1s", "--json", file_})));
  const std::vector<Json> all = documents(file_);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0]["schema"], "xferbench-soak/1");
  EXPECT_EQ(all[0]["settings"]["loads"].size(), 5U);
  EXPECT_EQ(all[1]["end"], "goes-on");
  const Json& last = all.back();
  EXPECT_EQ(last["end"], "complete");
  EXPECT_GE(last["elapsed"], 3.0);
  EXPECT_EQ(last["so_far"]["wrong_bytes"], 0);
  ASSERT_EQ(last["so_far"]["loads"].size(), 5U);
  for (const Json& load : last["so_far"]["loads"]) EXPECT_GT(load["verified"], 0) << load["load"];
}

TEST_F(SoakCommandTest, OneWrongBitAmongTenToTheElevenBytesIsFoundWithItsPlace) {
  // 400 copies of 256 MiB are 1.07e11 bytes.
  const Outcome o =
      xferbench({"soak", "--simulate", "--for", "4s", "--interval", "1s", "--load", "h2d", "--json", file_},
                with_fault("flip:copy:400"));
  EXPECT_EQ(o.exit_code, 1) << o.err;
  EXPECT_TRUE(contains(o.out, "FAIL: 1 wrong byte")) << o.out;
  EXPECT_TRUE(contains(o.out, "1 wrong byte in 1 buffer")) << o.out;
  const Json last = documents(file_).back();
  ASSERT_EQ(last["so_far"]["wrong"].size(), 1U);
  const Json& wrong = last["so_far"]["wrong"][0];
  EXPECT_EQ(wrong["bits"], 1);
  EXPECT_EQ(wrong["gpu"], 0);
  EXPECT_EQ(wrong["memory"], "GPU 0");
  EXPECT_NE(wrong["expected"], wrong["found"]);
  EXPECT_GT(last["so_far"]["loads"][0]["moved"], 1e11);
}

TEST_F(SoakCommandTest, AllGpusAreSoakedAtOnce) {
  expect_success(
      xferbench({"soak", "--simulate", "h200-x2", "--gpus", "all", "--size", "4M", "--for", "1s", "--json", file_}));
  const Json last = documents(file_).back();
  EXPECT_EQ(last["gpus"].size(), 2U);
  EXPECT_EQ(last["so_far"]["loads"].size(), 12U);  // includes p2p copies
}

TEST_F(SoakCommandTest, WritesTheStateForMonitoring) {
  const std::filesystem::path metrics = folder_ / "soak.prom";
  expect_success(xferbench(soak({"--for", "1s", "--quiet", "--openmetrics", metrics})));
  const std::string text = read_file(metrics);
  EXPECT_TRUE(contains(text, "\nxferbench_soak_well 1\n")) << text;
  EXPECT_TRUE(contains(text, "\nxferbench_soak_running 0\n")) << text;
  EXPECT_TRUE(text.ends_with("# EOF\n"));
}

TEST_F(SoakCommandTest, CtrlCGivesTheVerdictSoFarAndTheFileGoesOn) {
  Process process(XFERBENCH_PROGRAM, soak({"--for", "10d", "--interval", "1s", "--load", "h2d", "--json", file_}));
  ASSERT_TRUE(until([&] { return read_file(file_).size() > 5000; })) << "no lines yet";
  process.send(SIGINT);
  const Outcome o = process.wait();
  EXPECT_EQ(o.exit_code, 130);
  EXPECT_TRUE(contains(o.out, "PASS: interrupted after ")) << o.out.substr(o.out.size() - 500);
  const Json before = documents(file_).back();
  EXPECT_EQ(before["end"], "interrupted");
  const double elapsed = before["elapsed"];
  const std::string page = folder_ / "soak.html";
  const Outcome more =
      xferbench({"soak", "--resume", file_, "--for", std::to_string(elapsed + 3) + "s", "--quiet", "--html", page});
  EXPECT_EQ(more.exit_code, 0) << more.err;
  EXPECT_TRUE(contains(more.out, "PASS: complete")) << more.out;
  const Json after = documents(file_).back();
  EXPECT_GE(after["elapsed"], elapsed + 3);
  EXPECT_EQ(after["so_far"]["resumed_at"].size(), 1U);
  EXPECT_GT(after["so_far"]["loads"][0]["moved"], before["so_far"]["loads"][0]["moved"]);
  EXPECT_EQ(read_file(page), xferbench({"report", file_, "--html", "-"}).out) << "from the first interval on";
}

TEST_F(SoakCommandTest, IsGoneOnWithFromItsWholeLinesAfterAKill) {
  for (int time = 0; time < 3; ++time) {
    Process process(XFERBENCH_PROGRAM, time == 0 ? soak({"--for", "10d", "--interval", "0.5s", "--json", file_})
                                                 : Arguments{"soak", "--resume", file_});
    const auto before = read_file(file_).size();
    ASSERT_TRUE(until([&] { return read_file(file_).size() > before + 5000; })) << "no lines yet";
    process.send(SIGKILL);
    static_cast<void>(process.wait());
  }
  // A kill within write() can leave a part of a line, which readers leave out.
  const std::string text = read_file(file_);
  expect_success(xferbench({"report", file_}));
  write_file(file_, text.substr(0, text.rfind('\n') + 1));
  double elapsed = 0;
  const std::vector<Json> all = documents(file_);
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_GT(all[i]["elapsed"], elapsed);
    elapsed = all[i]["elapsed"];
  }
  EXPECT_EQ(all.back()["so_far"]["resumed_at"].size(), 2U);
}

TEST_F(SoakCommandTest, ACompleteOneHasNothingToGoOnWith) {
  expect_success(xferbench(soak({"--for", "1s", "--quiet", "--json", file_})));
  const std::string before = read_file(file_);
  const Outcome o = xferbench({"soak", "--resume", file_, "--markdown", "-"});
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_TRUE(contains(o.err, "is complete; --for with a longer time continues it")) << o.err;
  EXPECT_EQ(o.out, xferbench({"report", file_, "--markdown", "-"}).out);
  EXPECT_EQ(read_file(file_), before);
}

TEST_F(SoakCommandTest, AGpuThatFailedIsNotForgottenWhenItGoesOn) {
  const Outcome o = xferbench(soak({"--for", "2s", "--interval", "1s", "--load", "h2d", "--json", file_}),
                              with_fault("lose:copy:60"));
  EXPECT_EQ(o.exit_code, 1) << o.err;
  EXPECT_TRUE(contains(o.out, "FAIL: 1 failure of a GPU; the GPU failed after ")) << o.out;
  EXPECT_EQ(documents(file_).back()["end"], "lost");
  const Outcome more = xferbench({"soak", "--resume", file_, "--for", "3s"});
  EXPECT_EQ(more.exit_code, 1) << more.err;
  EXPECT_TRUE(contains(more.out, "FAIL: 1 failure of a GPU; complete")) << more.out;
  EXPECT_TRUE(contains(more.out, "  a GPU failed at ")) << more.out;
  EXPECT_EQ(xferbench({"soak", "--resume", file_}).exit_code, 1);  // already complete
}

TEST_F(SoakCommandTest, AGpuThatDoesNotAnswerIsNotWell) {
  const std::filesystem::path metrics = folder_ / "soak.prom";
  const Outcome o =
      xferbench(soak({"--for", "10d", "--interval", "1s", "--load", "h2d", "--json", file_, "--openmetrics", metrics}),
                with_fault("hang:synchronize-stream:500"));
  EXPECT_EQ(o.exit_code, 6) << o.err;
  EXPECT_TRUE(contains(o.out, "FAIL: 1 failure of a GPU; ended some time after ")) << o.out;
  EXPECT_EQ(documents(file_).back()["end"], "stuck");
  EXPECT_TRUE(contains(read_file(metrics), "\nxferbench_soak_well 0\n"));
  EXPECT_TRUE(contains(read_file(metrics), "\nxferbench_soak_running 0\n"));
}

TEST_F(SoakCommandTest, AMistakeInTheCommandLeavesTheFileAsItIs) {
  write_file(file_, "days\n");
  expect_refusal(xferbench({"soak", "--simulate", "--size", "100G", "--json", file_}), 2, "choose a smaller --size");
  EXPECT_EQ(read_file(file_), "days\n");
}

TEST_F(SoakCommandTest, GoesOnWithoutATableWhereTheFileIsThere) {
  Options options;
  options.out = Sink::file("/dev/full");
  const Outcome o = xferbench(soak({"--for", "2s", "--interval", "1s", "--load", "h2d", "--json", file_}), options);
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_TRUE(contains(o.err, "cannot write standard output")) << o.err;
  EXPECT_EQ(documents(file_).back()["end"], "complete");
}

TEST_F(SoakCommandTest, TellsThatItsFileWasDeletedAndKeepsItsLines) {
  Process process(XFERBENCH_PROGRAM, soak({"--for", "10d", "--interval", "1s", "--load", "h2d", "--json", file_}));
  ASSERT_TRUE(until([&] { return read_file(file_).size() > 5000; })) << "no lines yet";
  std::filesystem::remove(file_);
  ASSERT_TRUE(process.wait_for_error_text("soak.jsonl was deleted by another program"));
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 2);
  const std::vector<Json> all = documents(file_);
  ASSERT_GT(all.size(), 2U);
  EXPECT_EQ(all.front()["schema"], "xferbench-soak/1");
  EXPECT_EQ(all.back()["end"], "interrupted");
}

TEST_F(SoakCommandTest, RefusesStoredSettingsThatFlagsCouldNotHave) {
  expect_success(xferbench(soak({"--for", "1s", "--quiet", "--json", file_})));
  std::vector<Json> all = documents(file_);
  const auto stored_with = [&](const char* setting, const Json& value) {
    Json header = all.front();
    header["settings"][setting] = value;
    write_file(file_, header.dump() + "\n" + all.back().dump() + "\n");
    return xferbench({"soak", "--resume", file_, "--for", "2s"});
  };
  expect_refusal(stored_with("size", 1), 2, "its settings are invalid: --size");
  expect_refusal(stored_with("size", 5000), 2, "not a multiple of 4 KiB");
  expect_refusal(stored_with("loads", Json::array()), 2, "--load");
  expect_refusal(stored_with("loads", {"h2d", "p2p"}), 2, "--load p2p needs at least two GPUs");
  expect_refusal(stored_with("floor", 0), 2, "--floor");
  expect_refusal(stored_with("interval", 0), 2, "--interval");
}

TEST_F(SoakCommandTest, GoesOnWithTheMetricsOfTheCommandThatBeganIt) {
  const std::filesystem::path metrics = folder_ / "soak.prom";
  expect_success(xferbench(soak({"--for", "1s", "--quiet", "--json", file_, "--openmetrics", metrics})));
  std::filesystem::remove(metrics);
  expect_success(xferbench({"soak", "--resume", file_, "--for", "2s", "--quiet"}));
  EXPECT_TRUE(contains(read_file(metrics), "\nxferbench_soak_running 0\n"));
}

TEST_F(SoakCommandTest, ADryRunSaysWhatWouldBeDone) {
  const Outcome o = xferbench({"soak", "--for", "8h", "--interval", "5m", "--load", "h2d,both", "--dry-run"});
  expect_success(o);
  EXPECT_EQ(o.out, "for 8 h, one line every 5 min, copies of 256 MiB: h2d, both\n");
  const Outcome all = xferbench({"soak", "--load", "all", "--dry-run"});
  EXPECT_TRUE(contains(all.out, ": all loads that this machine supports\n")) << all.out << all.err;
}

TEST_F(SoakCommandTest, SaysWhatIsWrongWithTheCommand) {
  expect_refusal(xferbench(soak({"--for", "soon"})), 2, "--for: 'soon' is not a time");
  expect_refusal(xferbench(soak({"--for", "0s"})), 2, "--for: 0s is too small");
  expect_refusal(xferbench(soak({"--floor", "101%"})), 2, "--floor: '101%' is not a percentage");
  expect_refusal(xferbench(soak({"--load", "h2d,hd2"})), 2, "'hd2' is not one of");
  expect_refusal(xferbench(soak({"--load", "p2p"})), 2, "--load p2p needs at least two GPUs");
  expect_refusal(xferbench({"soak", "--simulate", "--size", "5000"}), 2, "not a multiple of 4 KiB");
  expect_refusal(xferbench({"soak", "--simulate", "--size", "100G"}), 2, "choose a smaller --size");
  expect_refusal(xferbench(soak({"--json", "-", "--openmetrics", "-"})), 2, "cannot both be standard output");
  expect_refusal(xferbench({"soak", "--resume", folder_ / "none"}), 2, "there is no file");
}

TEST_F(SoakCommandTest, GoesOnWithASoakOnly) {
  write_file(file_, "{\"schema\": \"xferbench/1\"}\n");
  const std::string before = read_file(file_);
  expect_refusal(xferbench({"soak", "--resume", file_}), 2, "xferbench-soak/1");
  EXPECT_EQ(read_file(file_), before);
  expect_refusal(xferbench({"soak", "--resume", file_, "--load", "h2d"}), 2, "leave --load out");
}

}  // namespace
}  // namespace xferbench::test
