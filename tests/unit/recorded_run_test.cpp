// run.json of a recording: round trip, and messages about a damaged file.
#include "results/recorded_run.hpp"

#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "unit/support.hpp"

namespace xferbench {
namespace {

RecordedRun whole_run() {
  return {.command = {"./my app", "--json", "x\n\"y\""},
          .started_at = "2026-11-23T10:00:00Z",
          .version = "0.1.0",
          .range = "steps",
          .from = 1.5,
          .pid = 4711,
          .begin = 17'000'000'000'000,
          .end = 17'000'053'000'000,
          .baseline = {0.052, 0.053},
          .profiled = {0.0545, 0.054},
          .baseline_range = {0.05, 0.051},
          .exit_code = 3,
          .signal = 11};
}

std::string run_with(const std::string& field, const nlohmann::json& value) {
  nlohmann::json json = nlohmann::json::parse(to_json(whole_run()));
  json[field] = value;
  return json.dump();
}

void expect_refused(const std::string& text, const std::string& message) {
  const std::string said = test::message_of<InputError>([&] { parse_recorded_run(text, "run.json"); });
  EXPECT_TRUE(said.starts_with("run.json")) << said;
  EXPECT_TRUE(test::mentions(said, message)) << text;
}

TEST(RecordedRun, IsReadAsItWasWritten) {
  EXPECT_EQ(parse_recorded_run(to_json(whole_run()), "run.json"), whole_run());
  const RecordedRun least{.command = {"a"}, .started_at = "2026-11-23T10:00:00Z", .version = "0"};
  EXPECT_EQ(parse_recorded_run(to_json(least), "run.json"), least);
}

TEST(RecordedRun, KnowsHowLongItTook) { EXPECT_NEAR(whole_run().seconds(), 0.053, 1e-12); }

TEST(RecordedRun, SaysWhatIsWrongWithIt) {
  expect_refused("", "expected an object");
  expect_refused("[]", "found a list");
  expect_refused(to_json(whole_run()).substr(0, 40), "the file is truncated here");
  expect_refused(run_with("schema", "xferbench/1"), "expected 'xferbench-recording/1'");
  expect_refused(run_with("schema", "xferbench-recording/2"), "from another version of xferbench");
  expect_refused(run_with("command", "a b"), "command: found 'a b', expected a list");
  expect_refused(run_with("command", {1}), "command[0]: found the number 1");
  expect_refused(run_with("pid", -1), "pid: found the number -1");
  expect_refused(run_with("pid", 1e300), "pid: ");
  expect_refused(run_with("pid", 1ULL << 40U), "pid: ");
  expect_refused(run_with("begin", 0.5), "begin: found the number 0.5");
  expect_refused(run_with("end", 1), "found an end before its begin");
  expect_refused(run_with("bare", {-1}), "bare[0]: found the number -1");
  expect_refused(run_with("watched", {"fast"}), "watched[0]: found 'fast'");
  expect_refused(run_with("exit_code", 256), "exit_code: found the number 256");
  expect_refused(run_with("signal", -9), "signal: found the number -9");
  expect_refused(R"({"schema": "xferbench-recording/1"})", "has no 'command'");
  expect_refused(std::string(100'000, '['), "found a list");
}

}  // namespace
}  // namespace xferbench
