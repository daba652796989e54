// What goes wrong around a run: nobody is there to be told, a disk is full, others want the same file. Nothing that was
// measured is lost, and no file of anybody else's is.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

/// Five cases that warn, and say something of each.
Arguments talkative_run(const std::filesystem::path& file) {
  return {"memcpy",    "--simulate",    "--dir", "h2d",        "--host", "pinned", "--size",
          "1K:16K:x2", "--max-samples", "6",     "--progress", "plain",  "--json", file};
}

bool has_all_cases(const std::filesystem::path& file, std::size_t cases) {
  const Json json = read_json(file);
  return json["complete"] == true && json["results"].size() == cases;
}

// --- Standard error -------------------------------------------------------------------------------------------------

/// A command line, the exit code it has where all is well with standard error, and a word for the test's name.
struct Spoken {
  const char* name;
  Arguments arguments;
  int exit_code;
};

class NobodyListens : public testing::TestWithParam<Spoken> {
 protected:
  TemporaryFolder folder_;
};

TEST_P(NobodyListens, AndAllIsDoneAllTheSame) {
  const std::filesystem::path file = folder_ / "results.json";
  ASSERT_EQ(xferbench(small_run({"--json", file.string()})).exit_code, 0);
  const std::string before = read_file(file);
  for (const Sink& sink : {Sink::closed(), Sink::file("/dev/full"), Sink::broken_pipe()}) {
    Arguments arguments = GetParam().arguments;
    std::ranges::replace(arguments, "FILE", file.string());
    std::ranges::replace(arguments, "NEW", (folder_ / "new.json").string());
    Options options = without_gpu();
    options.err = sink;
    const Outcome o = xferbench(arguments, options);
    EXPECT_EQ(o.signal, 0);
    EXPECT_EQ(o.exit_code, GetParam().exit_code);
    EXPECT_EQ(read_file(file), before) << "no message went there";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Commands, NobodyListens,
    testing::Values(
        Spoken{"run", {"memcpy", "--simulate", "--size", "1K,2K", "--progress", "plain", "--json", "NEW"}, 0},
        Spoken{"warnings", {"memcpy", "--simulate", "--size", "1K", "--min-samples", "6", "--max-samples", "6"}, 0},
        Spoken{"repeat", {"memcpy", "--simulate", "--size", "1K", "--repeat", "2", "--json", "NEW"}, 0},
        Spoken{"tune", {"tune", "--simulate", "--size", "4M", "--budget", "0.2", "--progress", "plain"}, 0},
        Spoken{"resume", {"--resume", "FILE"}, 0}, Spoken{"compare", {"compare", "FILE", "FILE"}, 0},
        Spoken{"check", {"check", "FILE", "--expect", "h200"}, 2}, Spoken{"list", {"list"}, 0},
        Spoken{"help", {"help"}, 0}, Spoken{"version", {"version"}, 0}, Spoken{"info", {"info"}, 0},
        Spoken{"mistake", {"--nonsense"}, 2}, Spoken{"missing", {"check", "none.json", "--expect", "h200"}, 2},
        Spoken{"NoGpu", {"memcpy"}, 3}),
    [](const auto& spoken) { return std::string(spoken.param.name); });

// Descriptor 2 was free, and the next file that was opened became standard error.
TEST(ClosedStandardError, ReceivesNoMessagesInAFile) {
  const TemporaryFolder folder;
  for (const char* name : {"one.json", "two.json"}) {
    Options options;
    options.err = Sink::closed();
    EXPECT_EQ(xferbench(talkative_run(folder / name), options).exit_code, 0);
    EXPECT_TRUE(has_all_cases(folder / name, 5));
  }
}

class Terminal : public testing::Test {
 protected:
  /// Loses its terminal after its first cases, and the signal that comes with that.
  Outcome run_that_loses_its_terminal(const Arguments& arguments) {
    Options options;
    options.err = Sink::terminal();
    Process process(XFERBENCH_PROGRAM, arguments, options);
    EXPECT_TRUE(process.wait_for_error_text("[5/"));
    process.hang_up();
    process.send(SIGHUP);
    return process.wait();
  }
  static Arguments some_seconds(Arguments more) {
    more.insert(more.end(), {"memcpy", "--simulate", "--dir", "h2d", "--host", "pinned", "--size", "4K:84K:+1K",
                             "--min-samples", "200", "--max-samples", "200", "--ci", "0.001", "--progress", "plain"});
    return more;
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "results.json";
};

TEST_F(Terminal, ThatIsClosedDoesNotEndARunThatWritesAFile) {
  const Outcome o = run_that_loses_its_terminal(some_seconds({"--json", file_}));
  EXPECT_EQ(o.signal == 0 ? 0 : SIGPIPE, o.signal) << "standard output, whose reader is gone, comes last";
  EXPECT_TRUE(has_all_cases(file_, 81));
}

TEST_F(Terminal, ThatIsClosedEndsARunThatNobodyCouldRead) {
  Options options;
  options.err = Sink::terminal();
  Process process(XFERBENCH_PROGRAM, some_seconds({}), options);
  ASSERT_TRUE(process.wait_for_error_text("[5/"));
  process.send(SIGHUP);
  EXPECT_EQ(process.wait().exit_code, 128 + SIGHUP);
}

// --- A disk that is full --------------------------------------------------------------------------------------------

/// What a shell's ulimit -f does to a program; in blocks of 1 KiB.
Outcome with_files_limited_to(int blocks, const Arguments& arguments) {
  Arguments words{"-c", "ulimit -f " + std::to_string(blocks) + "; exec \"$0\" \"$@\"", XFERBENCH_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run("/bin/bash", words);
}

TEST(FullDisk, IsToldAtOnceAndLeavesTheLastStateThatFitted) {
  const TemporaryFolder folder;
  // Each case takes long enough for the file to follow it.
  const Outcome o = with_files_limited_to(
      60, {"memcpy", "--simulate", "--dir", "h2d", "--host", "pinned", "--size", "1K:1M:x2", "--min-samples", "400",
           "--max-samples", "400", "--ci", "0.001", "--progress", "plain", "--json", folder / "results.json"});
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_EQ(o.signal, 0);
  const Json json = read_json(folder / "results.json");
  EXPECT_EQ(json["complete"], false);
  EXPECT_GE(json["results"].size(), 1U);
  const std::vector<std::string> said = lines(o.err);
  const auto first = std::ranges::find_if(said, [](const std::string& line) { return contains(line, "cannot write"); });
  ASSERT_NE(first, said.end()) << o.err;
  EXPECT_TRUE(contains(*first, "the run goes on")) << o.err;
  const auto last = std::ranges::find_if(said, [](const std::string& line) { return line.starts_with("[11/11]"); });
  EXPECT_LT(first, last) << "while cases are still to come\n" << o.err;
  EXPECT_TRUE(contains(said.back(), "cannot write")) << "and once more at the end";
  EXPECT_TRUE(contains(o.out, "1 MiB")) << "the table has all cases";
  const auto entries = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1) << "nothing is left beside the file";
}

// --- Others' files --------------------------------------------------------------------------------------------------

class ResultsOfARun : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "results.json";
};

/// A run of many seconds that writes the file.
Arguments long_run_to(const std::filesystem::path& file) {
  return {"--simulate", "--size", "16M", "--streams", "1:64:+1", "--chunks", "1:64:+1", "--no-verify", "--json", file};
}

void wait_until_it_has_a_case(const std::filesystem::path& file) {
  while (!std::filesystem::exists(file) || read_json(file)["results"].empty())
    ASSERT_FALSE(testing::Test::HasFailure());
}

TEST_F(ResultsOfARun, IsRefusedToASecondWriterBeforeItMeasures) {
  Process first(XFERBENCH_PROGRAM, long_run_to(file_));
  wait_until_it_has_a_case(file_);
  expect_refusal(xferbench(talkative_run(file_)), 2, "another xferbench is writing it");
  expect_refusal(xferbench({"--resume", file_}), 2, "another xferbench is writing it");
  expect_refusal(xferbench({"compare", file_, file_, "--allow-simulated", "--json", file_}), 2, "--json");
  first.send(SIGINT);
  EXPECT_EQ(first.wait().exit_code, 130);
  EXPECT_GT(read_json(file_)["results"].size(), 1U);
}

TEST_F(ResultsOfARun, IsNotEmptiedByARunThatMeasuresNothing) {
  ASSERT_EQ(xferbench(talkative_run(file_)).exit_code, 0);
  const std::string before = read_file(file_);
  Arguments endless = talkative_run(file_);
  endless.insert(endless.end(), {"--min-samples=1000000", "--max-samples=1000000"});
  std::erase(endless, "--max-samples");
  std::erase(endless, "6");
  Process process(XFERBENCH_PROGRAM, endless);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(read_file(file_), before) << "its first case has not ended";
  process.send(SIGKILL);
  process.wait();
  EXPECT_EQ(read_file(file_), before);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "results.json~"));
}

TEST_F(ResultsOfARun, IsKeptWhenTheNextRunTakesItsPlace) {
  ASSERT_EQ(xferbench(talkative_run(file_)).exit_code, 0);
  const std::string before = read_file(file_);
  ASSERT_EQ(xferbench(talkative_run(file_)).exit_code, 0);
  EXPECT_EQ(read_file(folder_ / "results.json~"), before);
  EXPECT_TRUE(has_all_cases(file_, 5));
}

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

/// Samples of each case, by its key.
std::map<std::string, std::size_t> samples_in(const std::filesystem::path& file) {
  std::map<std::string, std::size_t> samples;
  const Json json = read_json(file);
  for (const Json& result : json["results"]) {
    for (const Json& m : result["measurements"]) samples[result["key"]] += m["samples"].size();
  }
  return samples;
}

// Of a run of several turns, a resume once dropped what the turns before had sampled, and was then killed itself.
TEST_F(ResultsOfARun, NeverHasFewerSamplesThanBefore) {
  const Arguments turns{"--simulate", "--size", "2M",    "--streams",     "1,4", "--chunks", "2:64",        "--turns",
                        "3",          "--ci",   "0.001", "--max-samples", "60",  "--json",   file_.string()};
  std::map<std::string, std::size_t> before;
  bool ended = false;
  for (int i = 0; i < 7 && !ended; ++i) {
    const bool first = !std::filesystem::exists(file_);
    Process process(XFERBENCH_PROGRAM, first ? turns : Arguments{"--resume", file_, "--quiet"});
    std::this_thread::sleep_for(std::chrono::milliseconds(40 + 50 * i));
    process.send(SIGKILL);
    ended = process.wait().signal == 0;
    if (!std::filesystem::exists(file_)) continue;
    const auto now = samples_in(file_);
    for (const auto& [key, samples] : before) ASSERT_GE(now.at(key), samples) << key;
    before = now;
  }
  EXPECT_EQ(xferbench(std::filesystem::exists(file_) ? Arguments{"--resume", file_, "--quiet"} : turns).exit_code, 0);
  EXPECT_EQ(read_json(file_)["complete"], true);
}

// --- Devices --------------------------------------------------------------------------------------------------------

TEST_F(ResultsOfARun, IsCompletedByResumeWhereTheDeviceWasLost) {
  const Outcome o = xferbench(talkative_run(file_), with_fault("lose:record:60"));
  EXPECT_EQ(o.exit_code, 1) << "a case failed";
  Json json = read_json(file_);
  EXPECT_EQ(json["complete"], false);
  const auto is = [](const char* status) { return [status](const Json& r) { return r["status"] == status; }; };
  EXPECT_EQ(std::ranges::count_if(json["results"], is("failed")), 1);
  const auto skipped = std::ranges::count_if(json["results"], is("skipped"));
  EXPECT_GE(skipped, 1);
  EXPECT_EQ(xferbench({"--resume", file_, "--quiet"}).exit_code, 1) << "the case that failed stays as it is";
  json = read_json(file_);
  EXPECT_EQ(json["complete"], true);
  EXPECT_EQ(std::ranges::count_if(json["results"], is("skipped")), 0);
  const Outcome nothing_left = xferbench({"--resume", file_, "--quiet"});
  EXPECT_EQ(nothing_left.exit_code, 1) << "a script that resumes until all is well must not take it for that";
  EXPECT_NE(nothing_left.err.find("is complete, and 1 of its cases failed"), std::string::npos) << nothing_left.err;
}

TEST_F(ResultsOfARun, AreSaidToHaveNoFaultWhereItsCallWasNeverReached) {
  const Outcome o = xferbench(talkative_run(file_), with_fault("lose:record:100000000"));
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_NE(o.err.find("no fault was injected, there were only "), std::string::npos) << o.err;
}

// The policy that is set back behind a case is in no case: what failed then was told by those that were skipped, and
// the exit code was 0.
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

// A first Ctrl-C did nothing once where the thread that measures was in a call that did not come back.
TEST_F(ResultsOfARun, IsSavedWhereADeviceHangsAndCtrlCComes) {
  Arguments arguments = talkative_run(file_);
  std::ranges::replace(arguments, "1K:16K:x2", "1K:256K:x2");
  Process process(XFERBENCH_PROGRAM, arguments, with_fault("hang:record:150"));
  wait_until_it_has_a_case(file_);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  process.send(SIGINT);
  const Outcome o = process.wait();
  EXPECT_EQ(o.exit_code, 130);
  EXPECT_TRUE(contains(o.err, "in the middle of a call (record)")) << o.err;
  EXPECT_TRUE(contains(o.out, "1 KiB")) << "the table has what was measured";
  const Json json = read_json(file_);
  EXPECT_EQ(json["complete"], false);
  EXPECT_EQ(json["results"][0]["status"], "ok");
  EXPECT_EQ(json["results"].back()["status"], "skipped");
  EXPECT_EQ(json["results"].back()["reason"], "interrupted before it began");
  const auto met = [](const Json& r) { return r["reason"] == "interrupted before its first samples"; };
  EXPECT_EQ(std::ranges::count_if(json["results"], met), 1) << "the case that was in the call";
  expect_valid_results(file_);
  EXPECT_EQ(xferbench({"--resume", file_, "--quiet"}).exit_code, 0);
  EXPECT_TRUE(has_all_cases(file_, 9));
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
  while (std::filesystem::exists(folder_ / "r-2.json")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 130);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "r-2.json"));
  EXPECT_TRUE(has_all_cases(folder_ / "r-2.json~", 1));
}

/// The processes whose parent this is; of Linux.
std::vector<pid_t> children_of(pid_t parent) {
  std::ifstream file("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; file >> child;) children.push_back(child);
  return children;
}

/// 'T' while it is stopped.
char state_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t end = text.rfind(") ");
  return end == std::string::npos ? '?' : text[end + 2];
}

template <class Condition>
bool comes_true(const Condition& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

TEST_F(Repeats, StopAndGoOnWithTheirProcesses) {
  Process process(XFERBENCH_PROGRAM, repeat("2", "1000000"));
  std::vector<pid_t> children;
  const auto has_child = [&] { return !(children = children_of(process.pid())).empty(); };
  ASSERT_TRUE(comes_true(has_child));
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(folder_ / "r-1.json"); }));
  const auto both_are_stopped = [&] { return state_of(process.pid()) == 'T' && state_of(children[0]) == 'T'; };
  process.send(SIGTSTP);
  EXPECT_TRUE(comes_true(both_are_stopped));
  process.send(SIGCONT);
  EXPECT_TRUE(comes_true([&] { return state_of(children[0]) != 'T' && state_of(process.pid()) != 'T'; }));
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 130);
}

}  // namespace
}  // namespace xferbench::test
