// `xferbench calibrate` as a user calls it: the profile it writes can be simulated, and names the results it came from.

#include <csignal>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

class Calibrating : public testing::Test {
 protected:
  /// Replaces suite `calibrate` by these runs, so that a test takes seconds.
  void suite_of(const Json& runs) {
    std::filesystem::create_directories(folder_ / "data" / "suites");
    write_file(folder_ / "data" / "suites" / "calibrate.json",
               Json{{"schema", "xferbench-suite/1"}, {"description", "short"}, {"runs", runs}}.dump());
  }
  /// The shortest suite that yields every number the pipeline model needs.
  void short_suite() {
    suite_of({"memcpy --dir h2d,d2h --host pinned --size 1M:64M:x8 --max-samples 4",
              "overlap --strategy engines --chunks 8 --size 64M --max-samples 4"});
  }
  Options with(Variables more = {}) const {
    more["XFERBENCH_DATA"] = (folder_ / "data").string();
    return {.environment = std::move(more), .out = {}, .err = {}};
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// Waits until the results file has a case; false on a timeout.
  [[nodiscard]] bool has_begun() const {
    const auto has_results = [this] {
      const std::string file = path("mine.results.json");
      return std::filesystem::exists(file) && !read_json(file)["results"].empty();
    };
    return until(has_results);
  }

  /// Runs the short suite; its results suffice for a profile.
  Json measured_here(const std::string& file) {
    short_suite();
    expect_success(xferbench({"--suite", "calibrate", "--simulate", "--quiet", "--json", file}, with()));
    return read_json(file);
  }
  static void expect_usable(const std::string& profile) { expect_success(xferbench({"info", "--simulate", profile})); }
  static void expect_sources_begin(const std::string& profile, const std::string& file) {
    const Json sources = read_json(profile)["sources"];
    EXPECT_FALSE(sources.empty());
    for (const auto& [field, source] : sources.items()) {
      EXPECT_TRUE(source["source"].get<std::string>().starts_with(file + ": ")) << field << source;
    }
  }

  TemporaryFolder folder_;
};

TEST_F(Calibrating, KeepsWhatItMeasuresBesideTheProfileWhichNamesIt) {
  short_suite();
  const Outcome o = xferbench({"calibrate", "--simulate", "-o", path("mine.json")}, with());
  EXPECT_EQ(o.exit_code, 0) << o.err;
  expect_valid_results(path("mine.results.json"));
  expect_sources_begin(path("mine.json"), path("mine.results.json"));
  EXPECT_TRUE(contains(o.err, "the measured results are in " + path("mine.results.json"))) << o.err;
  expect_usable(path("mine.json"));
  xferbench({"calibrate", "--simulate", "-o", path("mine.json"), "--quiet"}, with());
  EXPECT_TRUE(std::filesystem::exists(path("mine.results.json~"))) << "as those of any run, earlier ones are kept";
}

TEST_F(Calibrating, KeepsItWhereItIsTold) {
  short_suite();
  const Outcome told = xferbench({"calibrate", "--simulate", "--json", path("kept.json")}, with());
  EXPECT_EQ(told.exit_code, 0) << told.err;
  write_file(path("profile.json"), told.out);
  expect_sources_begin(path("profile.json"), path("kept.json"));
  const Outcome nowhere = xferbench({"calibrate", "--simulate"}, with());
  EXPECT_TRUE(contains(nowhere.err, "the measured results are not kept")) << nowhere.err;
  EXPECT_TRUE(contains(nowhere.out, "\"suite calibrate: memcpy")) << nowhere.out;
}

TEST_F(Calibrating, RefusesWhatItCouldNotDoBeforeItMeasures) {
  const auto refuses = [](Arguments more, const char* message) {
    Arguments arguments{"calibrate"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_refusal(xferbench(arguments), 2, message);
  };
  refuses({"--name", "h200"}, "--name h200: a built-in profile has this name");
  refuses({"--name", std::string(101, 'x')}, "--name takes up to 100 characters");
  refuses({"--json", "-"}, "give a file name");
  refuses({"-o", path("a.json"), "--json", path("a.json")}, "--json and --output name the same file");
  refuses({path("a.json"), "--json", path("b.json")}, "--json stores what is measured");
}

TEST_F(Calibrating, MeasuresOnTheNodeThatIsAskedFor) {
  short_suite();
  const Outcome o = xferbench({"calibrate", "--simulate", "--numa", "none", "--json", path("kept.json")}, with());
  EXPECT_EQ(o.exit_code, 0) << o.err;
  const Json command = read_json(path("kept.json"))["command"];
  EXPECT_NE(std::ranges::find(command, "--numa"), command.end()) << command;
}

TEST_F(Calibrating, GoesOnWithoutCasesThatFail) {
  short_suite();
  const Outcome o =
      xferbench({"calibrate", "--simulate", "-o", path("mine.json")}, with({{"XFERBENCH_INJECT", "fail:copy:5"}}));
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_TRUE(contains(o.err, "mine.results.json: 1 of 7 cases failed")) << o.err;
  expect_usable(path("mine.json"));
}

TEST_F(Calibrating, EndsAsItsUserWantsIt) {
  suite_of({"overlap --size 16M --streams 1:64:+1 --chunks 1:64:+1"});
  Process process(XFERBENCH_PROGRAM, {"calibrate", "--simulate", "-o", path("mine.json")}, with());
  ASSERT_TRUE(has_begun());
  process.send(SIGINT);
  const Outcome o = process.wait();
  EXPECT_EQ(o.exit_code, 130) << o.err;
  EXPECT_TRUE(contains(o.err, "interrupted: no profile was made; the results so far are in ")) << o.err;
  EXPECT_FALSE(std::filesystem::exists(path("mine.json")));
}

/// `timeout` sends SIGTERM to calibrate and to its process group, so the measuring child gets the signal twice.
TEST_F(Calibrating, KeepsWhatWasMeasuredUntilATimeout) {
  constexpr std::size_t kCases = 64 * 64;
  suite_of({"overlap --size 16M --streams 1:64:+1 --chunks 1:64:+1"});
  Process process(XFERBENCH_PROGRAM, {"calibrate", "--simulate", "-o", path("mine.json")}, with());
  ASSERT_TRUE(has_begun());
  const std::string own = std::to_string(process.pid());
  const std::string child = read_file("/proc/" + own + "/task/" + own + "/children");
  ASSERT_FALSE(child.empty());
  kill(std::stoi(child), SIGTERM);
  ASSERT_TRUE(process.wait_for_error_text("stopping after this pass"));
  process.send(SIGTERM);
  const Outcome o = process.wait();
  EXPECT_EQ(o.exit_code, 143) << o.err;
  EXPECT_EQ(read_json(path("mine.results.json"))["results"].size(), kCases)
      << "an end in order: what was not measured is skipped";
}

TEST_F(Calibrating, ResultsOfTheNameOfABuiltInProfileAreAProfileOfAnother) {
  measured_here(path("h200.json"));
  const Outcome o = xferbench({"info", "--simulate", path("h200.json")});
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "profile h200-results (h200 with ")) << o.out;
}

TEST_F(Calibrating, ShortensLongPaths) {
  std::string deep = folder_.path().string();
  for (int i = 0; i < 4; ++i) deep += "/" + std::string(200, 'd');
  std::filesystem::create_directories(deep);
  measured_here(deep + "/results.json");
  expect_success(
      xferbench({"calibrate", deep + "/results.json", "--allow-simulated", "--quiet", "-o", path("p.json")}));
  expect_usable(path("p.json"));
  const std::string source = read_json(path("p.json"))["sources"]["multiprocessors"]["source"];
  EXPECT_TRUE(source.ends_with("/results.json: environment")) << source;
  expect_success(xferbench({"info", "--simulate", deep + "/results.json"}));
}

TEST_F(Calibrating, WritesNoNumberThatAProfileCannotHave) {
  measured_here(path("results.json"));
  // ordered_json keeps the order of keys: a results file must begin with its schema.
  auto results = nlohmann::ordered_json::parse(read_file(path("results.json")));
  results["environment"]["gpu"]["memory_bytes"] = 1000;
  results["environment"]["gpu"]["name"] = std::string(300, 'G');
  for (auto& r : results["results"]) {
    if (r["scenario"] == "overlap") r["metrics"]["h2d_per_operation"]["value"] = -3e-6;
  }
  write_file(path("odd.json"), results.dump());
  const Outcome o = xferbench({"calibrate", path("odd.json"), "--allow-simulated", "-o", path("p.json")});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_TRUE(contains(
      o.err, "taken from h200 instead: h2d_overhead is calculated as -3e-06, expected one from 0 to 1 (seconds)"))
      << o.err;
  EXPECT_TRUE(contains(o.err, "memory_bytes is calculated as 1000")) << o.err;
  EXPECT_FALSE(read_json(path("p.json"))["set"].contains("h2d_overhead"));
  expect_usable(path("p.json"));
  expect_refusal(xferbench({"info", "--simulate", path("odd.json")}), 2, "is calculated as");
}

TEST_F(Calibrating, RefusesParamsThatNoCaseHas) {
  const Json results = measured_here(path("results.json"));
  for (const auto& [name, value] : {std::pair{"size", Json("abc")}, std::pair{"size", Json(1.5)},
                                    std::pair{"dir", Json(5)}, std::pair{"size", Json("64M")}}) {
    Json damaged = results;
    damaged["results"][1]["params"][name] = value;
    write_file(path("damaged.json"), damaged.dump());
    const Outcome o = xferbench({"calibrate", path("damaged.json"), "--allow-simulated"});
    expect_refusal(o, 2, path("damaged.json") + ": memcpy/");
    EXPECT_TRUE(contains(o.err, std::string(name) + ": ")) << o.err;
  }
}

TEST_F(Calibrating, ProfilesAndResultsMayComeFromAPipe) {
  measured_here(path("results.json"));
  expect_success(xferbench({"calibrate", path("results.json"), "--allow-simulated", "--quiet", "-o", path("p.json")}));
  for (const std::string& file : {path("results.json"), path("p.json")}) {
    for (const char* command : {R"("$0" info --simulate <(cat "$1"))", R"(cat "$1" | "$0" info --simulate /dev/stdin)",
                                R"("$0" info --simulate /dev/stdin < "$1")"}) {
      const Outcome o = run("/bin/bash", {"-c", command, XFERBENCH_PROGRAM, file});
      EXPECT_EQ(o.exit_code, 0) << command << ": " << o.err;
      EXPECT_TRUE(contains(o.out, "(h200 with ")) << o.out;
    }
  }
  const Outcome endless = xferbench({"info", "--simulate", "/dev/zero"});
  expect_refusal(endless, 2, "/dev/zero has more than 256 MiB");
}

}  // namespace
}  // namespace xferbench::test
