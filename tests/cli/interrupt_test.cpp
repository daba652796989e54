// A run that is interrupted: measured cases are in the results file, and the file is valid at every moment.

#include <algorithm>
#include <csignal>
#include <thread>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

constexpr std::size_t kCases = 64 * 64;

/// Number of cases in the results file now; 0 without a file. Fails if the file is not whole.
std::size_t finished_cases(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return 0;
  const Json json = parse_json(read_file(file));
  if (!json.is_object()) return 0;
  EXPECT_EQ(json["complete"], false);
  return json["results"].size();
}

bool wait_for_cases(const std::filesystem::path& file, std::size_t count) {
  return until([&] { return finished_cases(file) >= count; });
}

constexpr const char* kAcknowledged = "xferbench: stopping after this pass; press Ctrl-C again to stop now";

class Interrupt : public testing::Test {
 protected:
  /// Sends the signal to a long run after its first results, and returns its outcome. The remaining cases must be
  /// skipped at once: running them, or writing each, would take minutes.
  Outcome interrupted_by(int signal) {
    Process process(XFERBENCH_PROGRAM, endless_run(file_));
    EXPECT_TRUE(wait_for_cases(file_, 3)) << "no results yet";
    const auto signalled = std::chrono::steady_clock::now();
    process.send(signal);
    Outcome outcome = process.wait();
    EXPECT_LT(std::chrono::steady_clock::now() - signalled, std::chrono::seconds(15));
    return outcome;
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "results.json";
};

TEST_F(Interrupt, ByCtrlCKeepsWhatWasMeasuredSkipsTheRestAndPrintsTheTable) {
  const Outcome o = interrupted_by(SIGINT);
  EXPECT_EQ(o.exit_code, 130);
  const Json json = read_json(file_);
  EXPECT_EQ(json["complete"], false);
  const Json& results = json["results"];
  ASSERT_EQ(results.size(), kCases);
  const auto is_ok = [](const Json& result) { return result["status"] == "ok"; };
  const auto first_skipped = std::ranges::find_if_not(results, is_ok);
  EXPECT_GE(first_skipped - results.begin(), 3);
  ASSERT_NE(first_skipped, results.end()) << "the run had ended before the signal came";
  for (auto result = first_skipped; result != results.end(); ++result) {
    ASSERT_EQ((*result)["status"], "skipped") << (*result)["key"];
    ASSERT_TRUE(contains((*result)["reason"], "interrupted")) << (*result)["reason"];
  }
  expect_valid_results(file_);
  const auto entries = std::filesystem::directory_iterator(folder_.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1) << "nothing is left beside the file";
  EXPECT_TRUE(o.out.starts_with("SIMULATED")) << o.out.substr(0, 200);
  EXPECT_TRUE(contains(
      o.out, "INCOMPLETE: not all cases were completed\ncontinue: xferbench --resume " + file_.string() + "\n"))
      << o.out.substr(0, 200);
  EXPECT_EQ(o.err, std::string(kAcknowledged) + "\n");
}

TEST_F(Interrupt, IsAcknowledgedAtOnceAndASecondOneEndsIt) {
  Arguments arguments = endless_run(file_);
  // Simulating one pass of 1 GiB takes seconds, so the second signal arrives during that pass.
  std::ranges::replace(arguments, std::string("16M"), std::string("1G"));
  Process process(XFERBENCH_PROGRAM, arguments);
  ASSERT_TRUE(until_there(file_));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  process.send(SIGINT);
  ASSERT_TRUE(process.wait_for_error_text(kAcknowledged)) << "while it is still in its pass";
  process.send(SIGINT);
  const Outcome o = process.wait();
  EXPECT_TRUE(o.signal == SIGINT || o.exit_code == 130) << o.exit_code;
  EXPECT_EQ(read_json(file_)["complete"], false);
}

TEST_F(Interrupt, AtATerminalIsAcknowledgedOnALineOfItsOwn) {
  Options options;
  options.err = Sink::terminal();
  Process process(XFERBENCH_PROGRAM, endless_run(file_), options);
  ASSERT_TRUE(process.wait_for_error_text("[3/4096]"));
  process.send(SIGINT);
  const Outcome o = process.wait();
  EXPECT_TRUE(contains(o.err, "\n" + std::string(kAcknowledged))) << o.err.substr(o.err.size() - 300);
}

TEST_F(Interrupt, OfAQuietRunIsNotAcknowledgedAndItsTableSaysHowToGoOnAsAShellReadsIt) {
  const std::filesystem::path file = folder_ / "my results.json";
  Arguments arguments = endless_run(file);
  arguments.emplace_back("--quiet");
  Process process(XFERBENCH_PROGRAM, arguments);
  ASSERT_TRUE(wait_for_cases(file, 3));
  process.send(SIGINT);
  const Outcome o = process.wait();
  EXPECT_EQ(o.err, "");
  EXPECT_TRUE(contains(o.out, "\ncontinue: xferbench --resume '" + file.string() + "'\n"));
}

TEST_F(Interrupt, WithoutAFileHasNothingToGoOnWith) {
  Options options;
  options.err = Sink::terminal();
  Arguments arguments = endless_run(file_);
  arguments.resize(arguments.size() - 2);
  Process process(XFERBENCH_PROGRAM, arguments, options);
  ASSERT_TRUE(process.wait_for_error_text("[3/4096]"));
  process.send(SIGINT);
  const Outcome o = process.wait();
  EXPECT_TRUE(contains(o.out, "INCOMPLETE")) << o.out.substr(0, 200);
  EXPECT_FALSE(contains(o.out + o.err, "continue:"));
}

TEST_F(Interrupt, BySigtermHasItsOwnExitCode) {
  const Outcome o = interrupted_by(SIGTERM);
  EXPECT_EQ(o.exit_code, 143);
  EXPECT_EQ(read_json(file_)["complete"], false);
}

TEST_F(Interrupt, OfJsonOnStandardOutputIsOneDocument) {
  Options options;
  options.err = Sink::terminal();  // the progress line shows when the first case has begun
  Process process(XFERBENCH_PROGRAM, endless_run("-"), options);
  ASSERT_TRUE(process.wait_for_error_text("[3/4096]"));
  process.send(SIGINT);
  const Outcome o = process.wait();
  EXPECT_EQ(o.exit_code, 130);
  const Json json = parse_json(o.out);
  EXPECT_EQ(json["complete"], false);
  EXPECT_EQ(json["results"].size(), kCases);
}

}  // namespace
}  // namespace xferbench::test
