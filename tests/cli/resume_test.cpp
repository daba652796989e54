// --resume continues a run that was stopped.

#include <csignal>
#include <thread>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

class Resume : public testing::Test {
 protected:
  /// Its 30 cases take two seconds.
  Arguments run() {
    return {"--simulate", "--size",       "4M",   "--streams", "1:6:+1",        "--chunks", "2:32",
            "--json",     file_.string(), "--ci", "0.001",     "--max-samples", "15"};
  }
  static constexpr std::size_t kCases = 6 * 5;

  [[nodiscard]] Arguments resume() const { return {"--resume", file_.string(), "--quiet"}; }

  void expect_complete() {
    const Json json = read_json(file_);
    EXPECT_EQ(json["complete"], true);
    ASSERT_EQ(json["results"].size(), kCases);
    for (const Json& r : json["results"]) {
      EXPECT_EQ(r["status"], "ok") << r["key"];
      for (const Json& m : r["measurements"]) EXPECT_NE(m["stop"], "interrupted") << r["key"];
    }
    expect_valid_results(file_);
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "results.json";
};

TEST_F(Resume, KeepsWhatWasMeasuredAndSaysWhenItWentOn) {
  Process process(XFERBENCH_PROGRAM, run());
  ASSERT_TRUE(until_there(file_));
  ASSERT_TRUE(until([&] { return read_json(file_)["results"].size() >= 3; }));
  process.send(SIGKILL);
  process.wait();
  const Json before = read_json(file_);
  ASSERT_LT(before["results"].size(), kCases) << "it ended too early to be of use";
  const Outcome o = xferbench({"--resume", file_, "--progress", "plain"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_TRUE(o.out.starts_with("SIMULATED")) << o.out.substr(0, 100);
  expect_complete();
  const Json after = read_json(file_);
  for (std::size_t i = 0; i < before["results"].size(); ++i) EXPECT_EQ(after["results"][i], before["results"][i]) << i;
  EXPECT_EQ(after["started_at"], before["started_at"]);
  EXPECT_EQ(after["command"], before["command"]);
  EXPECT_EQ(after["resumed_at"].size(), 1U);
  EXPECT_EQ(lines(o.err).size(), kCases - before["results"].size()) << o.err;
}

TEST_F(Resume, HasWhatWasMeasuredInTheFileBeforeItsFirstCaseEnds) {
  ASSERT_EQ(xferbench(run()).exit_code, 0);
  Json json = read_json(file_);
  json["complete"] = false;
  json["results"].erase(0);
  json["command"].push_back("--min-samples=1000000");  // makes the one missing case take long
  for (Json& word : json["command"]) {
    if (word == "15") word = "1000000";
  }
  write_file(file_, json.dump());
  Process process(XFERBENCH_PROGRAM, resume());
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  process.send(SIGKILL);
  ASSERT_EQ(process.wait().signal, SIGKILL);
  const Json results = read_json(file_)["results"];
  const auto is_whole = [](const Json& r) {
    const auto cut_off = [](const Json& m) { return m["stop"] == "interrupted"; };
    return r["status"] == "ok" && std::ranges::none_of(r["measurements"], cut_off);
  };
  EXPECT_EQ(std::ranges::count_if(results, is_whole), kCases - 1);
}

TEST_F(Resume, OfACompleteFileMeasuresNothingAndLeavesItAsItIs) {
  ASSERT_EQ(xferbench(small_run({"--json", file_.string()})).exit_code, 0);
  const std::string before = read_file(file_);
  const Outcome o = xferbench({"--resume", file_});
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_TRUE(contains(o.err, "no case is missing")) << o.err;
  EXPECT_EQ(read_file(file_), before);
}

TEST_F(Resume, WritesOtherFilesOnlyWhereItIsToldTo) {
  ASSERT_EQ(xferbench(small_run({"--json", file_.string(), "--csv", (folder_ / "old.csv").string(), "--openmetrics",
                                 (folder_ / "old.prom").string()}))
                .exit_code,
            0);
  Json json = read_json(file_);
  json["complete"] = false;
  json["results"] = Json::array();
  write_file(file_, json.dump());
  for (const char* old : {"old.csv", "old.prom"}) write_file(folder_ / old, "as it is");
  ASSERT_EQ(
      xferbench({"--resume", file_, "--csv", folder_ / "new.csv", "--openmetrics", folder_ / "new.prom", "--quiet"})
          .exit_code,
      0);
  for (const char* old : {"old.csv", "old.prom"}) EXPECT_EQ(read_file(folder_ / old), "as it is");
  EXPECT_TRUE(read_file(folder_ / "new.csv").starts_with("scenario,"));
  EXPECT_TRUE(contains(read_file(folder_ / "new.prom"), "\nxferbench_run_complete 1\n"));
}

TEST_F(Resume, ReadsOlderCommandLinesAsTheyWereMeant) {
  // In older versions a flag after several scenarios applied to all of them.
  ASSERT_EQ(xferbench({"--simulate", "--size", "1M", "--max-samples", "6", "memcpy", "--dir", "h2d", "overlap",
                       "--chunks", "4", "--json", file_.string(), "--quiet"})
                .exit_code,
            0);
  Json json = read_json(file_);
  const std::size_t cases = json["results"].size();
  json["complete"] = false;
  json["command"] = {"xferbench",     "memcpy", "overlap", "--simulate", "--size",   "1M",
                     "--max-samples", "6",      "--dir",   "h2d",        "--chunks", "4"};
  json["results"].erase(cases - 1);
  write_file(file_, json.dump());
  const Outcome o = xferbench(resume());
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_EQ(read_json(file_)["results"].size(), cases);
}

TEST_F(Resume, RefusesWhatDoesNotBelongTogether) {
  ASSERT_EQ(xferbench(small_run({"--json", file_.string()})).exit_code, 0);
  Json original = read_json(file_);
  original["complete"] = false;
  const auto refused = [&](const char* pointer, const Json& value, const std::string& message) {
    Json json = original;
    json[Json::json_pointer(pointer)] = value;
    write_file(file_, json.dump());
    expect_refusal(xferbench({"--resume", file_}), 2, message);
    EXPECT_EQ(read_json(file_), json) << "it is left as it is";
  };
  refused("/environment/gpu/name", "NVIDIA GTX 970", "was measured with GPU 'NVIDIA GTX 970'");
  refused("/tool/version", "0.0.1", "was measured with xferbench '0.0.1'");
  refused("/environment/variables/CUDA_DEVICE_MAX_CONNECTIONS", "1", "was measured with CUDA variables");
  refused("/command", Json::array({"xferbench", "tune", "--simulate"}), "not tune");
  refused("/command", Json::array({"xferbench", "--nonsense"}), "its command cannot be resumed");
  refused("/results/0/key", "overlap/size=1B", "contains a case that its command does not produce: overlap/size=1B");
  write_file(file_, "no JSON");
  expect_refusal(xferbench({"--resume", file_}), 2, file_.filename().string());
  expect_refusal(xferbench({"--resume", folder_ / "none.json"}), 2, "none.json");
}

/// Fields that the program always writes but an edited file may lack: --resume refuses such a file before it measures.
TEST_F(Resume, RefusesResultsThatNothingCanBeConcludedFrom) {
  struct Lacking {
    Arguments run;
    const char* metric;       // removed from all results unless null
    const char* measurement;  // removed from all results unless null
  };
  const std::vector<Lacking> all{
      {{"staging", "--size", "64K,4M", "--dir", "h2d", "--threads", "2"}, "of_pinned", nullptr},
      {{"overlap", "--size", "16M", "--strategy", "streams", "--streams", "2", "--chunks", "2,64"},
       "suggestion_gain",
       nullptr},
      {{"memcpy", "--size", "64K,4M", "--host", "pageable,registered", "--dir", "h2d"}, nullptr, "copy"},
  };
  for (const auto& [run, metric, measurement] : all) {
    Arguments arguments = run;
    arguments.insert(arguments.end(), {"--simulate", "--max-samples", "6", "--json", file_.string(), "--quiet"});
    ASSERT_EQ(xferbench(arguments).exit_code, 0);
    Json json = read_json(file_);
    json["complete"] = false;
    json["results"].erase(json["results"].size() - 1);
    std::size_t dropped = 0;
    for (Json& result : json["results"]) {
      if (metric != nullptr) dropped += result["metrics"].erase(metric);
      for (std::size_t i = result["measurements"].size(); measurement != nullptr && i-- > 0;) {
        if (result["measurements"][i]["name"] != measurement) continue;
        result["measurements"].erase(i);
        ++dropped;
      }
    }
    ASSERT_GT(dropped, 0U) << run.front();
    write_file(file_, json.dump());
    expect_refusal(xferbench({"--resume", file_}), 2, metric != nullptr ? metric : measurement);
    EXPECT_EQ(read_json(file_), json) << "it is left as it is";
    std::filesystem::remove(file_);
  }
}

TEST_F(Resume, TakesItsCommandFromTheFile) {
  expect_refusal(xferbench({"--resume", "x.json", "--json", "y.json"}), 2,
                 "--resume continues the command stored in the file; leave --json out");
  write_file(folder_ / "r-1.json", "{}");
  expect_refusal(xferbench({"--resume", folder_ / "r.json"}), 2, "by one of the processes of --repeat");
  expect_refusal(xferbench({"memcpy", "--resume", "x.json"}), 2, "--resume defines what is run");
  expect_refusal(xferbench({"--resume", folder_.path()}), 2, " is a folder; name the results file");
}

}  // namespace
}  // namespace xferbench::test
