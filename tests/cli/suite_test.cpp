// Suites, --turns, --repeat and --progress, as users call them.

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

class Suites : public testing::Test {
 protected:
  std::filesystem::path suite(const std::string& fields) {
    const std::filesystem::path file = folder_ / "own.json";
    write_file(file, R"({"schema": "xferbench-suite/1", "description": "a test", )" + fields + "}");
    return file;
  }

  TemporaryFolder folder_;
};

const char* const kTwoRuns =
    R"("sampling": {"ci": 5, "max-samples": 24}, "runs": ["memcpy --dir h2d --size 1M,2M", "latency --op launch --max-samples 12"])";

TEST_F(Suites, RunsTheCasesOfAllItsCommandLines) {
  const std::filesystem::path json = folder_ / "r.json";
  const Outcome o = xferbench({"--suite", suite(kTwoRuns), "--simulate", "--json", json, "--quiet"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const Json results = read_json(json)["results"];
  ASSERT_EQ(results.size(), 5U);  // pinned and pageable memory
  EXPECT_EQ(results[0]["scenario"], "memcpy");
  EXPECT_EQ(results[4]["key"], "latency/op=launch");
  EXPECT_EQ(results[4]["measurements"][0]["n"], 12) << "a run's own flags stand above the suite's";
  EXPECT_LE(results[0]["measurements"][0]["n"], 24);
  expect_valid_results(json);
}

TEST_F(Suites, TheCommandLineStandsAboveWhatASuiteSaysOfSampling) {
  const std::filesystem::path json = folder_ / "r.json";
  const Outcome o = xferbench(
      {"--suite", suite(kTwoRuns), "--simulate", "--json", json, "--quiet", "--max-samples", "7", "--ci", "0.001"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const Json whole = read_json(json);
  for (const Json& r : whole["results"]) EXPECT_EQ(r["measurements"][0]["n"], 7) << r["key"];
}

TEST_F(Suites, OfSeveralProcessesWriteOneFileThatIsComparedAsSeveral) {
  const auto run = [this](const char* json) {
    const Outcome o =
        xferbench({"--suite", suite(R"("processes": 3, "runs": ["memcpy --dir h2d --size 1M,2M --host pinned"])"),
                   "--simulate", "--json", folder_ / json, "--max-samples", "8"});
    ASSERT_EQ(o.exit_code, 0) << o.err;
    EXPECT_TRUE(contains(o.out, "medians of 3 processes")) << o.out;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "base.json.process-1")) << "put together";
    expect_valid_results(folder_ / json);
  };
  run("base.json");
  const Json file = read_json(folder_ / "base.json");
  EXPECT_EQ(file["command"][1], "--suite") << "as it was typed";
  EXPECT_EQ(file["results"].size(), 2U);
  ASSERT_EQ(file["further_processes"].size(), 2U);
  for (const Json& process : file["further_processes"]) EXPECT_EQ(process["results"].size(), 2U);
  EXPECT_TRUE(contains(xferbench({"report", folder_ / "base.json"}).out, "base.json (3 processes)"));
  run("new.json");
  const Outcome compared =
      xferbench({"compare", folder_ / "base.json", folder_ / "new.json", "--json", "-", "--quiet"});
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  for (const Json& row : parse_json(compared.out)["cases"]) {
    EXPECT_EQ(row["base"]["n"], 3) << row;
    EXPECT_EQ(row["new"]["n"], 3) << row;
  }
}

TEST_F(Suites, OfSeveralProcessesWriteTheOtherFilesFromTheirMedians) {
  const std::string several = suite(R"("processes": 3, "runs": ["memcpy --dir h2d --size 1M --host pinned"])");
  const Outcome o = xferbench({"--suite", several, "--simulate", "--json", folder_ / "r.json", "--csv",
                               folder_ / "r.csv", "--markdown", folder_ / "r.md", "--max-samples", "8"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_EQ(read_json(folder_ / "r.json")["further_processes"].size(), 2U);
  EXPECT_TRUE(contains(read_file(folder_ / "r.csv"), "\nmemcpy,")) << "one row a measurement";
  EXPECT_TRUE(contains(read_file(folder_ / "r.md"), "r.json (3 processes)"));
  write_file(folder_ / "expected.json", R"({"schema": "xferbench-expect/1", "description": "d", "expect": [
    {"name": "h2d", "case": {"scenario": "memcpy"}, "metric": "bandwidth", "at_least": "1 GB/s"}]})");
  const Outcome checked =
      xferbench({"check", folder_ / "r.json", "--expect", folder_ / "expected.json", "--allow-simulated"});
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_TRUE(contains(checked.out, "medians of 3 processes")) << checked.out;
}

TEST_F(Suites, OfSeveralProcessesAreOneWhereNoFileTakesTheirResults) {
  const std::string several = suite(R"("processes": 3, "runs": ["memcpy --dir h2d --size 1M --host pinned"])");
  const Outcome o = xferbench({"--suite", several, "--simulate", "--csv", folder_ / "r.csv", "--max-samples", "8"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_TRUE(contains(o.err, "only one process measures")) << o.err;
  EXPECT_TRUE(contains(read_file(folder_ / "r.csv"), "memcpy,"));
}

TEST_F(Suites, TurnsSampleEveryCaseSeveralTimes) {
  const std::filesystem::path json = folder_ / "r.json";
  const Outcome o =
      xferbench({"--suite", suite(R"("turns": 3, "runs": ["memcpy --dir h2d --size 1M,2M --host pinned"])"),
                 "--simulate", "--json", json, "--max-samples", "18", "--min-samples", "18", "--progress", "plain"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const Json results = read_json(json)["results"];
  for (const Json& r : results) {
    EXPECT_EQ(r["measurements"][0]["n"], 18) << "6 in each turn";
    EXPECT_NE(r["measurements"][0]["stop"], "interrupted");
  }
  const auto said = lines(o.err);
  ASSERT_EQ(said.size(), 2U) << o.err << "a line for each case, not for each turn";
  EXPECT_TRUE(said[1].starts_with("[2/2] memcpy/dir=h2d/host=pinned/engine=ce/api=async/size=2MiB: ")) << said[1];
  EXPECT_TRUE(said[1].ends_with(", 18 samples")) << said[1];
}

TEST_F(Suites, ThoseThatComeWithTheProgramAreFoundByNameAndMakeCases) {
  for (const char* name : {"quick", "ci", "full", "gpus", "limits", "calibrate"}) {
    const Outcome o = xferbench({"--suite", name, "--dry-run"});
    expect_success(o);
    EXPECT_GE(lines(o.out).size(), 10U) << name;
    EXPECT_FALSE(contains(o.out, "(skipped")) << name;
  }
  for (const auto& [name, gpus] : {std::pair{"quick", "h200"}, {"gpus", "h200-x2"}}) {
    const Arguments few{"--suite", name, "--simulate", gpus, "--quiet", "--max-samples", "2", "--no-verify"};
    EXPECT_EQ(xferbench(few).exit_code, 0) << name;
  }
  EXPECT_EQ(xferbench({"--suite", "gpus", "--simulate", "h200", "--quiet"}).exit_code, 5) << "which has one";
}

using SuitesLong = Suites;
TEST_F(SuitesLong, ThoseThatComeWithTheProgramVerify) {
  EXPECT_EQ(xferbench({"--suite", "quick", "--simulate", "--quiet"}).exit_code, 0);
  EXPECT_EQ(xferbench({"--suite", "gpus", "--simulate", "h200-x2", "--quiet", "--max-samples", "2"}).exit_code, 0);
}

TEST_F(Suites, WhatIsWrongWithOneIsSaidWithItsPlace) {
  const auto refused = [&](const std::string& fields, const std::string& message) {
    expect_refusal(xferbench({"--suite", suite(fields), "--simulate"}), 2, message);
  };
  refused(R"("runs": ["memcpy --size 1X"])", "runs[0] (memcpy --size 1X): --size: ");
  refused(R"("runs": ["latency", "nothing"])", "runs[1] (nothing): 'nothing' is neither a scenario nor a command");
  refused(R"("runs": ["memcpy --json x.json"])", "--json belongs on the command line");
  refused(R"("runs": ["tune overlap"])", "a run of a suite is a scenario with its flags");
  refused(R"("runs": ["--suite quick"])", "runs[0] (--suite quick)");
  refused(R"("runs": ["memcpy --size 1M", "memcpy --size 2M,1M"])", "runs[1] (memcpy --size 2M,1M): it repeats a case");
  refused(R"("runs": [])", "runs: found none, expected command lines");
}

TEST_F(Suites, TakeSeveralGpusWhereOneOfTheirRunsDoes) {
  const auto given_gpus = [&](const std::string& runs) {
    return xferbench({"--suite", suite(runs), "--simulate", "h200-x2", "--gpus", "all", "--max-samples", "6", "--json",
                      folder_ / "r.json", "--quiet"});
  };
  expect_refusal(given_gpus(R"("runs": ["async --size 1M"])"), 2, "--gpus does nothing here");
  const Outcome o = given_gpus(R"("runs": ["memcpy --size 1M", "overlap --size 4M --chunks 4"])");
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_EQ(read_json(folder_ / "r.json")["results"].back()["gpus"], (Json{0, 1}));
}

TEST_F(Suites, AreNotOverwrittenByTheirResults) {
  const std::filesystem::path file = suite(kTwoRuns);
  const std::string before = read_file(file);
  expect_refusal(xferbench({"--suite", file, "--simulate", "--json", file}), 2, "own.json");
  EXPECT_EQ(read_file(file), before);
}

TEST_F(Suites, OneThatIsNotThereIsNamedBesideThoseThatAre) {
  const Outcome o = xferbench({"--suite", "quik", "--simulate"});
  expect_refusal(o, 2, "there is no file 'quik'");
  EXPECT_TRUE(contains(o.err, "ci, full, gpus, limits, quick")) << o.err;
  EXPECT_TRUE(contains(o.err, "did you mean 'quick'?")) << o.err;
}

TEST_F(Suites, SayThemselvesWhatIsRun) {
  expect_refusal(xferbench({"memcpy", "--suite", "quick"}), 2, "--suite defines what is run; leave 'memcpy' out");
  expect_refusal(xferbench({"--suite", "quick", "--size", "3"}), 2, "--suite defines what is run; leave --size out");
}

// --- Progress -------------------------------------------------------------------------------------------------------

TEST(ProgressFlag, PlainIsALineForEachCaseAndItsOutcome) {
  const Outcome o = xferbench({"memcpy",     "--dir",      "h2d",        "--host",        "pinned", "--size",
                               "1M",         "smem",       "--method",   "tma",           "--tile", "4K",
                               "--stages",   "1",          "--schedule", "dynamic",       "--size", "1M",
                               "--simulate", "--progress", "plain",      "--max-samples", "10"});
  const auto said = lines(o.err);
  ASSERT_EQ(said.size(), 2U) << o.err;
  EXPECT_TRUE(said[0].starts_with("[1/2] memcpy/")) << said[0];
  EXPECT_TRUE(contains(said[1], ": skipped: the simulator")) << said[1];
}

// --- Repeats --------------------------------------------------------------------------------------------------------

class Repeat : public testing::Test {
 protected:
  Arguments repeated(const char* times, Arguments more = {}) {
    Arguments arguments{"memcpy",     "--dir",         "h2d", "--host",   "pinned", "--size", "1M,2M",
                        "--simulate", "--max-samples", "10",  "--repeat", times,    "--json", folder_ / "r.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  TemporaryFolder folder_;
};

TEST_F(Repeat, WritesAFileForEachProcessAndShowsThemSideBySide) {
  const Outcome o = xferbench(repeated("3"));
  ASSERT_EQ(o.exit_code, 0) << o.err;
  for (const char* name : {"r-1.json", "r-2.json", "r-3.json"}) {
    const Json json = read_json(folder_ / name);
    EXPECT_EQ(json["results"].size(), 2U) << name;
    EXPECT_EQ(json["command"][2], "memcpy") << "behind the number of the process stands what was typed";
    expect_valid_results(folder_ / name);
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "r.json"));
  EXPECT_TRUE(o.out.starts_with("SIMULATED by profile h200")) << o.out;
  EXPECT_TRUE(contains(o.out, "medians of 3 processes")) << o.out;
  EXPECT_TRUE(contains(o.out, "size=2MiB")) << o.out;
  EXPECT_TRUE(contains(o.err, "process 2 of 3, writing ")) << o.err;
}

TEST_F(Repeat, OnceHasANumberToo) {
  ASSERT_EQ(xferbench(repeated("1")).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "r-1.json"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "r.json"));
}

TEST_F(Suites, TurnsNeedASampleEach) {
  expect_refusal(xferbench({"--simulate", "--turns", "7", "--max-samples", "3"}), 2,
                 "--passes 7 is more than --max-samples 3");
}

TEST_F(Repeat, EndsWithTheCodeOfAProcessThatCannotRun) {
  Arguments arguments = repeated("3");
  arguments.back() = (folder_ / "none" / "r.json").string();
  const Outcome o = xferbench(arguments);
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_TRUE(contains(o.err, "there is no folder")) << o.err;
  EXPECT_FALSE(contains(o.err, "process 2 of 3")) << o.err;
}

TEST_F(Repeat, EndsWithItsProcessWhenItIsToldTo) {
  Arguments repeated = endless_run(folder_ / "r.json");
  repeated.insert(repeated.end(), {"--repeat", "2"});
  Process process(XFERBENCH_PROGRAM, repeated);
  ASSERT_TRUE(process.wait_for_error_text("process 1 of 2"));
  ASSERT_TRUE(until_there(folder_ / "r-1.json"));
  process.send(SIGTERM);
  const Outcome o = process.wait();
  EXPECT_EQ(o.exit_code, 143) << o.err;
  EXPECT_EQ(read_json(folder_ / "r-1.json")["complete"], false) << "the process was told, too, and wrote what it had";
  EXPECT_FALSE(std::filesystem::exists(folder_ / "r-2.json"));
  const std::string once = "stopping after this pass; press Ctrl-C again to stop now\n";
  EXPECT_TRUE(contains(o.err, once)) << o.err;
  EXPECT_EQ(o.err.find(once), o.err.rfind(once)) << "by the one that a terminal tells";
  EXPECT_TRUE(contains(o.err, "xferbench: continue: xferbench --resume " + (folder_ / "r-1.json").string() + "\n"))
      << o.err;
  EXPECT_TRUE(contains(o.err, "process 2 did not start")) << o.err;
}

}  // namespace
}  // namespace xferbench::test
