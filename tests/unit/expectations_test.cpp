// Parsing of files of expectations, and their error messages.
#include "check/expectations.hpp"

#include <utility>

#include "core/error.hpp"
#include "unit/support.hpp"

namespace xferbench::check {
namespace {

using test::mentions;
using test::message_of;

std::string file(const std::string& expectations) {
  return R"({"schema": "xferbench-expect/1", "expect": [)" + expectations + "]}";
}

Expectation one(const std::string& expectation) { return parse_expectations(file(expectation), "e.json").all.at(0); }

std::string error(const std::string& text) {
  return message_of<InputError>([&] { parse_expectations(text, "e.json"); });
}

std::string error_of(const std::string& expectation) { return error(file(expectation)); }

TEST(Expectations, AreReadWithEverything) {
  const Expectations e = parse_expectations(
      R"({"schema": "xferbench-expect/1", "description": "d", "gpu": "NVIDIA*", "expect": [
          {"name": "n", "case": {"scenario": "memcpy", "dir": ["h2d", "d2h"], "size": ">=256MiB", "streams": 3},
           "measurement": "copy", "statistic": "p99", "at_least": 1, "at_most": 10, "unit": "us",
           "aggregate": "best", "optional": true}]})",
      "e.json");
  EXPECT_EQ(e.source, "e.json");
  EXPECT_EQ(e.description, "d");
  EXPECT_EQ(e.gpu, "NVIDIA*");
  ASSERT_EQ(e.all.size(), 1U);
  const Expectation& one = e.all[0];
  EXPECT_EQ(one.scenario, "memcpy");
  ASSERT_EQ(one.where.size(), 3U);
  EXPECT_EQ(one.where[0].any_of.at(1).text, "d2h");
  EXPECT_EQ(one.where[1].any_of.at(0).bound, Bound::at_least);
  EXPECT_EQ(one.where[1].any_of.at(0).amount, 256 << 20);
  EXPECT_EQ(one.where[2].any_of.at(0).amount, 3);
  EXPECT_TRUE(one.is_measurement && one.optional);
  EXPECT_EQ(one.statistic, Statistic::p99);
  EXPECT_EQ(one.aggregate, Aggregate::best);
  EXPECT_DOUBLE_EQ(one.at_least->amount.value, 1e-6);
}

TEST(Expectations, UnitsStandInTheLimitOrBesideIt) {
  const Expectation beside = one(R"({"metric": "bandwidth", "at_least": 52, "unit": "GB/s"})");
  EXPECT_EQ(beside.at_least->amount.value, 52);
  EXPECT_EQ(beside.at_least->amount.unit, "GB/s");
  const Expectation inside = one(R"({"measurement": "latency", "at_most": "10us"})");
  EXPECT_DOUBLE_EQ(inside.at_most->amount.value, 1e-5);
  EXPECT_EQ(inside.at_most->amount.unit, "s");
  EXPECT_DOUBLE_EQ(one(R"({"metric": "m", "at_least": "85 %"})").at_least->amount.value, 0.85);
}

TEST(Expectations, LimitsMayBeSharesOfSomethingElse) {
  const Expectation e = one(R"({"metric": "bandwidth", "at_least": {"of": "link", "share": "85%"}})");
  EXPECT_EQ(e.at_least->of, "link");
  EXPECT_DOUBLE_EQ(e.at_least->amount.value, 0.85);
}

TEST(Expectations, HaveANameInAnyCase) {
  EXPECT_EQ(one(R"({"metric": "m", "at_least": 1})").name, "m");
  EXPECT_EQ(one(R"({"metric": "m", "case": {"scenario": "memcpy"}, "at_least": 1})").name, "m of memcpy");
}

TEST(Expectations, UnknownWordsAreAnsweredWithTheNearest) {
  EXPECT_EQ(error(R"({"schema": "xferbench-expect/1", "expects": []})"),
            "e.json:1: expects: unknown field 'expects', expected one of schema, description, gpu, expect; did you "
            "mean 'expect'?");
  EXPECT_TRUE(mentions(error_of(R"({"metric": "m", "at_lest": 1})"), "did you mean 'at_least'?"));
  EXPECT_TRUE(mentions(error_of(R"({"metric": "m", "at_least": 1, "aggregate": "medan"})"),
                       "expect[0].aggregate: found 'medan', expected one of every, best, median; "
                       "did you mean 'median'?"));
  EXPECT_TRUE(mentions(error_of(R"({"measurement": "m", "at_least": 1, "statistic": "p95"})"), "p99"));
}

TEST(Quantity, IsShownInTheUnitInWhichItWasWritten) {
  const auto shown = [](double value, const char* limit) { return in_written_unit(value, *parse_quantity(limit)); };
  EXPECT_EQ(shown(3.5e-6, "10us"), "3.500 us");
  EXPECT_EQ(shown(55.03, "52 GB/s"), "55.03 GB/s");
  EXPECT_EQ(shown(0.9123, "90 %"), "91.23 %");
  EXPECT_EQ(shown(0.9123, "0.9"), "91.23 %");
  EXPECT_EQ(shown(12, "10 copies"), "12.00 copies");
  EXPECT_EQ(shown(1e300, "90 %"), "over 1000000 %");
  EXPECT_EQ(shown(1e-7, "90 %"), "under 0.0001 %");
  for (const char* limit : {"52 GB/s", "10 us", "86.25 ns", "90 %", "1000000 %", "256 MiB", "2.5 TB/s", "12 copies"}) {
    EXPECT_EQ(written(*parse_quantity(limit)), limit);
  }
}

TEST(Expectations, ThatSayNothingAreRefused) {
  EXPECT_TRUE(mentions(error(file("")), "the list is empty"));
  EXPECT_TRUE(mentions(error(R"({"gpu": "x"})"), "has no 'schema'"));
  EXPECT_TRUE(mentions(error(R"({"schema": "xferbench/1"})"), "a file of another kind"));
  const std::vector<std::pair<std::string, std::string>> refused{
      {R"("metric": "m")", "has no limit"},
      {R"("at_least": 1)", R"(expected one of "metric" and "measurement")"},
      {R"("metric": "m", "measurement": "m", "at_least": 1)", "expected one of"},
      {R"("metric": "m", "at_least": 2, "at_most": 1)", "no value can meet both"},
      {R"("metric": "m", "at_least": 0)", "above 0"},
      {R"("metric": "m", "at_least": "fast")", "expected a number with its unit"},
      {R"("metric": "m", "at_least": "1 us", "unit": "s")", "has two units"},
      {R"("metric": "m", "at_least": {"of": "link"})", "has no 'share'"},
      {R"("metric": "m", "at_least": {"of": "link", "share": "1 us"})", "share: found '1 us', expected a share"},
      {R"("metric": "m", "statistic": "p99", "at_least": 1)", "needs a \"measurement\""},
      {R"("metric": "m", "at_least": 1, "metric": "n")", "occurs twice"},
      {R"("metric": "m", "at_least": 1, "case": {"size": ">=big"})", "expected a bound such as \">=256MiB\""},
      {R"("metric": "m", "at_least": 1, "case": {"size": "=>1"})", "expected a bound"},
      {R"("metric": "m", "at_least": 1, "case": {"size": ">=1us"})", "unknown unit"},
      {R"("metric": "m", "at_least": 1, "case": {"size": "<="})", "found no value"},
      {R"("metric": "m", "at_least": 1, "case": {"size": []})", "empty list"},
      {R"("metric": "m", "at_least": 1, "case": 3)", "expected a pattern for keys"}};
  for (const auto& [fields, said] : refused) EXPECT_TRUE(mentions(error_of("{" + fields + "}"), said));
}

TEST(Expectations, DamagedFilesAreOneLine) {
  for (const std::string& text : {std::string(), std::string("{"), std::string("[]"), std::string("{\"schema\": 1}"),
                                  std::string("\xff\xfe"), std::string(100'000, '['), file("1"), file("{}") + "x"}) {
    const std::string message = error(text);
    EXPECT_TRUE(message.starts_with("e.json:1: ")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(Quantity, KnowsTheUnitsOfResults) {
  const auto is = [](const char* text, double value, const char* unit) {
    const auto q = parse_quantity(text);
    ASSERT_TRUE(q) << text;
    EXPECT_DOUBLE_EQ(q->value, value) << text;
    EXPECT_EQ(q->unit, unit) << text;
  };
  is("52 GB/s", 52, "GB/s");
  is("1.5TB/s", 1500, "GB/s");
  is("10us", 1e-5, "s");
  is("4K", 4096, "B");
  is("1 GB", 1e9, "B");
  is("12 copies", 12, "copies");
  is("7", 7, "");
  EXPECT_FALSE(parse_quantity("fast"));
  EXPECT_FALSE(parse_quantity(""));
  EXPECT_FALSE(parse_quantity("inf"));
}

}  // namespace
}  // namespace xferbench::check
