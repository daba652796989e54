// Shell completion: a real shell sources the generated script, and the test asks it for completions.

#include <algorithm>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

/// Bash's completions for the last of these words.
std::vector<std::string> offered(const Arguments& words) {
  const TemporaryFolder folder;
  write_file(folder / "script", xferbench({"completion", "bash"}).out);
  const std::string ask =
      "set -u; source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _xferbench; "
      "for word in \"${COMPREPLY[@]}\"; do echo \"$word\"; done";
  Arguments arguments{"-c", ask, "bash", folder / "script", XFERBENCH_PROGRAM};
  arguments.insert(arguments.end(), words.begin(), words.end());
  const Outcome o = run("/bin/bash", arguments);
  EXPECT_EQ(o.err, "");
  return o.out.empty() ? std::vector<std::string>{} : lines(o.out);
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

using Words = std::vector<std::string>;

TEST(BashCompletion, OffersCommandsAndScenarios) {
  const Words first = offered({""});
  for (const char* word : {"memcpy", "overlap", "tune", "list", "info", "help", "version", "compare", "check", "expect",
                           "explain", "completion", "man"}) {
    EXPECT_TRUE(has(first, word)) << word;
  }
  EXPECT_EQ(offered({"mem"}), Words{"memcpy"});
  EXPECT_EQ(offered({"tune", "sm"}), Words{"smem"});
  EXPECT_EQ(offered({"completion", ""}), (Words{"bash", "zsh", "fish"}));
}

TEST(BashCompletion, OffersTheFlagsOfTheScenarioOnTheLine) {
  const Words memcpy = offered({"memcpy", "--"});
  EXPECT_TRUE(has(memcpy, "--dir") && has(memcpy, "--json") && has(memcpy, "--help"));
  EXPECT_FALSE(has(memcpy, "--strategy"));
  EXPECT_TRUE(has(offered({"--"}), "--strategy")) << "overlap is the default";
  EXPECT_EQ(offered({"memcpy", "latency", "--me"}), (Words{"--method", "--memory"})) << "the last one's";
  EXPECT_TRUE(has(offered({"tune", "smem", "--m"}), "--memory-limit"));
  EXPECT_EQ(offered({"list", "--"}), (Words{"--gpu", "--gpus", "--simulate", "--markdown", "--html", "--help"}));
  EXPECT_TRUE(has(offered({"compare", "--"}), "--threshold"));
}

TEST(BashCompletion, OffersTheWordsThatAFlagTakes) {
  EXPECT_EQ(offered({"memcpy", "--dir", "h"}), Words{"h2d"});
  EXPECT_EQ(offered({"memcpy", "--dir", "=", "h2d,d"}), (Words{"h2d,d2h", "h2d,d2d"})) << "as bash splits it";
  EXPECT_TRUE(has(offered({"memcpy", "--dir", "="}), "all"));
  EXPECT_EQ(offered({"exchange", "--pairs", "a"}), Words{"all"}) << "a word of its own";
  EXPECT_EQ(offered({"p2p", "--pairs", ""}), Words{"all"});
  EXPECT_EQ(offered({"--color", "a"}), (Words{"auto", "always"}));
  EXPECT_EQ(offered({"--size", ""}), Words{}) << "numbers are the user's";
}

TEST(BashCompletion, TakesValuesForNoScenarios) {
  EXPECT_FALSE(has(offered({"memcpy", "--api", "async", "--"}), "--in-flight")) << "a flag of the scenario async";
  EXPECT_TRUE(has(offered({"--simulate", "h200", "memcpy", "--"}), "--dir"));
  EXPECT_TRUE(has(offered({"--simulate", "memcpy", "--"}), "--dir"));
  EXPECT_TRUE(has(offered({"--simulate", ""}), "h200"));
}

TEST(BashCompletion, OffersFilesWhereFilesGo) {
  const TemporaryFolder folder;
  write_file(folder / "results with blanks.json", "");
  const std::string file = folder / "results with blanks.json";
  const std::string begin = folder / "res";
  EXPECT_EQ(offered({"check", begin}), Words{file});
  EXPECT_EQ(offered({"compare", begin}), Words{file});
  for (const char* flag : {"--json", "--csv", "--markdown", "--html", "--timeline", "--openmetrics", "--simulate"}) {
    EXPECT_EQ(offered({flag, begin}), Words{file}) << flag;
  }
  EXPECT_EQ(offered({"check", "--junit", begin}), Words{file});
  EXPECT_EQ(offered({"check", "--annotations", ""}), Words{"github"});
  EXPECT_TRUE(has(offered({"check", "x", "--expect", "h"}), "h200"));
  EXPECT_EQ(offered({"expect", begin}), Words{file});
  EXPECT_EQ(offered({"explain", begin}), Words{file});
  EXPECT_EQ(offered({"explain", "--recording", begin}), Words{file});
  EXPECT_EQ(offered({"explain", "--", begin}), Words{file}) << "the program";
  EXPECT_EQ(offered({"explain", "--", "./my_app", "--json", begin}), Words{file}) << "its words";
  EXPECT_EQ(offered({"expect", "x", "-o", begin}), Words{file});
  EXPECT_EQ(offered({"list", "ex"}), (Words{"expectations", "exchange"}));
  EXPECT_TRUE(has(offered({"--suite", "q"}), "quick"));
}

TEST(BashCompletion, HasNothingThatShellcheckWouldChange) {
  if (!std::filesystem::exists("/usr/bin/shellcheck")) GTEST_SKIP() << "shellcheck is not installed";
  const TemporaryFolder folder;
  write_file(folder / "script", xferbench({"completion", "bash"}).out);
  const Outcome o = run("/usr/bin/shellcheck", {folder / "script"});
  EXPECT_EQ(o.exit_code, 0) << o.out;
}

TEST(BashCompletion, OffersNamesOfFilesAsTheyAre) {
  const TemporaryFolder data;
  std::filesystem::create_directory(data / "suites");
  for (const char* name : {"fine.json", "it's.json", "two words.json", "$(touch x).json"}) {
    write_file(data / "suites" / name, "");
  }
  Options options;
  options.environment["XFERBENCH_DATA"] = data.path().string();
  const Outcome o = xferbench({"__complete", "--suite", ""}, options);
  expect_success(o);
  EXPECT_EQ(lines(o.out), (Words{"$(touch x)", "fine", "it's", "two words", ":files"}));
}

TEST(Completion, OfZshRepeatsTheFlagBeforeAnEqualsSign) {
  EXPECT_EQ(lines(xferbench({"__complete", "memcpy", "--dir=h2d,d"}).out), (Words{"--dir=h2d,d2h", "--dir=h2d,d2d"}));
}

TEST(Completion, SaysNothingOfWhatIsWrong) {
  const Outcome o = xferbench({"__complete", "--size", "banana", "--nosuch", "memcpy", "--di"});
  expect_success(o);
  EXPECT_EQ(lines(o.out), Words{"--dir"});
}

TEST(FishCompletion, IsAScriptThatFishReadsAndAsksTheProgram) {
  const Outcome script = xferbench({"completion", "fish"});
  expect_success(script);
  EXPECT_TRUE(contains(script.out, "\ncomplete -c xferbench ")) << script.out;
  EXPECT_TRUE(contains(script.out, " __complete ")) << script.out;
  if (!std::filesystem::exists("/usr/bin/fish")) GTEST_SKIP() << "fish is not installed";
  const TemporaryFolder folder;
  write_file(folder / "script", script.out);
  const Outcome o =
      run("/usr/bin/fish", {"--no-config", "-c", "source $argv[1]; complete -C \"$argv[2] memcpy --dir h\"",
                            folder / "script", XFERBENCH_PROGRAM});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_EQ(o.out, "h2d\n") << o.err;
}

TEST(ZshCompletion, IsAScriptThatZshReads) {
  const Outcome script = xferbench({"completion", "zsh"});
  expect_success(script);
  EXPECT_TRUE(script.out.starts_with("#compdef xferbench\n"));
  if (!std::filesystem::exists("/usr/bin/zsh")) GTEST_SKIP() << "zsh is not installed";
  const TemporaryFolder folder;
  write_file(folder / "script", script.out);
  const Outcome o = run("/usr/bin/zsh", {"-n", folder / "script"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
}

}  // namespace
}  // namespace xferbench::test
