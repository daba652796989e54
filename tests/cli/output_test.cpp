// Output that cannot be written: exit code 2 and one line that names it. The other outputs are still written.

#include <csignal>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

Options with_output(Sink out) {
  Options options;
  options.out = std::move(out);
  return options;
}

class FullDisk : public testing::TestWithParam<Arguments> {};

TEST_P(FullDisk, BehindStandardOutputIsReported) {
  expect_refusal(xferbench(GetParam(), with_output(Sink::file("/dev/full"))), 2,
                 "cannot write standard output: No space left on device");
}

INSTANTIATE_TEST_SUITE_P(EveryCommand, FullDisk,
                         testing::Values(small_run(), small_run({"--json", "-"}), Arguments{"--dry-run"},
                                         Arguments{"list"}, Arguments{"info"}, Arguments{"--help"},
                                         Arguments{"--version"}));

TEST(FullDisk, BehindStandardOutputDoesNotCostTheResultsFile) {
  const TemporaryFolder folder;
  const Outcome o = xferbench(small_run({"--json", folder / "results.json"}), with_output(Sink::file("/dev/full")));
  expect_refusal(o, 2, "cannot write standard output");
  EXPECT_EQ(read_json(folder / "results.json")["complete"], true);
}

TEST(ClosedStandardOutput, IsReported) {
  expect_refusal(xferbench({"--version"}, with_output(Sink::closed())), 2, "cannot write standard output");
  expect_refusal(xferbench(small_run(), with_output(Sink::closed())), 2, "cannot write standard output");
}

// `xferbench ... | head -1`: SIGPIPE ends the program as usual, but only after the results file is safe.
TEST(BrokenPipe, DoesNotCostTheResultsFile) {
  const TemporaryFolder folder;
  const Outcome o = xferbench(small_run({"--json", folder / "results.json"}), with_output(Sink::broken_pipe()));
  EXPECT_EQ(o.signal, SIGPIPE);
  EXPECT_EQ(read_json(folder / "results.json")["complete"], true);
}

TEST(ResultsFile, ThatIsAFolderIsRefusedBeforeTheRun) {
  const TemporaryFolder folder;
  expect_refusal(xferbench(small_run({"--json", folder.path().string()})), 2, "Is a directory");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ResultsFile, ThatIsStandardOutputByAnotherNameIsPureToo) {
  const Outcome o = xferbench(small_run({"--json", "/dev/stdout"}));
  expect_success(o);
  EXPECT_EQ(parse_json(o.out)["complete"], true);
}

TEST(ResultsFile, ThatIsStandardOutputByAnotherNameDoesNotReplaceWhatIsAppendedTo) {
  const TemporaryFolder folder;
  write_file(folder / "log", "precious\n");
  expect_success(xferbench(small_run({"--json", "/dev/stdout"}), with_output(Sink::file(folder / "log"))));
  const std::string log = read_file(folder / "log");
  ASSERT_TRUE(log.starts_with("precious\n")) << log.substr(0, 100);
  EXPECT_EQ(parse_json(log.substr(std::string("precious\n").size()))["complete"], true);
}

TEST(Quiet, SilencesWarnings) {
  // 1024 chunks of 64 bytes: the time to enqueue them on the host is the bottleneck, which causes a warning.
  const Arguments host_bound = {"--simulate", "--size", "64K", "--chunks", "1024"};
  const Outcome loud = xferbench(host_bound);
  EXPECT_EQ(loud.exit_code, 0);
  ASSERT_GE(lines(loud.err).size(), 1U);
  for (const std::string& line : lines(loud.err)) {
    EXPECT_TRUE(line.starts_with("xferbench: warning: ")) << line;
    EXPECT_FALSE(contains(line, "overlap/")) << "there is one case only: " << line;
  }
  Arguments quiet = host_bound;
  quiet.emplace_back("--quiet");
  const Outcome silent = xferbench(quiet);
  expect_success(silent);
  EXPECT_EQ(silent.out, loud.out);
}

TEST(Warnings, OfOneKindAreOneLine) {
  const Outcome o = xferbench({"memcpy", "--simulate", "--dir", "d2d", "--size", "1M,2M,4M"});
  EXPECT_EQ(o.exit_code, 0);
  ASSERT_EQ(lines(o.err).size(), 1U) << o.err;
  EXPECT_TRUE(contains(o.err, "size=1MiB: source and destination are not much larger than the L2 cache")) << o.err;
  EXPECT_TRUE(contains(o.err, "(and in 2 more cases)")) << o.err;
}

}  // namespace
}  // namespace xferbench::test
