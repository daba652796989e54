#include <nlohmann/json.hpp>

#include "report/calibrate/calibrate_report.hpp"

namespace xferbench {

namespace {

using Json = nlohmann::ordered_json;

using validation::Errors;
using validation::Group;
using validation::Prediction;

}  // namespace

std::string to_validation_json(const Validated& v) {
  const auto errors = [](const Errors& e) {
    return Json{{"cases", e.cases}, {"bias", e.bias}, {"median", e.median}, {"p95", e.p95}};
  };
  Json groups = Json::array();
  for (const Group& g : validation::groups_of(v.predictions)) {
    Json group{{"name", g.name}, {"errors", errors(g.all)}, {"kinds", Json::object()}};
    for (const auto& [kind, of_kind] : g.kinds) group["kinds"][kind] = errors(of_kind);
    group["fastest"] = g.fastest;
    group["predicted_fastest"] = g.predicted_fastest;
    group["regret"] = g.regret;
    if (g.coverage) group["coverage"] = *g.coverage;
    groups.push_back(std::move(group));
  }
  Json cases = Json::array();
  for (const Prediction& p : v.predictions) {
    Json one{{"key", p.key}, {"measured", p.measured}, {"predicted", p.predicted}};
    if (p.interval) one["ci95"] = {p.interval->low, p.interval->high};
    if (p.between) one["between"] = {p.between->low, p.between->high};
    cases.push_back(std::move(one));
  }
  const Json json{{"schema", "xferbench-validation/1"},
                  {"profile", v.profile},
                  {"files", v.files},
                  {"errors", errors(validation::errors_of(v.predictions))},
                  {"groups", groups},
                  {"cases", cases},
                  {"left_out", v.left_out}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace xferbench
