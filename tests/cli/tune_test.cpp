// `xferbench tune` as users call it.

#include <algorithm>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

class TuneOfOverlap : public testing::Test {
 protected:
  static Arguments small_tune(Arguments more = {}) {
    more.insert(more.begin(), {"tune", "overlap", "--simulate", "--size", "4M"});
    return more;
  }
};

TEST_F(TuneOfOverlap, DryRunCountsTheSpace) {
  const Outcome o = xferbench(small_tune({"--dry-run"}));
  expect_success(o);
  const std::vector<std::string> all = lines(o.out);
  EXPECT_TRUE(contains(all.back(), " configurations")) << all.back();
  EXPECT_TRUE(all.front().starts_with("overlap/size=4MiB/")) << all.front();
}

TEST_F(TuneOfOverlap, NamesTheWinnerAndTheCommandThatRunsIt) {
  const Outcome o = xferbench(small_tune());
  EXPECT_EQ(o.exit_code, 0) << o.err;
  for (const char* part :
       {"SIMULATED", "predicted", "residual", "  fastest by makespan: ", "\n  measured ", "xferbench overlap --size"}) {
    EXPECT_TRUE(contains(o.out, part)) << part << "\n" << o.out;
  }
}

TEST_F(TuneOfOverlap, WritesValidResults) {
  const TemporaryFolder folder;
  EXPECT_EQ(xferbench(small_tune({"--quiet", "--json", folder / "tune.json"})).exit_code, 0);
  expect_valid_results(folder / "tune.json");
  const Json json = read_json(folder / "tune.json");
  EXPECT_EQ(json["complete"], true);
  const Json& findings = json["findings"];
  const auto winner = std::ranges::find_if(findings, [](const Json& f) { return f["labels"]["about"] == "winner"; });
  ASSERT_NE(winner, findings.end());
  EXPECT_EQ((*winner)["kind"], "tune");
  EXPECT_GT((*winner)["metrics"]["makespan"]["value"], 0);
}

// tune exists to print this command: it must run, and run the winner.
TEST_F(TuneOfOverlap, TheCommandRunsTheWinner) {
  const Json json = parse_json(xferbench(small_tune({"--quiet", "--json", "-"})).out);
  std::string command;
  Json winner;
  for (const Json& f : json["findings"]) {
    if (f["labels"]["about"] == "command") command = f["labels"]["command"];
    if (f["labels"]["about"] == "winner") winner = f["labels"];
  }
  Arguments words;
  for (std::size_t at = command.find(' '); at != std::string::npos; at = command.find(' ')) {
    command.erase(0, at + 1);
    words.push_back(command.substr(0, command.find(' ')));
  }
  words.emplace_back("--dry-run");
  const Outcome o = xferbench(words);
  expect_success(o);
  EXPECT_EQ(lines(o.out).size(), 1U) << o.out;
  ASSERT_TRUE(winner.contains("strategy"));
  winner.erase("about");
  std::string key = o.out;
  std::ranges::replace(key, '\n', '/');
  for (const auto& [axis, value] : winner.items()) {
    EXPECT_TRUE(contains(key, "/" + axis + "=" + value.get<std::string>() + "/")) << axis << " " << o.out;
  }
}

TEST_F(TuneOfOverlap, TellsOfItsProgressOnATerminal) {
  Options options;
  options.err = Sink::terminal();
  const Outcome o = xferbench(small_tune(), options);
  EXPECT_TRUE(contains(o.err, "tuning: measured ")) << o.err;
  EXPECT_TRUE(o.err.find("\r\x1b[K") != std::string::npos) << o.err;
}

TEST_F(TuneOfOverlap, RefusesALimitThatNothingFits) {
  expect_refusal(xferbench(small_tune({"--memory-limit", "1K"})), 2, "no configuration is left to tune: ");
}

}  // namespace
}  // namespace xferbench::test
