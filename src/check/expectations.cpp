#include "check/expectations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "results/json_shape.hpp"

namespace xferbench::check {

namespace {

using namespace json;
using enum Rule;

constexpr std::string_view kVersion1 = "xferbench-expect/1";

// --- Limits ---------------------------------------------------------------------------------------------------------

Quantity quantity(Reader& in, std::string_view text) {
  const auto quantity = parse_quantity(text);
  if (!quantity) {
    in.fail(fmt::format("found {}, expected a number and its unit, such as \"52 GB/s\"", in_quotes(text)));
  }
  return *quantity;
}

constexpr Shape kShare{.expected = "a share, such as 0.85 or \"85 %\"",
                       .text =
                           [](Reader& in, void* share, std::string& text) {
                             as<Quantity>(share) = quantity(in, text);
                             const std::string& unit = as<Quantity>(share).unit;
                             if (!unit.empty() && unit != "1") in.fail("expected a share, such as 0.85 or \"85 %\"");
                           },
                       .number =
                           [](Reader&, void* share, double value) {
                             as<Quantity>(share) = {value, ""};
                           }};

void check_limit(Reader& in, void* limit) {
  if (as<Limit>(limit).amount.value <= 0) in.fail("expected a limit above 0");
}

constexpr std::array kLimitFields{
    field<&Limit::of>("of"),
    field<&Limit::amount, kShare>("share"),
};

/// An amount, or {"of": "link", "share": 0.85}.
constexpr Shape kLimit{.expected = "a number, a text such as \"52 GB/s\", or a share of something",
                       .text =
                           [](Reader& in, void* limit, std::string& text) {
                             as<Limit>(limit).amount = quantity(in, text);
                             check_limit(in, limit);
                           },
                       .number =
                           [](Reader& in, void* limit, double value) {
                             as<Limit>(limit).amount = {value, ""};
                             check_limit(in, limit);
                           },
                       .is_object = true,
                       .fields = kLimitFields,
                       .strict = true,
                       .end = check_limit};

// --- Cases ----------------------------------------------------------------------------------------------------------

void check_condition(Reader& in, const std::string& text) {
  const std::size_t bound = text.find_first_not_of("<>=");
  if (bound == 0) return;
  if (bound == std::string::npos) in.fail("found no value, expected one such as \"h2d\" or \">=1MiB\"");
  const std::string sign = text.substr(0, bound);
  const auto quantity = parse_quantity(text.substr(bound));
  constexpr std::array kSigns{"<", "<=", ">", ">=", "="};
  if (!quantity || std::ranges::find(kSigns, sign) == kSigns.end()) {
    in.fail(fmt::format("found {}, expected a bound such as \">=256MiB\"", in_quotes(text)));
  }
  if (!quantity->unit.empty() && quantity->unit != "B") {
    in.fail(fmt::format("unknown unit in {}; axes are numbers or sizes, such as 256MiB", in_quotes(text)));
  }
}

constexpr Shape kConditionText{
    .expected = "a text or a number",
    .text =
        [](Reader& in, void* into, std::string& text) {
          check_condition(in, text);
          as<std::string>(into) = text;
        },
    .number = [](Reader&, void* into, double value) { as<std::string>(into) = fmt::format("{}", value); }};

/// One value, or a list of them.
constexpr Shape kCondition{
    .expected = "a text, a number, or a list of them",
    .text = [](Reader& in, void* c,
               std::string& text) { kConditionText.text(in, &as<Condition>(c).any_of.emplace_back(), text); },
    .number = [](Reader& in, void* c,
                 double value) { kConditionText.number(in, &as<Condition>(c).any_of.emplace_back(), value); },
    .item = [](Reader&, void* c, std::size_t) -> Target {
      return {&kConditionText, &as<Condition>(c).any_of.emplace_back()};
    },
    .end =
        [](Reader& in, void* c) {
          if (as<Condition>(c).any_of.empty()) in.fail("found an empty list, expected at least one value");
        }};

constexpr std::array kCaseFields{field<&Expectation::scenario>("scenario", optional)};

/// "memcpy/dir=h2d/*", or {"scenario": "memcpy", "dir": "h2d", "size": ">=256MiB"}.
constexpr Shape kCase{.expected = "a pattern for keys, or an object with scenario and axes",
                      .text = [](Reader&, void* e, std::string& text) { as<Expectation>(e).cases = text; },
                      .is_object = true,
                      .fields = kCaseFields,
                      .entry = [](Reader& in, void* e, std::string_view name) -> Target {
                        auto& where = as<Expectation>(e).where;
                        in.refuse_more_than(kMostEntries, where.size());
                        return {&kCondition, &where.emplace_back(Condition{std::string(name), {}})};
                      },
                      .end =
                          [](Reader& in, void* e) {
                            std::vector<std::string_view> axes;
                            for (const Condition& c : as<Expectation>(e).where) axes.push_back(c.axis);
                            in.refuse_twice(std::move(axes));
                          }};

// --- Expectations ---------------------------------------------------------------------------------------------------

/// The unit that is written once for both limits.
void apply_unit(Reader& in, const std::string& unit, std::optional<Limit>& limit) {
  if (unit.empty() || !limit || !limit->of.empty()) return;
  if (!limit->amount.unit.empty()) in.fail("has its unit twice: in the limit and as \"unit\"; leave one out");
  limit->amount = in_base_unit(limit->amount.value, unit);
}

void check_limits(Reader& in, const Expectation& e) {
  if (!e.at_least && !e.at_most) in.fail(R"(has no limit; add "at_least" or "at_most")");
  if (!e.at_least || !e.at_most || e.at_least->of != e.at_most->of) return;
  if (e.at_least->amount.unit == e.at_most->amount.unit && e.at_least->amount.value > e.at_most->amount.value) {
    in.fail("at_least is more than at_most: nothing can hold");
  }
}

void complete(Reader& in, void* expectation) {
  auto& e = as<Expectation>(expectation);
  e.is_measurement = in.has("measurement");
  if (e.is_measurement == in.has("metric")) {
    in.fail(R"(expected one of "metric" and "measurement": the number that is to be checked)");
  }
  if (!e.is_measurement && in.has("statistic")) in.fail("only a measurement has a \"statistic\"");
  apply_unit(in, e.unit, e.at_least);
  apply_unit(in, e.unit, e.at_most);
  check_limits(in, e);
  if (!e.name.empty()) return;
  const std::string about = e.cases.empty() ? e.scenario : e.cases;
  e.name = e.number + (about.empty() ? "" : " of " + about);
}

constexpr std::array kAggregates{Aggregate::every, Aggregate::best, Aggregate::median};
constexpr std::array kStatistics{Statistic::median, Statistic::p90, Statistic::p99, Statistic::min, Statistic::max};

constexpr std::array kExpectationFields{
    field<&Expectation::name>("name", optional),
    part("case", kCase, optional),
    field<&Expectation::number>("metric", optional),
    field<&Expectation::number>("measurement", optional),
    field<&Expectation::statistic, kOneOf<Statistic, kStatistics>>("statistic", optional),
    field<&Expectation::at_least, kLimit>("at_least", optional),
    field<&Expectation::at_most, kLimit>("at_most", optional),
    field<&Expectation::unit>("unit", optional),
    field<&Expectation::aggregate, kOneOf<Aggregate, kAggregates>>("aggregate", optional),
    field<&Expectation::optional>("optional", optional),
};
constexpr Shape kExpectation = strict_record(kExpectationFields, complete);

void check_some(Reader& in, std::vector<Expectation>& all) {
  if (all.empty()) in.fail("expects nothing; add expectations to the list");
}

constexpr std::array kFileFields{
    part("schema", kSchema<kVersion1>),
    field<&Expectations::description, kText>("description", optional),
    field<&Expectations::gpu>("gpu", optional),
    field<&Expectations::all, kListOf<Expectation, kExpectation, kMostEntries, check_some>>("expect"),
};
constexpr Shape kFile{.expected = "expectations: an object with schema and expect",
                      .is_object = true,
                      .fields = kFileFields,
                      .strict = true};

}  // namespace

std::string_view to_text(Aggregate aggregate) {
  switch (aggregate) {
    case Aggregate::every: return "every";
    case Aggregate::best: return "best";
    case Aggregate::median: return "median";
  }
  return "";
}

std::string_view to_text(Statistic statistic) {
  switch (statistic) {
    case Statistic::median: return "median";
    case Statistic::p90: return "p90";
    case Statistic::p99: return "p99";
    case Statistic::min: return "min";
    case Statistic::max: return "max";
  }
  return "";
}

Expectations parse_expectations(std::string_view text, std::string_view name) {
  Expectations expectations;
  expectations.source = name;
  read_text(text, name, {&kFile, &expectations});
  return expectations;
}

Expectations read_expectations(const std::string& path) {
  Expectations expectations;
  expectations.source = path;
  read_file(path, {&kFile, &expectations});
  return expectations;
}

}  // namespace xferbench::check
