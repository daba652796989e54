// `xferbench validate`: which cases it groups for comparison, and which it leaves out.

#include <algorithm>
#include <utility>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

class Validating : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// Runs the simulation and returns the content of its results file.
  Json results_of(const std::string& file, Arguments run) {
    run.insert(run.end(), {"--simulate", "--quiet", "--no-verify", "--max-samples", "3", "--json", file});
    expect_success(xferbench(run));
    return read_json(file);
  }
  static Json validation_json(Arguments files, const std::string& profile) {
    files.insert(files.begin(), "validate");
    files.insert(files.end(), {"--simulate", profile, "--allow-simulated", "--json", "-"});
    const Outcome o = xferbench(files);
    EXPECT_EQ(o.exit_code, 0) << o.err;
    return o.exit_code == 0 ? parse_json(o.out) : Json();
  }
  static std::vector<std::string> groups_of(const Json& told) {
    std::vector<std::string> names;
    for (const Json& group : told["groups"]) names.push_back(group["name"]);
    return names;
  }
  static bool says(const Json& told, const std::string& sentence) {
    const Json& all = told["left_out"];
    return std::ranges::any_of(all, [&](const Json& one) { return contains(one.get<std::string>(), sentence); });
  }

  TemporaryFolder folder_;
};

TEST_F(Validating, SetsOnlyWaysOfDoingTheSameWorkBesideEachOther) {
  results_of(path("work.json"), {"overlap", "--size", "4M", "--strategy", "serial,engines", "--work", "1,64"});
  results_of(path("one.json"), {"overlap", "--size", "4M", "--strategy", "serial,engines"});
  results_of(path("small.json"), {"latency", "--op", "launch,wait", "--method", "stream,event"});
  using Names = std::vector<std::string>;
  EXPECT_EQ(groups_of(validation_json({path("work.json")}, "h200")),
            (Names{"overlap 4 MiB, work=1", "overlap 4 MiB, work=64"}));
  EXPECT_EQ(groups_of(validation_json({path("one.json")}, "h200")), Names{"overlap 4 MiB"});
  const Names small = groups_of(validation_json({path("small.json")}, "h200"));
  EXPECT_EQ(std::ranges::count(small, "latency, op=launch"), 1) << Json(small);
}

TEST_F(Validating, TellsWhatIsCoveredOnlyWhereTheProfileHasIntervals) {
  results_of(path("r.json"), {"memcpy", "--dir", "h2d", "--host", "pinned", "--size", "4M"});
  const std::string begin =
      R"({"schema": "xferbench-profile/1", "base": "h200", "name": "n", "set": {"h2d_rate": 5e10})";
  write_file(path("plain.json"), begin + "}");
  write_file(path("known.json"),
             begin + R"(, "sources": {"h2d_rate": {"low": 4e10, "high": 6e10, "source": "x.json: y"}}})");
  EXPECT_FALSE(validation_json({path("r.json")}, path("plain.json"))["groups"][0].contains("coverage"));
  EXPECT_TRUE(validation_json({path("r.json")}, path("known.json"))["groups"][0].contains("coverage"));
}

TEST_F(Validating, CountsWhatItLeavesOut) {
  Json results = results_of(path("r.json"), {"memcpy", "--dir", "h2d,d2h,d2d", "--host", "pinned", "--size", "1M,4M"});
  std::filesystem::copy(path("r.json"), path("again.json"));
  Json& all = results["results"];
  for (const auto& [result, seconds] : {std::pair(std::size_t{0}, 1e-300), std::pair(std::size_t{5}, 1e300)}) {
    for (auto& [field, value] : all[result]["measurements"][0].items()) {
      if (field == "min" || field == "median" || field == "max" || field == "p90") value = seconds;
      if (field == "samples" || field == "ci95") std::ranges::fill(value, seconds);
    }
  }
  all[1]["status"] = "failed";
  all[1]["reason"] = "it failed";
  all[2]["params"]["size"] = "abc";
  all[3]["params"]["size"] = 1e30;
  write_file(path("odd.json"), results.dump());
  const Json told = validation_json({path("odd.json"), path("again.json")}, "h200");
  EXPECT_EQ(told["cases"].size(), 6U) << "of the second file, what the first does not have well";
  for (const char* sentence :
       {"1 result is left out: measured time is zero", "1 result is left out: failed or skipped",
        "2 results are left out: case unknown to this version of its scenario",
        "1 result is left out: measured time is implausibly long", "1 result is left out: case occurs twice"}) {
    EXPECT_TRUE(says(told, sentence)) << sentence << told["left_out"];
  }
}

TEST_F(Validating, RunsNoCaseThatItsScenarioDoesNotHave) {
  Json results = results_of(path("r.json"), {"overlap", "--size", "1M", "--streams", "2", "--chunks", "4"});
  results["results"][0]["params"]["streams"] = 1'000'000;
  write_file(path("odd.json"), results.dump());
  const Outcome o = xferbench({"validate", path("odd.json"), "--simulate", "h200", "--allow-simulated"});
  expect_refusal(o, 2, "the simulated device can run none of these cases: 1 result is left out: case unknown");
}

TEST_F(Validating, SaysWhatIsNotHeldOut) {
  results_of(path("r.json"), {"memcpy", "--dir", "h2d", "--host", "pinned", "--size", "4M"});
  write_file(path("p.json"),
             R"({"schema": "xferbench-profile/1", "base": "h200", "name": "n", "set": {"h2d_rate": 5e10},)"
             R"("sources": {"h2d_rate": {"source": "a.json, elsewhere/r.json: memcpy dir=h2d, fit over 6 medians"}}})");
  EXPECT_TRUE(says(validation_json({path("r.json")}, path("p.json")), "r.json is not held out"));
  EXPECT_FALSE(says(validation_json({path("r.json")}, "h200"), "held out"));
}

}  // namespace
}  // namespace xferbench::test
