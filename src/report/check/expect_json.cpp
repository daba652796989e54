#include "report/check/expect_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace xferbench {

namespace {

using ExpectJson = nlohmann::ordered_json;

std::string in_one_line(const ExpectJson& json) {
  return json.dump(-1, ' ', false, ExpectJson::error_handler_t::replace);
}

ExpectJson json_of(const check::Quantity& amount) {
  if (amount.written.empty()) return amount.value;
  return check::written(amount);
}

ExpectJson json_of(const check::Limit& limit) {
  if (limit.of.empty()) return json_of(limit.amount);
  return {{"of", limit.of}, {"share", json_of(limit.amount)}};
}

/// One value, or a list of several.
ExpectJson json_of(const check::Condition& condition) {
  ExpectJson values = ExpectJson::array();
  for (const check::Wanted& wanted : condition.any_of) values.push_back(wanted.text);
  return values.size() == 1 ? values.front() : values;
}

ExpectJson cases_of(const check::Expectation& e) {
  if (!e.cases.empty()) return e.cases;
  ExpectJson cases = ExpectJson::object();
  if (!e.scenario.empty()) cases["scenario"] = e.scenario;
  for (const check::Condition& condition : e.where) cases[condition.axis] = json_of(condition);
  return cases;
}

ExpectJson json_of(const check::Expectation& e) {
  ExpectJson json = {{"name", e.name}};
  if (const ExpectJson cases = cases_of(e); !cases.empty()) json["case"] = cases;
  json[e.is_measurement ? "measurement" : "metric"] = e.number;
  if (e.is_measurement && e.statistic != check::Statistic::median) json["statistic"] = to_text(e.statistic);
  if (e.at_least) json["at_least"] = json_of(*e.at_least);
  if (e.at_most) json["at_most"] = json_of(*e.at_most);
  if (e.aggregate != check::Aggregate::every) json["aggregate"] = to_text(e.aggregate);
  if (e.optional) json["optional"] = true;
  return json;
}

}  // namespace

std::string to_expect_json(const check::Expectations& expectations) {
  std::string text = "{\n \"schema\": \"xferbench-expect/1\",\n";
  if (!expectations.description.empty()) {
    text += fmt::format(" \"description\": {},\n", in_one_line(expectations.description));
  }
  if (!expectations.gpu.empty()) text += fmt::format(" \"gpu\": {},\n", in_one_line(expectations.gpu));
  text += " \"expect\": [";
  const char* between = "\n  ";
  for (const check::Expectation& e : expectations.all) {
    text += between + in_one_line(json_of(e));
    between = ",\n  ";
  }
  return text + "\n ]\n}\n";
}

}  // namespace xferbench
