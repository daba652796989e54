// Suite files: fields and error messages.
#include "results/suite_file.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace xferbench {
namespace {

std::string suite_of(const std::string& rest) {
  return R"({"schema": "xferbench-suite/1", "description": "d", )" + rest + "}";
}

void expect_refused_suite(const std::string& text, const std::string& message) {
  try {
    parse_suite(text, "s.json");
    ADD_FAILURE() << text;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    EXPECT_TRUE(std::string(error.what()).starts_with("s.json:")) << error.what();
  }
}

TEST(SuiteFile, IsRead) {
  const Suite suite = parse_suite(
      suite_of(R"("turns": 3, "sampling": {"ci": 2, "budget": 0.5}, "runs": ["memcpy  --size 1M", "latency"])"), "s");
  EXPECT_EQ(suite.description, "d");
  EXPECT_EQ(suite.turns, 3U);
  EXPECT_EQ(suite.sampling, (std::vector<std::pair<std::string, std::string>>{{"ci", "2"}, {"budget", "0.5"}}));
  EXPECT_EQ(suite.runs, (std::vector<std::vector<std::string>>{{"memcpy", "--size", "1M"}, {"latency"}}));
}

TEST(SuiteFile, GoesThroughItsCasesOnceIfItDoesNotSay) {
  EXPECT_EQ(parse_suite(suite_of(R"("runs": ["latency"])"), "s").turns, 1U);
}

TEST(SuiteFile, SaysWhatIsWrongWithIt) {
  expect_refused_suite("", "expected an object");
  expect_refused_suite(R"({"schema": )", "s.json:1: schema: the file is truncated here");
  expect_refused_suite("[]", "found a list, expected an object");
  expect_refused_suite(R"({"schema": "xferbench/1", "description": "d", "runs": ["a"]})",
                       "schema: found 'xferbench/1', expected 'xferbench-suite/1'");
  expect_refused_suite("{\n\"turns\": 1,\n}", "s.json:3: ");
  expect_refused_suite(R"({"schema": "xferbench-suite/1", "runs": ["a"]})", "has no 'description'");
  expect_refused_suite(R"({"schema": "xferbench-suite/1", "description": 3, "runs": ["a"]})",
                       "description: found the number 3, expected a text");
  expect_refused_suite(suite_of(R"("run": ["a"])"), "run: unknown field 'run', expected one of");
  expect_refused_suite(suite_of(R"("turns": 1e999, "runs": ["a"])"), "turns: number overflow");
  expect_refused_suite(suite_of(R"("turns": 2)"), "has no 'runs'");
  expect_refused_suite(suite_of(R"("runs": [])"), "runs: found none, expected command lines");
  expect_refused_suite(suite_of(R"("runs": "a")"), "runs: found 'a', expected a list");
  expect_refused_suite(suite_of(R"("runs": ["a", 3])"), "runs[1]: found the number 3, expected a command line");
  expect_refused_suite(suite_of(R"("runs": ["a", "  "])"), "runs[1]: found nothing, expected a command line");
  expect_refused_suite(suite_of(R"("turns": 0, "runs": ["a"])"),
                       "turns: found the number 0, expected a whole number from 1 to 100");
  expect_refused_suite(suite_of(R"("turns": 1.5, "runs": ["a"])"),
                       "turns: found the number 1.5, expected a whole number");
  expect_refused_suite(suite_of(R"("sampling": {"gpu": 1}, "runs": ["a"])"),
                       "sampling.gpu: unknown field 'gpu', expected one of ci");
  expect_refused_suite(suite_of(R"("sampling": {"ci": "1"}, "runs": ["a"])"),
                       "sampling.ci: found '1', expected a number");
}

TEST(SuiteFile, DoesNotFollowWhatNestsWithoutEnd) {
  expect_refused_suite(std::string(1'000'000, '['), "found a list");
  expect_refused_suite(suite_of(R"("runs": )" + std::string(1'000'000, '[')), "runs[0]: found a list");
}

}  // namespace
}  // namespace xferbench
