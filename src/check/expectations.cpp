#include "check/expectations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "core/error.hpp"
#include "core/spelling.hpp"
#include "results/input.hpp"
#include "results/json_cursor.hpp"

namespace xferbench::check {

namespace {

constexpr std::string_view kSchema = "xferbench-expect/1";

template <class T>
using Fields = std::map<std::string, void (*)(JsonCursor&, T&), std::less<>>;

[[noreturn]] void reject(const JsonCursor& in, const char* what, std::string_view word,
                         const std::vector<std::string>& known) {
  in.fail(fmt::format("unknown {} {}, expected one of {}{}", what, xferbench::quoted(word), fmt::join(known, ", "),
                      suggestion(word, known)));
}

/// Reads an object of which every field must be known and none be there twice. Returns the names that it had.
template <class T>
std::vector<std::string> read_object(JsonCursor& in, const Fields<T>& fields, T& into) {
  std::vector<std::string> seen;
  in.object([&](std::string_view name) {
    const auto field = fields.find(name);
    if (field == fields.end()) {
      std::vector<std::string> known;
      for (const auto& [one, read] : fields) known.push_back(one);
      reject(in, "field", name, known);
    }
    if (std::ranges::find(seen, name) != seen.end()) in.fail("this field is there twice");
    seen.emplace_back(name);
    field->second(in, into);
  });
  return seen;
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string word(JsonCursor& in) {
  std::string text = in.text();
  if (text.empty()) in.fail("found an empty text, expected one that says something");
  return text;
}

template <class Enumeration, std::size_t n>
Enumeration one_of(JsonCursor& in, const char* what,
                   const std::array<std::pair<std::string_view, Enumeration>, n>& words) {
  const std::string text = in.text();
  std::vector<std::string> known;
  for (const auto& [name, value] : words) {
    if (name == text) return value;
    known.emplace_back(name);
  }
  reject(in, what, text, known);
}

// --- Limits ---------------------------------------------------------------------------------------------------------

Quantity amount(JsonCursor& in) {
  if (in.kind() == JsonCursor::Kind::number) return {in.number(), ""};
  const std::string text = in.text("a number, or a text such as \"52 GB/s\"");
  const auto quantity = parse_quantity(text);
  if (!quantity)
    in.fail(fmt::format("found {}, expected a number and its unit, such as \"52 GB/s\"", xferbench::quoted(text)));
  return *quantity;
}

Quantity share(JsonCursor& in) {
  Quantity quantity = amount(in);
  if (!quantity.unit.empty() && quantity.unit != "1") in.fail("expected a share, such as 0.85 or \"85 %\"");
  return quantity;
}

Limit limit(JsonCursor& in) {
  Limit limit;
  if (in.kind() == JsonCursor::Kind::object) {
    static const Fields<Limit> fields{
        {"of", [](JsonCursor& c, Limit& l) { l.of = word(c); }},
        {"share", [](JsonCursor& c, Limit& l) { l.amount = share(c); }},
    };
    const std::vector<std::string> seen = read_object(in, fields, limit);
    if (!has(seen, "of") || !has(seen, "share")) {
      in.fail(R"(expected both "of" and "share", as in {"of": "link", "share": 0.85})");
    }
  } else {
    limit.amount = amount(in);
  }
  if (limit.amount.value <= 0) in.fail("expected a limit above 0");
  return limit;
}

// --- Cases ----------------------------------------------------------------------------------------------------------

std::string condition_text(JsonCursor& in) {
  if (in.kind() == JsonCursor::Kind::number) return fmt::format("{}", in.number());
  std::string text = in.text("a text, a number, or a list of them");
  const std::size_t bound = text.find_first_not_of("<>=");
  if (text.empty() || bound == std::string::npos) in.fail("found no value, expected one such as \"h2d\" or \">=1MiB\"");
  if (bound == 0) return text;
  const std::string sign = text.substr(0, bound);
  const auto quantity = parse_quantity(text.substr(bound));
  constexpr std::array kSigns{"<", "<=", ">", ">=", "="};
  if (!quantity || std::ranges::find(kSigns, sign) == kSigns.end()) {
    in.fail(fmt::format("found {}, expected a bound such as \">=256MiB\"", xferbench::quoted(text)));
  }
  if (!quantity->unit.empty() && quantity->unit != "B") {
    in.fail(fmt::format("unknown unit in {}; axes are numbers or sizes, such as 256MiB", xferbench::quoted(text)));
  }
  return text;
}

Condition condition(JsonCursor& in, std::string_view axis) {
  Condition condition{std::string(axis), {}};
  if (in.kind() == JsonCursor::Kind::array) {
    in.array([&](std::size_t) { condition.any_of.push_back(condition_text(in)); });
    if (condition.any_of.empty()) in.fail("found an empty list, expected at least one value");
  } else {
    condition.any_of.push_back(condition_text(in));
  }
  return condition;
}

/// "memcpy/dir=h2d/*", or {"scenario": "memcpy", "dir": "h2d", "size": ">=256MiB"}.
void read_case(JsonCursor& in, Expectation& e) {
  if (in.kind() != JsonCursor::Kind::object) {
    e.cases = in.text("a pattern for keys, or an object with scenario and axes");
    return;
  }
  in.object([&](std::string_view name) {
    if (name == "scenario") {
      if (!e.scenario.empty()) in.fail("this field is there twice");
      e.scenario = word(in);
    } else {
      if (std::ranges::find(e.where, name, &Condition::axis) != e.where.end()) in.fail("this field is there twice");
      e.where.push_back(condition(in, name));
    }
  });
}

// --- Expectations ---------------------------------------------------------------------------------------------------

/// An expectation while it is read: the order of its fields means nothing.
struct Draft {
  Expectation e;
  std::string metric;
  std::string measurement;
  std::string unit;
};

Aggregate aggregate(JsonCursor& in) {
  constexpr std::array<std::pair<std::string_view, Aggregate>, 3> words{
      {{"every", Aggregate::every}, {"best", Aggregate::best}, {"median", Aggregate::median}}};
  return one_of(in, "aggregate", words);
}

Statistic statistic(JsonCursor& in) {
  std::array<std::pair<std::string_view, Statistic>, 5> words;
  constexpr std::array all{Statistic::median, Statistic::p90, Statistic::p99, Statistic::min, Statistic::max};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = {to_text(all[i]), all[i]};
  return one_of(in, "statistic", words);
}

const Fields<Draft>& expectation_fields() {
  static const Fields<Draft> fields{
      {"name", [](JsonCursor& in, Draft& d) { d.e.name = word(in); }},
      {"case", [](JsonCursor& in, Draft& d) { read_case(in, d.e); }},
      {"metric", [](JsonCursor& in, Draft& d) { d.metric = word(in); }},
      {"measurement", [](JsonCursor& in, Draft& d) { d.measurement = word(in); }},
      {"statistic", [](JsonCursor& in, Draft& d) { d.e.statistic = statistic(in); }},
      {"at_least", [](JsonCursor& in, Draft& d) { d.e.at_least = limit(in); }},
      {"at_most", [](JsonCursor& in, Draft& d) { d.e.at_most = limit(in); }},
      {"unit", [](JsonCursor& in, Draft& d) { d.unit = word(in); }},
      {"aggregate", [](JsonCursor& in, Draft& d) { d.e.aggregate = aggregate(in); }},
      {"optional", [](JsonCursor& in, Draft& d) { d.e.optional = in.boolean(); }},
  };
  return fields;
}

/// The unit that is written once for both limits.
void apply_unit(const JsonCursor& in, const std::string& unit, std::optional<Limit>& limit) {
  if (unit.empty() || !limit || !limit->of.empty()) return;
  if (!limit->amount.unit.empty()) in.fail("has its unit twice: in the limit and as \"unit\"; leave one out");
  limit->amount = in_base_unit(limit->amount.value, unit);
}

void check_limits(const JsonCursor& in, const Expectation& e) {
  if (!e.at_least && !e.at_most) in.fail(R"(has no limit; add "at_least" or "at_most")");
  if (!e.at_least || !e.at_most || e.at_least->of != e.at_most->of) return;
  if (e.at_least->amount.unit == e.at_most->amount.unit && e.at_least->amount.value > e.at_most->amount.value) {
    in.fail("at_least is more than at_most: nothing can hold");
  }
}

Expectation expectation(JsonCursor& in) {
  Draft d;
  const std::vector<std::string> seen = read_object(in, expectation_fields(), d);
  if (d.metric.empty() == d.measurement.empty()) {
    in.fail(R"(expected one of "metric" and "measurement": the number that is to be checked)");
  }
  d.e.is_measurement = d.metric.empty();
  if (!d.e.is_measurement && has(seen, "statistic")) in.fail("only a measurement has a \"statistic\"");
  d.e.number = d.e.is_measurement ? d.measurement : d.metric;
  apply_unit(in, d.unit, d.e.at_least);
  apply_unit(in, d.unit, d.e.at_most);
  check_limits(in, d.e);
  if (d.e.name.empty()) {
    const std::string about = d.e.cases.empty() ? d.e.scenario : d.e.cases;
    d.e.name = d.e.number + (about.empty() ? "" : " of " + about);
  }
  return d.e;
}

void read_schema(JsonCursor& in) {
  const std::string schema = in.text();
  if (schema == kSchema) return;
  in.fail(fmt::format("found {}, expected \"{}\": this is no file of expectations, or a newer one",
                      xferbench::quoted(schema), kSchema));
}

const Fields<Expectations>& file_fields() {
  static const Fields<Expectations> fields{
      {"schema", [](JsonCursor& in, Expectations&) { read_schema(in); }},
      {"description", [](JsonCursor& in, Expectations& e) { e.description = in.text(); }},
      {"gpu", [](JsonCursor& in, Expectations& e) { e.gpu = word(in); }},
      {"expect",
       [](JsonCursor& in, Expectations& e) { in.array([&](std::size_t) { e.all.push_back(expectation(in)); }); }},
  };
  return fields;
}

}  // namespace

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
  JsonCursor in(text, name);
  if (in.kind() != JsonCursor::Kind::object) in.wrong("expectations: an object with schema and expect");
  Expectations expectations;
  expectations.source = name;
  const std::vector<std::string> seen = read_object(in, file_fields(), expectations);
  if (!has(seen, "schema")) in.fail(fmt::format("has no \"schema\"; expected \"{}\"", kSchema));
  if (expectations.all.empty()) in.fail("expects nothing; add expectations to the list \"expect\"");
  in.end();
  return expectations;
}

Expectations read_expectations(const std::string& path) { return parse_expectations(read_text(path), path); }

}  // namespace xferbench::check
