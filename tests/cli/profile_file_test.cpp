// --simulate with a profile file.

#include <csignal>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

class ProfileFiles : public testing::Test {
 protected:
  /// Writes a profile with the required fields and `rest`. Returns its path.
  std::string with(const std::string& rest, const std::string& name = "slow.json") {
    write_file(folder_ / name, R"({"schema": "xferbench-profile/1", "base": "h200", "name": "slow")" + rest + "}");
    return folder_ / name;
  }
  static Arguments copies(const std::string& profile, Arguments more = {}) {
    Arguments all{"memcpy", "--simulate", profile, "--dir", "h2d,d2h", "--host", "pinned", "--size", "64M"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static double bandwidth(const Json& results) {
    return results["results"][0]["metrics"]["bandwidth"]["value"].get<double>();
  }

  TemporaryFolder folder_;
};

TEST_F(ProfileFiles, AreSimulatedAndNamedWithWhatTheyChange) {
  const std::string slow = folder_ / "slow-results.json";
  const std::string usual = folder_ / "usual-results.json";
  const Outcome o = xferbench(copies(with(R"(, "scale": {"link": 0.5})"), {"--json", slow}));
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "SIMULATED by profile slow (h200 with link x 0.5)")) << o.out;
  expect_success(xferbench(copies("h200", {"--json", usual})));
  expect_valid_results(slow);
  EXPECT_NEAR(bandwidth(read_json(slow)) / bandwidth(read_json(usual)), 0.5, 0.01);
  const Json environment = read_json(slow)["environment"];
  EXPECT_EQ(environment["profile"], "slow");
  EXPECT_EQ(environment["profile_base"], "h200");
  EXPECT_EQ(environment["profile_changes"], (Json{{"scale.link", 0.5}}));
  EXPECT_FALSE(read_json(usual)["environment"].contains("profile_base"));
}

TEST_F(ProfileFiles, AreNotComparedWithOthers) {
  const Arguments results{folder_ / "a.json", folder_ / "b.json", folder_ / "c.json"};
  expect_success(xferbench(copies(with(R"(, "scale": {"link": 0.5})"), {"--json", results[0]})));
  expect_success(xferbench(copies(with(R"(, "scale": {"link": 0.6})"), {"--json", results[1]})));
  expect_success(xferbench(copies("h200", {"--json", results[2]})));
  expect_refusal(xferbench({"compare", results[0], results[1]}), 2, "link x 0.6");
  expect_refusal(xferbench({"compare", results[0], results[2]}), 2, "--allow-simulated");
  EXPECT_EQ(xferbench({"compare", results[0], results[0]}).exit_code, 0);
}

TEST_F(ProfileFiles, AreShownByInfo) {
  const Outcome o = xferbench({"info", "--simulate", with(R"(, "uuid": "GPU-abc", "noise": 0.01)")});
  expect_success(o);
  EXPECT_TRUE(contains(o.out, "SIMULATED by profile slow (h200 with noise 0.01")) << o.out;
  EXPECT_TRUE(contains(o.out, "GPU-abc")) << o.out;
}

TEST_F(ProfileFiles, ThatAreWrongAreRefusedBeforeAnythingIsMeasured) {
  expect_refusal(xferbench(copies(with(R"(, "scale": {"lnk": 0.5})"))), 2, "did you mean 'link'");
  expect_refusal(xferbench(copies(folder_ / "none.json")), 2, "none.json");
  expect_refusal(xferbench(copies("none.json")), 2, "cannot read none.json");
  expect_refusal(xferbench(copies(folder_ / "")), 2, "cannot read");
}

TEST_F(ProfileFiles, AreToldApartFromNames) {
  const Outcome o = xferbench({"memcpy", "--simulate", "h20O"});
  expect_refusal(o, 2, "did you mean 'h200'");
  EXPECT_TRUE(contains(o.err, ".json")) << "and says what a file is called: " << o.err;
}

TEST_F(ProfileFiles, AreNotReadByADryRun) { EXPECT_EQ(xferbench(copies("no/such/file", {"--dry-run"})).exit_code, 0); }

TEST_F(ProfileFiles, MayLetTheProcessDie) {
  const std::string results = folder_ / "r.json";
  Process process(XFERBENCH_PROGRAM, copies(with(R"(, "inject": "die:copy:80")"), {"--json", results}));
  EXPECT_EQ(process.wait().signal, SIGKILL);
  expect_valid_results(results);
  EXPECT_EQ(read_json(results)["results"].size(), 1U);
}

TEST_F(ProfileFiles, AreGoneOnWithUnlessTheyChange) {
  const std::string results = folder_ / "r.json";
  const Arguments resume{"--resume", results, "--quiet"};
  Process process(XFERBENCH_PROGRAM,
                  copies(with(R"(, "scale": {"link": 0.5}, "inject": "die:copy:40")"), {"--json", results}));
  ASSERT_EQ(process.wait().signal, SIGKILL);
  static_cast<void>(with(R"(, "scale": {"link": 0.6})"));
  expect_refusal(xferbench(resume), 2, "link x 0.6");
  static_cast<void>(with(R"(, "scale": {"link": 0.5})"));
  EXPECT_EQ(xferbench(resume).exit_code, 0) << "without the fault";
  EXPECT_EQ(read_json(results)["complete"], true);
  EXPECT_EQ(read_json(results)["results"].size(), 2U);
}

TEST_F(ProfileFiles, ThatInjectFaultsAreMarked) {
  const std::string results = folder_ / "r.json";
  const Outcome o = xferbench(copies(with(R"(, "inject": "fail:copy:3")"), {"--json", results}));
  EXPECT_EQ(o.exit_code, 1) << o.err;
  EXPECT_TRUE(contains(o.out, "FAULT INJECTED: fail:copy:3")) << o.out;
  EXPECT_EQ(read_json(results)["environment"]["profile_changes"]["inject"], "fail:copy:3");
  expect_refusal(xferbench({"expect", results, "--allow-simulated", "--allow-doubtful"}), 2, "fault");
}

TEST_F(ProfileFiles, WithNoiseHaveSamplesThatDiffer) {
  const auto samples = [&](const std::string& profile) {
    const std::string results = folder_ / "r.json";
    const Outcome o = xferbench(copies(profile, {"--max-samples", "8", "--json", results}));
    EXPECT_EQ(o.exit_code, 0) << o.err;
    return read_json(results)["results"][0]["measurements"][0]["samples"];
  };
  const Json one = samples(with(R"(, "noise": 0.01)"));
  EXPECT_NE(one[0], one[1]);
  EXPECT_EQ(one, samples(with(R"(, "noise": 0.01)")));
  EXPECT_NE(one, samples(with(R"(, "noise": 0.01, "seed": 2)")));
}

}  // namespace
}  // namespace xferbench::test
