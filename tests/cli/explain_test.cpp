// `xferbench explain` as users call it: the profiled program keeps its output and exit code, and its recording is
// explained at once or later. A stand-in for a CUDA program writes the recordings, so no GPU is needed.

#include <algorithm>
#include <csignal>
#include <memory>

#include "cli/support.hpp"
#include "support/schema.hpp"

namespace xferbench::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNoLibrary = "the library that profiles CUDA programs is missing";

/// Lines on standard error, without the warning that a build without CUPTI's headers cannot record.
std::vector<std::string> said(const Outcome& outcome) {
  std::vector<std::string> all = outcome.err.empty() ? std::vector<std::string>() : lines(outcome.err);
  std::erase_if(all, [](const std::string& line) { return contains(line, kNoLibrary); });
  return all;
}

constexpr int kNothing = 5;  // exit code where there is nothing to explain

/// The first line of the answer for a program without a recording. A build without CUPTI cannot tell whether the
/// program used a GPU.
std::string nothing_to_explain() {
  const bool watches = fs::exists(fs::path(XFERBENCH_PROGRAM).parent_path() / "libxferbench-inject.so");
  return watches ? "The program used no GPU: there is nothing to explain."
                 : "Nothing was recorded: there is nothing to explain.";
}

class Explain : public testing::Test {
 protected:
  /// The limits of the simulated H200, measured once for all tests.
  static void SetUpTestSuite() {
    shared_ = std::make_unique<TemporaryFolder>();
    expect_success(xferbench({"--suite", "limits", "--simulate", "h200", "--quiet", "--json", limits()}));
  }
  static void TearDownTestSuite() { shared_.reset(); }
  static std::string limits() { return (*shared_ / "limits.json").string(); }

  /// Neither cached limits of this machine nor injection libraries of another tool affect the test.
  [[nodiscard]] Options options() const {
    Options options;
    options.environment = {{"XDG_CACHE_HOME", (folder_ / "cache").string()},
                           {"CUDA_INJECTION64_PATH", std::nullopt},
                           {"NVTX_INJECTION64_PATH", std::nullopt}};
    return options;
  }
  [[nodiscard]] Outcome explain(Arguments arguments, const Arguments& program = {}) const {
    arguments.insert(arguments.begin(), "explain");
    if (!program.empty()) arguments.emplace_back("--");
    arguments.insert(arguments.end(), program.begin(), program.end());
    return xferbench(arguments, options());
  }
  /// Explains a shell script.
  [[nodiscard]] Outcome explain_script(const std::string& script, Arguments arguments = {}) const {
    return explain(std::move(arguments), {"/bin/sh", "-c", script});
  }
  /// Records the stand-in program. Returns the folder of the recording.
  [[nodiscard]] fs::path recorded(Arguments program = {}, Arguments flags = {}) const {
    fs::path folder = folder_ / "recording";
    flags.insert(flags.end(), {"--limits", limits(), "--recording", folder});
    program.insert(program.begin(), XFERBENCH_MADE_PROGRAM);
    const Outcome o = explain(flags, program);
    EXPECT_EQ(o.exit_code, 0) << o.err;
    return folder;
  }
  [[nodiscard]] Json explained(Arguments arguments, const Arguments& program = {}) const {
    const fs::path file = folder_ / "explain.json";
    arguments.insert(arguments.end(), {"--json", file});
    const Outcome o = explain(arguments, program);
    Json said = read_json(file);
    EXPECT_EQ(o.exit_code, said["processes"].empty() ? kNothing : 0) << o.err;
    return said;
  }

  TemporaryFolder folder_;

 private:
  static inline std::unique_ptr<TemporaryFolder> shared_;
};

// --- The profiled program keeps its output and exit code ------------------------------------------------------------

TEST_F(Explain, LeavesTheProgramsOutputAsItIsAndAnswersAfterIt) {
  const Outcome o = explain_script("printf 'out\\n'; printf 'error\\n' >&2", {"--no-bare"});
  EXPECT_EQ(o.exit_code, kNothing);
  EXPECT_TRUE(o.out.starts_with("out\n" + nothing_to_explain())) << o.out;
  EXPECT_EQ(said(o), std::vector<std::string>{"error"});
}

TEST_F(Explain, RunsItOnceUnwatchedAndOnceWatched) {
  const auto after = [](const std::string& lines) { return lines + nothing_to_explain(); };
  EXPECT_TRUE(explain_script("echo here").out.starts_with(after("here\nhere\n"))) << "bare and watched";
  EXPECT_TRUE(explain_script("echo here", {"--no-bare"}).out.starts_with(after("here\n")));
  const Outcome o = explain_script("echo here", {"--runs", "3"});
  EXPECT_TRUE(o.out.starts_with(after("here\nhere\nhere\nhere\nhere\nhere\n"))) << o.out;
}

TEST_F(Explain, SetsVariablesOnlyWhereItWatches) {
  const fs::path seen = folder_ / "seen";
  const std::string script = "env | grep -c '^XFERBENCH_RECORD\\|_INJECTION64_PATH=' >> " + seen.string() + "; true";
  EXPECT_EQ(explain_script(script).exit_code, kNothing);
  const auto counts = lines(read_file(seen));
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts[0], "0") << "unwatched";
  EXPECT_NE(counts[1], "0") << "watched";
}

TEST_F(Explain, HandsEveryWordBehindTheDashesToTheProgram) {
  const fs::path seen = folder_ / "seen";
  const Outcome o = explain({"--no-bare"}, {"/bin/sh", "-c", R"(printf '%s\n' "$@" > )" + seen.string(), "sh", "--json",
                                            "-", "--", "explain", "--quiet", "--no-such-flag", "a b", ""});
  EXPECT_EQ(o.exit_code, kNothing) << o.err;
  EXPECT_EQ(lines(read_file(seen)),
            (std::vector<std::string>{"--json", "-", "--", "explain", "--quiet", "--no-such-flag", "a b", ""}));
}

TEST_F(Explain, LeavesTheProgramNoFilesOfItsOwn) {
  const fs::path seen = folder_ / "seen";
  const Outcome o = explain_script("ls /proc/self/fd | wc -l >> " + seen.string(), {"--json", folder_ / "e.json"});
  EXPECT_EQ(o.exit_code, kNothing) << o.err;
  const Outcome alone = run("/bin/sh", {"-c", "ls /proc/self/fd | wc -l >> " + seen.string()});
  const auto counts = lines(read_file(seen));
  ASSERT_EQ(counts.size(), 3U);
  EXPECT_EQ(counts[0], counts[2]);
  EXPECT_EQ(counts[1], counts[2]);
}

TEST_F(Explain, EndsWellWhateverBecomesOfTheProgram) {
  const Outcome failed = explain_script("exit 3");
  EXPECT_EQ(failed.exit_code, kNothing);
  EXPECT_TRUE(contains(failed.out, "The program ended with exit code 3")) << failed.out;
  const Outcome crashed = explain_script("kill -SEGV $$");
  EXPECT_EQ(crashed.exit_code, kNothing);
  EXPECT_TRUE(contains(crashed.out, "The program was killed by signal 11 (Segmentation fault)")) << crashed.out;
}

TEST_F(Explain, PassesTheExitCodeOnWhereItIsAskedTo) {
  EXPECT_EQ(explain_script("exit 3", {"--exit-code"}).exit_code, 3);
  EXPECT_EQ(explain_script("exit 0", {"--exit-code"}).exit_code, 0);
  EXPECT_EQ(explain_script("kill -SEGV $$", {"--exit-code"}).exit_code, 128 + SIGSEGV);
}

TEST_F(Explain, SaysWhereWatchingChangedTheExitCode) {
  const Outcome o = explain_script("test -z \"$XFERBENCH_RECORD_FOLDER\"");
  EXPECT_EQ(o.exit_code, kNothing);
  EXPECT_TRUE(contains(o.out, "The program ended with exit code 1 when profiled, and with 0 in the baseline run"))
      << o.out;
}

TEST_F(Explain, SaysSoKindlyWhereNoGpuWasUsed) {
  const Outcome o = explain_script("true");
  EXPECT_EQ(o.exit_code, kNothing);
  EXPECT_TRUE(o.out.starts_with(nothing_to_explain() + "\n")) << o.out;
  const Json json = explained({}, {"true"});
  EXPECT_EQ(json["schema"], "xferbench-explain/1");
  EXPECT_EQ(json["processes"], Json::array());
}

TEST_F(Explain, RefusesAProgramThatIsWatchedAlready) {
  Options options = this->options();
  options.environment["CUDA_INJECTION64_PATH"] = "/opt/tool.so";
  expect_refusal(xferbench({"explain", "--", "echo", "here"}, options), 2,
                 "CUDA_INJECTION64_PATH is set (/opt/tool.so): another tool would profile the program");
}

// --- Signals --------------------------------------------------------------------------------------------------------

/// A shell command that creates the file and then sleeps for a minute.
std::string endless(const fs::path& started) { return "echo yes > " + started.string() + "; exec sleep 60"; }

TEST_F(Explain, PassesSignalsOnAndExplainsWhatThereIs) {
  const fs::path started = folder_ / "started";
  Process process(XFERBENCH_PROGRAM, {"explain", "--no-bare", "--", "/bin/sh", "-c", endless(started)}, options());
  ASSERT_TRUE(until_there(started));
  process.send(SIGTERM);
  const Outcome o = process.wait();
  EXPECT_EQ(o.exit_code, kNothing) << o.err;
  EXPECT_TRUE(contains(o.out, "The program was killed by signal 15 (Terminated)")) << o.out;
}

TEST_F(Explain, DoesNotStartAgainWhatItsUserGaveUp) {
  const fs::path started = folder_ / "started";
  Process process(XFERBENCH_PROGRAM, {"explain", "--", "/bin/sh", "-c", endless(started)}, options());
  ASSERT_TRUE(until_there(started));
  process.send(SIGINT);
  const Outcome o = process.wait();
  EXPECT_EQ(o.exit_code, 130);
  EXPECT_EQ(o.out, "");
  ASSERT_EQ(said(o).size(), 1U) << o.err;
  EXPECT_TRUE(contains(said(o)[0], "stopped in the baseline run, before the program was profiled")) << o.err;
  EXPECT_TRUE(contains(said(o)[0], "--no-baseline")) << o.err;
}

TEST_F(Explain, DoesNotHoldTheTimeToWhichItsUserCutAProgramAgainstAWholeOne) {
  const fs::path started = folder_ / "started";
  const std::string script = "test -z \"$XFERBENCH_RECORD_FOLDER\" || { " + endless(started) + "; }";
  const fs::path json = folder_ / "e.json";
  Process process(XFERBENCH_PROGRAM, {"explain", "--json", json, "--", "/bin/sh", "-c", script}, options());
  ASSERT_TRUE(until_there(started));
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, kNothing);
  EXPECT_FALSE(read_json(json)["runs"].contains("bare") && !read_json(json)["runs"]["bare"].empty());
}

// --- The command line -----------------------------------------------------------------------------------------------

TEST_F(Explain, RefusesWhatContradictsItself) {
  const auto refused = [&](const Arguments& arguments, const std::string& message) {
    expect_refusal(xferbench(arguments, options()), 2, message);
  };
  refused({"explain"}, "explain needs a program after --, or a recording");
  refused({"explain", "--"}, "no program after --");
  refused({"explain", "folder", "--", "true"}, "explain takes either a program or a recording, not both");
  refused({"explain", "--runs", "2", "folder"},
          "--runs applies only when a program runs, and folder is a stored recording");
  refused({"explain", "--no-bare", "folder"}, "--no-baseline applies only when a program runs");
  refused({"explain", "--for", "0", "--", "true"}, "--for: 0 is too small");
  refused({"explain", "--from", "-1", "--", "true"}, "--from");
  refused({"explain", "--runs", "0", "--", "true"}, "--runs: 0 is too small");
  refused({"explain", "--max-records", "0", "--", "true"}, "--max-records: 0 is too small");
  refused({"explain", "--no-baseline", "--runs", "2", "--", "true"}, "--runs");
  refused({"explain", "--limits", "a", "--measure-limits", "--", "true"}, "--limits");
  refused({"explain", "--fix", "pageble", "folder"}, "did you mean 'pageable'?");
  refused({"explain", "--mend", "pageble", "folder"}, "--fix: 'pageble' is not one of");  // the older name
  refused({"explain", "--size", "4M", "--", "true"}, "--size");
  refused({"--json", "explain", "--simulate", "--", "true"}, "-- is for explain only, which comes first");
}

TEST_F(Explain, SaysThatAProgramGoesBehindTheDashes) {
  expect_refusal(explain({"/bin/sh"}), 2, "/bin/sh is a program, not a recording: write it after --");
  expect_refusal(explain({"./my_app", "args"}), 2,
                 "explain does not take 'args'; write the program and its arguments after --");
  expect_refusal(explain({"./not-here"}), 2, "there is no folder ./not-here; write a program to run after --");
  write_file(folder_ / "text", "x");
  expect_refusal(explain({folder_ / "text"}), 2, "is not a recording: a recording is a folder");
}

TEST_F(Explain, HelpsWithoutRunningAnything) {
  const Outcome o = explain({"--help"}, {"echo", "here"});
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "xferbench explain [FLAGS] -- PROGRAM [ARGUMENTS]")) << o.out;
  EXPECT_FALSE(contains(o.out, "here\n"));
}

// --- Simulated runs -------------------------------------------------------------------------------------------------

TEST_F(Explain, TellsOfRunsOnTheSimulatedDevice) {
  const Arguments program{XFERBENCH_PROGRAM, "overlap", "--simulate",    "h200", "--strategy", "serial",
                          "--size",          "16M",     "--max-samples", "6",    "--quiet"};
  const Json json = explained({"--limits", limits(), "--no-bare", "--recording", folder_ / "recording"}, program);
  EXPECT_EQ(json["simulated"], true);
  EXPECT_EQ(json["profile"], "h200");
  const Json& process = json["processes"].at(0);
  const double seconds = process["stretch"]["seconds"];
  EXPECT_NEAR(process["stretch"]["replayed"].get<double>(), seconds, 0.01 * seconds);
  EXPECT_EQ(process["findings"].at(0)["kind"], "no-overlap");
  EXPECT_EQ(json["processes"].size(), 1U);
  EXPECT_EQ(explained({folder_ / "recording"})["processes"], json["processes"]) << "read again";
}

TEST_F(Explain, TellsOfARangeOfRunsOnTheSimulatedDevice) {
  const Arguments program{XFERBENCH_PROGRAM, "memcpy",   "--simulate", "h200", "--dir",  "h2d",
                          "--host",          "pageable", "--size",     "64M",  "--quiet"};
  const Json json = explained({"--limits", limits(), "--range", "sample"}, program);
  const Json& process = json["processes"].at(0);
  EXPECT_EQ(process["stretch"]["range"], "sample");
  EXPECT_GT(process["stretch"]["times"], 1);
  EXPECT_EQ(process["findings"].at(0)["kind"], "pageable");
}

// --- Recordings -----------------------------------------------------------------------------------------------------

TEST_F(Explain, TellsWhatWasRecorded) {
  const Json json = explained({"--limits", limits()}, {XFERBENCH_MADE_PROGRAM, "--steps", "30"});
  ASSERT_EQ(json["processes"].size(), 1U);
  const Json& process = json["processes"][0];
  EXPECT_EQ(process["gpus"], Json{"Made GPU"});
  EXPECT_EQ(process["counts"]["copies"], 30);
  EXPECT_EQ(process["traffic"][0]["memory"], "pageable") << process.dump(1);
  EXPECT_EQ(json["runs"]["bare"].size(), 1U);
  EXPECT_EQ(json["runs"]["watched"].size(), 1U);
}

/// --no-bare skips the baseline run: its time depends on the load of this machine, and could change which finding is
/// first.
TEST_F(Explain, TellsTheLargestGainFirst) {
  const Json json = explained({"--limits", limits(), "--no-bare"}, {XFERBENCH_MADE_PROGRAM, "--steps", "30"});
  EXPECT_EQ(json["processes"].at(0)["findings"].at(0)["kind"], "pageable") << json.dump(1);
}

TEST_F(Explain, OfAStoredRecordingSaysTheSame) {
  const fs::path recording = recorded({}, {"--no-bare"});
  for (const char* file : {"run.json", "limits.json"}) EXPECT_TRUE(fs::exists(recording / file)) << file;
  const Outcome first = explain({recording});
  expect_success(first);
  EXPECT_TRUE(contains(first.out, "1. pageable: ")) << first.out;
  EXPECT_TRUE(contains(first.out, "limits of NVIDIA H200, simulated")) << first.out;
  EXPECT_EQ(explain({recording}).out, first.out);
}

TEST_F(Explain, WarnsOfLimitsOfAnotherGpu) {
  const Outcome o = explain({recorded()});
  EXPECT_TRUE(contains(o.out, "The limits were measured on NVIDIA H200 (simulated), but the program ran on Made GPU"))
      << o.out;
}

TEST_F(Explain, KeepsTheRunInTheMiddleOfSeveral) {
  const fs::path recording = recorded({}, {"--runs", "3"});
  const Json run = read_json(recording / "run.json");
  ASSERT_EQ(run["watched"].size(), 3U);
  std::vector<double> times = run["watched"];
  std::ranges::sort(times);
  EXPECT_NEAR(1e-9 * (run["end"].get<double>() - run["begin"].get<double>()), times[1], 1e-6);
  EXPECT_TRUE(fs::exists(recording / (std::to_string(run["pid"].get<int>()) + "-1.xfrec")));
}

TEST_F(Explain, WritesARunThatKeepsToItsSchema) {
  const fs::path run = recorded({"--range", "steps", "--exit-code", "3"}, {"--from", "0.001"}) / "run.json";
  EXPECT_TRUE(keeps_to("recording-run-schema.json", run));
  EXPECT_EQ(read_json(run)["exit_code"], 3);
  EXPECT_EQ(read_json(run)["from"], 0.001);
}

TEST_F(Explain, TakesTheUnwatchedTimeOfTheOnlyChildThatUsedAGpu) {
  const Json json =
      explained({"--limits", limits()},
                {"/bin/sh", "-c", std::string("sleep 0.2; ") + XFERBENCH_MADE_PROGRAM + " --steps 200; true"});
  ASSERT_EQ(json["processes"].size(), 1U);
  const Json& stretch = json["processes"][0]["stretch"];
  ASSERT_TRUE(stretch.contains("bare")) << stretch;
  const double rest = json["runs"]["watched"][0].get<double>() - stretch["seconds"].get<double>();
  EXPECT_GT(rest, 0.2) << "the shell's sleep is no part of it";
  EXPECT_NEAR(stretch["bare"].get<double>(), json["runs"]["bare"][0].get<double>() - rest, 1e-3);
}

TEST_F(Explain, DoesNotTakeWhatWasNotRecordedForThePrograms) {
  const Json whole = explained({"--limits", limits(), "--no-bare"}, {XFERBENCH_MADE_PROGRAM, "--steps", "50"});
  const Json part = explained({"--limits", limits(), "--no-bare"},
                              {"/bin/sh", "-c", std::string("exec ") + XFERBENCH_MADE_PROGRAM + " --steps 50 --full"});
  EXPECT_TRUE(whole["processes"][0].value("ending", "").empty());
  EXPECT_TRUE(contains(part["processes"][0].value("ending", ""), "--max-records"));
  const Json both = explained({"--limits", limits()}, {XFERBENCH_MADE_PROGRAM, "--full"});
  EXPECT_FALSE(both["processes"][0]["stretch"].contains("bare")) << "the whole program's time is not the part's";
}

TEST_F(Explain, OfARangeThatIsNotThereSaysSo) {
  const fs::path recording = recorded({"--range", "steps"});
  EXPECT_EQ(explain({recording, "--range", "steps"}).exit_code, 0);
  expect_refusal(explain({recording, "--range", "stairs"}), 2,
                 "there is no NVTX range 'stairs'; ranges in the recording: steps");
  const Outcome none = explain({"--range", "stairs"}, {"/bin/sh", "-c", "exit 3"});
  EXPECT_EQ(none.exit_code, kNothing) << "no process could have it: " << none.err;
  EXPECT_TRUE(none.out.starts_with(nothing_to_explain())) << none.out;
}

TEST_F(Explain, WritesFilesAndNothingElseWhereOneIsStandardOutput) {
  const fs::path recording = recorded();
  const fs::path timeline = folder_ / "t.json";
  const Outcome o = explain({recording, "--json", "-", "--timeline", timeline, "--markdown", folder_ / "e.md"});
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_EQ(parse_json(o.out)["schema"], "xferbench-explain/1");
  EXPECT_FALSE(read_json(timeline)["traceEvents"].empty());
  EXPECT_FALSE(read_file(folder_ / "e.md").empty());
  const Outcome drawn = explain({recording, "--timeline", "-"});
  EXPECT_FALSE(parse_json(drawn.out)["traceEvents"].empty());
  expect_refusal(explain({recording, "--json", "-", "--timeline", "/dev/stdout"}), 2, "--timeline");
}

TEST_F(Explain, WritesOverNothingThatItReads) {
  const fs::path recording = recorded();
  for (const char* file : {"run.json", "limits.json"}) {
    const std::string before = read_file(recording / file);
    expect_refusal(explain({recording, "--json", recording / file}), 2, "overwrite");
    EXPECT_EQ(read_file(recording / file), before);
  }
  const fs::path own = recording / "explain.json";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(explain({recording, "--json", own}).exit_code, 0) << "which is nobody's input";
  const Outcome again = explain({"--recording", recording}, {"true"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_TRUE(contains(again.err, "the path exists already; name a new folder")) << again.err;
}

TEST_F(Explain, RefusesDamagedRecordings) {
  const fs::path recording = recorded();
  const std::string run = read_file(recording / "run.json");
  write_file(recording / "run.json", run.substr(0, run.size() / 2));
  expect_refusal(explain({recording}), 2, "run.json");
  write_file(recording / "run.json", "{\"schema\": \"xferbench/1\"}");
  expect_refusal(explain({recording}), 2, "expected 'xferbench-recording/1'");
  write_file(recording / "run.json", run);
  const std::string xfrec = std::to_string(parse_json(run)["pid"].get<int>()) + "-1.xfrec";
  const std::string bytes = read_file(recording / xfrec);
  write_file(recording / xfrec, "not a recording at all");
  expect_refusal(explain({recording}), 2, xfrec);
  write_file(recording / xfrec, bytes.substr(0, bytes.size() - 12));
  EXPECT_EQ(explain({recording}).exit_code, 0) << "torn at its end, as of a process that was killed";
  fs::remove(recording / "run.json");
  expect_refusal(explain({recording}), 2, "run.json");
}

TEST_F(Explain, OfAFolderWithoutRecordingsSaysWhatIsMissing) {
  expect_refusal(explain({folder_.path()}), 2, "run.json");
}

TEST_F(Explain, ShowsNoControlCharactersOfWordsAndRecordings) {
  const Outcome o = explain({"--limits", limits(), "--recording", folder_ / "odd"},
                            {XFERBENCH_MADE_PROGRAM, "--odd\x1b[31m\xff", "--range", "r\x1b[0m"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  const Outcome again = explain({folder_ / "odd", "--json", folder_ / "odd.json"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  for (const std::string& text : {o.out, o.err, again.out, again.err}) EXPECT_FALSE(contains(text, "\x1b"));
  EXPECT_TRUE(read_json(folder_ / "odd.json").is_object());
}

// --- What the machine can do ----------------------------------------------------------------------------------------

TEST_F(Explain, TakesLimitsFromASimulationWhereItIsAskedTo) {
  const Outcome o = explain({"--simulate", "h200"}, {XFERBENCH_MADE_PROGRAM});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_TRUE(contains(o.out, "limits of NVIDIA H200, simulated by profile h200")) << o.out;
  EXPECT_EQ(said(o), std::vector<std::string>());
}

TEST_F(Explain, GoesOnWithoutLimitsWhereTheyCannotBeMeasured) {
  Options hidden = options();
  hidden.environment["CUDA_VISIBLE_DEVICES"] = "-1";
  const Outcome o = xferbench({"explain", "--", XFERBENCH_MADE_PROGRAM}, hidden);
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_TRUE(contains(o.err, "measuring the limits of copies on this GPU")) << o.err;
  EXPECT_TRUE(contains(o.out, "The limits of this machine are unknown")) << o.out;
}

TEST_F(Explain, MeasuresOnceAndKeepsIt) {
  // Limits as they would be cached for a GPU with this UUID.
  Json kept = read_json(limits());
  kept["environment"]["gpu"]["uuid"] = "GPU-kept";
  kept["environment"]["gpu"]["name"] = "Made GPU";
  const std::string host = test::run("/bin/uname", {"-n"}).out;
  const fs::path cache = folder_ / "cache" / "xferbench";
  fs::create_directories(cache);
  const fs::path file = cache / ("limits-GPU-kept-" + host.substr(0, host.size() - 1) + ".json");
  write_file(file, kept.dump());
  const Arguments program{XFERBENCH_MADE_PROGRAM, "--uuid", "GPU-kept"};
  const Outcome o = explain({"--no-bare"}, program);  // a baseline run could change the order of findings
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_EQ(said(o), std::vector<std::string>()) << "nothing is measured";
  EXPECT_TRUE(contains(o.out, "1. pageable: ")) << o.out;
  EXPECT_TRUE(contains(explain({"--measure-limits"}, program).err, "measuring the limits of copies on this GPU"));
  EXPECT_EQ(said(explain({}, program)), std::vector<std::string>()) << "what cannot be measured again is still kept";
  kept["started_at"] = "2020-01-01T00:00:00Z";
  write_file(file, kept.dump());
  EXPECT_TRUE(contains(explain({}, program).err, "measuring the limits of copies on this GPU")) << "it is old";
  write_file(file, "{");
  EXPECT_TRUE(contains(explain({}, program).err, "measuring the limits of copies on this GPU")) << "it is damaged";
}

TEST_F(Explain, MeasuresNothingAsOneOfSeveralRanks) {
  Options ranks = options();
  ranks.environment["OMPI_COMM_WORLD_SIZE"] = "2";
  ranks.environment["OMPI_COMM_WORLD_RANK"] = "1";
  const Outcome o = xferbench({"explain", "--", XFERBENCH_MADE_PROGRAM}, ranks);
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_TRUE(contains(o.out, "Several processes at once do not measure the limits of this machine")) << o.out;
  EXPECT_EQ(said(o), std::vector<std::string>());
}

TEST_F(Explain, RefusesLimitsThatAreNone) {
  expect_refusal(explain({"--limits", folder_ / "none.json"}, {"echo", "here"}), 2, "none.json");
  expect_refusal(explain({"--simulate", "h2000"}, {"echo", "here"}), 2, "h2000");
}

}  // namespace
}  // namespace xferbench::test
