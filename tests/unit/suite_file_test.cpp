// What a suite file may say, and what is said of one that is wrong.
#include "results/suite_file.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace xferbench {
namespace {

std::string suite_of(const std::string& rest) {
  return R"({"schema": "xferbench-suite/1", "description": "d", )" + rest + "}";
}

void expect_refused(const std::string& text, const std::string& message) {
  try {
    parse_suite(text, "s.json");
    ADD_FAILURE() << text;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    EXPECT_TRUE(std::string(error.what()).starts_with("s.json: ")) << error.what();
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
  expect_refused("", "line 1 is no JSON");
  expect_refused(R"({"schema": )", "is no JSON");
  expect_refused("[]", "the file must be an object");
  expect_refused(R"({"schema": "xferbench/1", "description": "d", "runs": ["a"]})", "schema must be");
  expect_refused("{\n\"schema\": 1,\n}", "line 3 is no JSON");
  expect_refused(R"({"schema": "xferbench-suite/1", "runs": ["a"]})", "the field \"description\" is missing");
  expect_refused(R"({"schema": "xferbench-suite/1", "description": 3, "runs": ["a"]})", "description must be a text");
  expect_refused(suite_of(R"("run": ["a"])"), "no field \"run\" in a suite");
  expect_refused(suite_of(R"("turns": 1e999, "runs": ["a"])"), "out of range");
  expect_refused(suite_of(R"("turns": 2)"), "the field \"runs\" is missing");
  expect_refused(suite_of(R"("runs": [])"), "runs must be a list of command lines");
  expect_refused(suite_of(R"("runs": "a")"), "runs must be a list of command lines");
  expect_refused(suite_of(R"("runs": ["a", 3])"), "runs[1] must be a text");
  expect_refused(suite_of(R"("runs": ["a", "  "])"), "runs[1] must be a command line");
  expect_refused(suite_of(R"("turns": 0, "runs": ["a"])"), "turns must be a whole number from 1 to 100");
  expect_refused(suite_of(R"("turns": 1.5, "runs": ["a"])"), "turns must be a whole number");
  expect_refused(suite_of(R"("sampling": {"gpu": 1}, "runs": ["a"])"), "sampling has no \"gpu\"");
  expect_refused(suite_of(R"("sampling": {"ci": "1"}, "runs": ["a"])"), "sampling.ci must be a number");
}

TEST(SuiteFile, DoesNotFollowWhatNestsWithoutEnd) { expect_refused(std::string(1'000'000, '['), "nests too deeply"); }

}  // namespace
}  // namespace xferbench
