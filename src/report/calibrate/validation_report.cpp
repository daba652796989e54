#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "core/units.hpp"
#include "report/calibrate/calibrate_report.hpp"
#include "report/grid.hpp"

namespace xferbench {

namespace {

using Json = nlohmann::ordered_json;

using validation::Errors;
using validation::Group;
using validation::Prediction;

std::string percent(double share) { return format_percent(share, 2); }

Grid::Row row_of(const std::string& name, const Errors& e) {
  return {.cells = {name, fmt::format("{}", e.cases), format_change(e.bias, 2), percent(e.median), percent(e.p95)}};
}

Grid grid_of(const std::vector<Group>& groups, const Errors& all) {
  Grid grid{.header = {"cases", "number", "bias", "median error", "95 % below", "regret", "covered"},
            .left_columns = 1,
            .least_important = {2, 6}};
  for (const Group& group : groups) {
    Grid::Row& row = grid.rows.emplace_back(row_of(group.name, group.all));
    row.cells.push_back(group.all.cases > 1 ? percent(group.regret) : "");
    row.cells.push_back(group.coverage ? format_percent(*group.coverage) : "");
    if (group.kinds.size() < 2) continue;
    for (const auto& [kind, errors] : group.kinds) grid.rows.push_back(row_of("  " + kind, errors));
  }
  if (groups.size() > 1) grid.rows.push_back(row_of("all", all));
  return grid;
}

/// Which one it would have chosen, where that is not the fastest.
std::vector<std::string> choices(const std::vector<Group>& groups) {
  std::vector<std::string> sentences;
  for (const Group& g : groups) {
    if (g.fastest == g.predicted_fastest) continue;
    sentences.push_back(fmt::format("{}: {} was the fastest, and {} is predicted to be, which took {} longer", g.name,
                                    g.fastest, g.predicted_fastest, percent(g.regret)));
  }
  return sentences;
}

std::string headline(const Validated& v) {
  return fmt::format("{} against {}: predicted / measured - 1 of each case's headline", v.profile,
                     fmt::join(v.files, ", "));
}

}  // namespace

std::string to_validation_table(const Validated& v, const Style& style) {
  const std::vector<Group> groups = validation::groups_of(v.predictions);
  std::string text = headline(v) + "\n\n" + to_lines(grid_of(groups, validation::errors_of(v.predictions)), style);
  for (const std::string& sentence : choices(groups)) text += "\n" + sentence;
  for (const std::string& sentence : v.left_out) text += "\n" + sentence;
  return text.ends_with('\n') ? text : text + "\n";
}

std::string to_validation_markdown(const Validated& v) {
  const std::vector<Group> groups = validation::groups_of(v.predictions);
  std::string text = "**" + markdown_escaped(headline(v)) + "**\n\n" +
                     to_markdown(grid_of(groups, validation::errors_of(v.predictions)));
  for (const std::string& sentence : choices(groups)) text += "\n- " + markdown_escaped(sentence);
  for (const std::string& sentence : v.left_out) text += "\n- " + markdown_escaped(sentence);
  return text.ends_with('\n') ? text : text + "\n";
}

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
