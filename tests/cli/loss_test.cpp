// Failures during a run: cases that cannot run, a lost device, a repeat that fails. Measured cases are kept. Standard
// error, full disks, concurrent writers and kills are tested in tests/reliability/.

#include <csignal>
#include <fstream>
#include <iterator>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

/// Five cases, each with a warning and a progress line.
Arguments talkative_run(const std::filesystem::path& file) {
  return {"memcpy",    "--simulate",    "--dir", "h2d",        "--host", "pinned", "--size",
          "1K:16K:x2", "--max-samples", "6",     "--progress", "plain",  "--json", file};
}

bool has_all_cases(const std::filesystem::path& file, std::size_t cases) {
  const Json json = read_json(file);
  return json["complete"] == true && json["results"].size() == cases;
}

class ResultsOfARun : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "results.json";
};

// --- Cases that did not run -----------------------------------------------------------------------------------------

TEST_F(ResultsOfARun, OfARunThatMeasuredNothingIsNotComplete) {
  const Outcome o = xferbench({"memcpy", "--simulate", "--dir", "h2d", "--host", "managed", "--json", file_.string()});
  EXPECT_EQ(o.exit_code, 5);
  EXPECT_EQ(read_json(file_)["complete"], false);
  EXPECT_EQ(read_json(file_)["results"][0]["status"], "skipped");
}

TEST_F(ResultsOfARun, IsGoneOnWithWhereCasesWereSkippedThoughTheRunCameToItsEnd) {
  ASSERT_EQ(xferbench(talkative_run(file_)).exit_code, 0);
  Json json = read_json(file_);
  json["results"][3] = {{"scenario", "memcpy"},
                        {"key", json["results"][3]["key"]},
                        {"params", json["results"][3]["params"]},
                        {"status", "skipped"},
                        {"reason", "an earlier error destroyed the GPU's context"},
                        {"warnings", Json::array()},
                        {"measurements", Json::array()},
                        {"metrics", Json::object()}};
  ASSERT_EQ(json["complete"], true);
  write_file(file_, json.dump());
  EXPECT_EQ(xferbench({"--resume", file_, "--quiet"}).exit_code, 0);
  EXPECT_EQ(read_json(file_)["results"][3]["status"], "ok");
  EXPECT_TRUE(has_all_cases(file_, 5));
}

// --- Devices --------------------------------------------------------------------------------------------------------

TEST_F(ResultsOfARun, OfALostDeviceKeepsItsExitCodeOnceResumed) {
  EXPECT_EQ(xferbench(talkative_run(file_), with_fault("lose:record:60")).exit_code, 1) << "a case failed";
  EXPECT_EQ(xferbench({"--resume", file_, "--quiet"}).exit_code, 1) << "the case that failed stays as it is";
  const Outcome nothing_left = xferbench({"--resume", file_, "--quiet"});
  EXPECT_EQ(nothing_left.exit_code, 1) << "a script that resumes until all is well must not take it for that";
  EXPECT_TRUE(contains(nothing_left.err, "is complete; 1 of its cases failed")) << nothing_left.err;
}

TEST_F(ResultsOfARun, AreSaidToHaveNoFaultWhereItsCallWasNeverReached) {
  const Outcome o = xferbench(talkative_run(file_), with_fault("lose:record:100000000"));
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_NE(o.err.find("no fault was injected, because there were only "), std::string::npos) << o.err;
}

// The wait policy is restored after a case, outside of any case. Once, a device lost at that moment was noticed only by
// the skipped cases after it, and the exit code was 0.
TEST_F(ResultsOfARun, AreNotAllThereWhereTheDeviceIsLostBetweenCases) {
  const Arguments waits{"latency", "--op",          "wait", "--simulate", "--min-samples",
                        "6",       "--max-samples", "6",    "--json",     file_.string()};
  EXPECT_EQ(xferbench(waits, with_fault("lose:set-wait-policy:2")).exit_code, 1);
  const Json json = read_json(file_);
  EXPECT_EQ(json["complete"], false);
  EXPECT_EQ(json["results"][0]["status"], "ok");
  EXPECT_EQ(json["results"][1]["status"], "skipped");
  EXPECT_EQ(xferbench({"--resume", file_, "--quiet"}).exit_code, 0);
  EXPECT_EQ(read_json(file_)["complete"], true);
}

// --- Repeats --------------------------------------------------------------------------------------------------------

class Repeats : public ResultsOfARun {
 protected:
  Arguments repeat(const char* times, const char* samples = "6") {
    return {"memcpy", "--simulate",    "--dir", "h2d",    "--host",           "pinned",  "--size",
            "1K",     "--repeat",      times,   "--json", folder_ / "r.json", "--quiet", "--max-samples",
            samples,  "--min-samples", samples};
  }
};

TEST_F(Repeats, DoNotTakeFilesOfALongerOneForTheirs) {
  ASSERT_EQ(xferbench(repeat("3")).exit_code, 0);
  expect_refusal(xferbench(repeat("2")), 2, "r-3.json");
  EXPECT_TRUE(has_all_cases(folder_ / "r-1.json", 1)) << "before anything is measured";
}

TEST_F(Repeats, LeaveNoOldFileThatLooksLikeOneOfTheirs) {
  ASSERT_EQ(xferbench(repeat("2")).exit_code, 0);
  Process process(XFERBENCH_PROGRAM, repeat("2", "1000000"));
  ASSERT_TRUE(until([&] { return !std::filesystem::exists(folder_ / "r-2.json"); }));
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 130);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "r-2.json"));
  EXPECT_TRUE(has_all_cases(folder_ / "r-2.json~", 1));
}

/// Child processes, read from /proc (Linux only).
std::vector<pid_t> children_of(pid_t parent) {
  std::ifstream file("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; file >> child;) children.push_back(child);
  return children;
}

/// The state letter of /proc/PID/stat; 'T' is stopped.
char state_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t end = text.rfind(") ");
  return end == std::string::npos ? '?' : text[end + 2];
}

TEST_F(Repeats, StopAndGoOnWithTheirProcesses) {
  Process process(XFERBENCH_PROGRAM, repeat("2", "1000000"));
  std::vector<pid_t> children;
  const auto has_child = [&] { return !(children = children_of(process.pid())).empty(); };
  ASSERT_TRUE(until(has_child));
  ASSERT_TRUE(until([&] { return std::filesystem::exists(folder_ / "r-1.json"); }));
  const auto both_are_stopped = [&] { return state_of(process.pid()) == 'T' && state_of(children[0]) == 'T'; };
  process.send(SIGTSTP);
  EXPECT_TRUE(until(both_are_stopped));
  process.send(SIGCONT);
  EXPECT_TRUE(until([&] { return state_of(children[0]) != 'T' && state_of(process.pid()) != 'T'; }));
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 130);
}

}  // namespace
}  // namespace xferbench::test
