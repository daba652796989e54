#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/check/check_report.hpp"

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

ExpectJson json_of(const check::Expectation& e) {
  ExpectJson json = {{"name", e.name}, {"case", e.cases}, {"measurement", e.number}};
  if (e.at_least) json["at_least"] = json_of(e.at_least->amount);
  if (e.at_most) json["at_most"] = json_of(e.at_most->amount);
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
