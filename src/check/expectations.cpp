#include "check/expectations.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "results/json_codec.hpp"

namespace xferbench::check {

namespace {

using namespace json;
using enum Rule;

constexpr std::string_view kVersion1 = "xferbench-expect/1";

// --- Limits ---------------------------------------------------------------------------------------------------------

/// Pattern of the JSON schema for texts such as "52 GB/s" and "85 %".
constexpr std::string_view kQuantityPattern = "^ *[0-9.]";

/// Parses a quantity, which is a number without a unit or a text with a unit.
Quantity quantity(Reader& in) {
  if (!in.is_text()) return {in.as_number()};
  const auto quantity = parse_quantity(in.as_text());
  if (quantity) return *quantity;
  in.fail(fmt::format("found {}, expected a number with its unit, such as \"52 GB/s\"", in_quotes(in.as_text())));
}

constexpr Codec kShare{.expected = "a share, such as 0.85 or \"85 %\"",
                       .take =
                           [](Reader& in, void* share) {
                             as<Quantity>(share) = quantity(in);
                             const std::string& unit = as<Quantity>(share).unit;
                             if (!unit.empty() && unit != "1") in.refuse();
                           },
                       .types = {"number", "string"},
                       .least = 0,
                       .above = true,
                       .pattern = kQuantityPattern};

void check_limit(Reader& in, void* limit) {
  if (as<Limit>(limit).amount.value <= 0) in.fail("expected a limit above 0");
}

constexpr std::array kLimitFields{
    field<&Limit::of>("of",
                      "link: PCIe bandwidth in one direction. memory: GPU memory bandwidth, from clock and bus width. "
                      "Other names: a number of the same case."),
    field<&Limit::amount, kShare>("share"),
};

/// Reads and writes a limit in JSON: an amount, or a share such as {"of": "link", "share": 0.85}.
constexpr Codec kLimit{.expected = "a number, a text such as \"52 GB/s\", or a share of another number",
                       .help = "A number, a number with its unit (52 GB/s, 10us, 85 %), or a share of another number.",
                       .take =
                           [](Reader& in, void* limit) {
                             as<Limit>(limit).amount = quantity(in);
                             check_limit(in, limit);
                           },
                       .is_object = true,
                       .fields = kLimitFields,
                       .strict = true,
                       .end = check_limit,
                       .types = {"number", "string"},
                       .least = 0,
                       .above = true,
                       .name = "expected_limit",
                       .pattern = kQuantityPattern};

// --- Cases ----------------------------------------------------------------------------------------------------------

/// Parses one allowed value of an axis, for example "h2d", 3 or ">=256MiB".
Wanted wanted(Reader& in) {
  if (!in.is_text()) return {fmt::format("{}", in.as_number()), Bound::equal, in.as_number()};
  const std::string text = in.as_text();
  const std::size_t begin = text.find_first_not_of("<>=");
  if (begin == std::string::npos) in.fail("found no value, expected a value such as \"h2d\" or \">=1MiB\"");
  const auto quantity = parse_quantity(std::string_view(text).substr(begin));
  const bool is_amount = quantity && (quantity->unit.empty() || quantity->unit == "B");
  if (begin == 0) return {text, Bound::equal, is_amount ? std::optional(quantity->value) : std::nullopt};
  constexpr auto kBounds = texts_of(Bound{});
  const auto* const bound = std::ranges::find(kBounds, text.substr(0, begin));
  if (!quantity || bound == kBounds.end()) {
    in.fail(fmt::format("found {}, expected a bound such as \">=256MiB\"", in_quotes(text)));
  }
  if (!is_amount) {
    in.fail(fmt::format("unknown unit in {}; expected a number or a size, such as 256MiB", in_quotes(text)));
  }
  return {text, static_cast<Bound>(bound - kBounds.begin()), quantity->value};
}

constexpr Codec kWanted{.expected = "a text or a number",
                        .help = "A word or pattern (h2d, registered*), an amount (256MiB, 3), or a bound (>=256MiB).",
                        .take = [](Reader& in, void* into) { as<Wanted>(into) = wanted(in); },
                        .types = {"string", "number"},
                        .least = 1};

/// Reads and writes a condition in JSON: one allowed value, or a list of them.
constexpr Codec kCondition{
    .expected = "a text, a number, or a list of them",
    .help = "Required value of an axis, or a list of allowed values.",
    .take = [](Reader& in, void* condition) { as<Condition>(condition).any_of.push_back(wanted(in)); },
    .item = [](Reader& in, void* condition, std::size_t) -> Target {
      return {&kWanted, &in.one_more(as<Condition>(condition).any_of, kMostEntries)};
    },
    .end =
        [](Reader& in, void* condition) {
          if (as<Condition>(condition).any_of.empty()) in.fail("found an empty list, expected at least one value");
        },
    .types = {"string", "number"},
    .least = 1,
    .values = &kWanted};

constexpr std::array kCaseFields{field<&Expectation::scenario>("scenario", optional)};

/// Reads and writes the selected cases in JSON: "memcpy/dir=h2d/*" or {"scenario": "memcpy", "dir": "h2d", "size":
/// ">=256MiB"}.
constexpr Codec kCase{
    .expected = "a pattern for keys, or an object with scenario and axes",
    .take = [](Reader& in, void* e) { as<Expectation>(e).cases = in.as_text(); },
    .is_object = true,
    .fields = kCaseFields,
    .entry = [](Reader& in, void* e, std::string_view axis) -> Target {
      Condition& condition = in.one_more(as<Expectation>(e).where, kMostEntries);
      condition.axis = axis;
      return {&kCondition, &condition};
    },
    .end = [](Reader& in, void* e) { refuse_same_names<Condition, &Condition::axis>(in, as<Expectation>(e).where); },
    .types = {"string"},
    .values = &kCondition};

// --- Expectations ---------------------------------------------------------------------------------------------------

/// Applies the field "unit", which a file gives once for both limits, to one limit.
void apply_unit(Reader& in, const std::string& unit, std::optional<Limit>& limit) {
  if (unit.empty() || !limit || !limit->of.empty()) return;
  if (!limit->amount.unit.empty()) in.fail("has two units: in the limit and as \"unit\"; remove one of them");
  limit->amount = in_base_unit(limit->amount.value, unit);
}

void check_limits(Reader& in, const Expectation& e) {
  if (!e.at_least && !e.at_most) in.fail(R"(has no limit; add "at_least" or "at_most")");
  if (!e.at_least || !e.at_most || e.at_least->of != e.at_most->of) return;
  if (e.at_least->amount.unit == e.at_most->amount.unit && e.at_least->amount.value > e.at_most->amount.value) {
    in.fail("at_least is above at_most: no value can meet both");
  }
}

void complete(Reader& in, void* expectation) {
  auto& e = as<Expectation>(expectation);
  e.is_measurement = in.has("measurement");
  if (e.is_measurement == in.has("metric")) {
    in.fail(R"(expected one of "metric" and "measurement": the number that is to be checked)");
  }
  if (!e.is_measurement && in.has("statistic")) in.fail("\"statistic\" needs a \"measurement\"");
  apply_unit(in, e.unit, e.at_least);
  apply_unit(in, e.unit, e.at_most);
  check_limits(in, e);
  if (!e.name.empty()) return;
  const std::string about = e.cases.empty() ? e.scenario : e.cases;
  e.name = e.number + (about.empty() ? "" : " of " + about);
}

constexpr std::array kExpectationFields{
    field<&Expectation::name>("name", optional,
                              "Name of the expectation. Default: made from the number and the cases."),
    part("case", kCase, optional,
         "A pattern for keys, or a scenario and conditions on axes that must all be met. Default: all cases that have "
         "the number. Skipped cases are ignored; a failed case fails the expectation."),
    field<&Expectation::number>("metric", optional),
    field<&Expectation::number>("measurement", optional),
    field<&Expectation::statistic>("statistic", optional, "Statistic of the measurement. Default: median."),
    field<&Expectation::at_least, kLimit>("at_least", optional),
    field<&Expectation::at_most, kLimit>("at_most", optional),
    field<&Expectation::unit>("unit", optional, "Unit of limits without one: GB/s, us, %. Ratios have no unit."),
    field<&Expectation::aggregate>("aggregate", optional,
                                   "every (default): all cases must hold. best: the best case must hold. median: the "
                                   "median of all cases must hold."),
    field<&Expectation::optional>("optional", optional,
                                  "The expectation may match no case. Matching cases without the number fail it."),
};
constexpr std::array kExpectationChoices{Choice{{"at_least", "at_most"}},
                                         Choice{.of = {"metric", "measurement"}, .only_one = true}};
constexpr Codec kExpectation{.expected = "an object",
                             .is_object = true,
                             .fields = kExpectationFields,
                             .strict = true,
                             .end = complete,
                             .choices = kExpectationChoices};

void check_some(Reader& in, std::vector<Expectation>& all) {
  if (all.empty()) in.fail("the list is empty; add at least one expectation");
}
constexpr Codec kExpectations = some(kListOf<Expectation, kExpectation, kMostExpectations, check_some>);

constexpr std::array kFileFields{
    part("schema", kSchema<kVersion1>),
    field<&Expectations::description, kText>("description", optional,
                                             "Purpose of these expectations, shown above the table."),
    field<&Expectations::gpu>("gpu", optional,
                              "Pattern for the GPU's name, such as NVIDIA H200*. Results of other GPUs are refused."),
    field<&Expectations::all, kExpectations>("expect"),
};
constexpr Codec kFile =
    strict(expecting(record(kFileFields,
                            "File that xferbench check --expect reads, version 1: absolute limits for results. An "
                            "unknown field is an error, so that a typo cannot disable a limit."),
                     "expectations: an object with schema and expect"));

}  // namespace

Expectations parse_expectations(std::string_view text, std::string_view name) {
  return record_from_text(text, name, kFile, Expectations{.source = std::string(name)});
}

std::string expect_schema() { return schema_of(kFile); }

Expectations read_expectations(const std::string& path) {
  return record_from_file(path, kFile, Expectations{.source = path});
}

}  // namespace xferbench::check
