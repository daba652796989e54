#include "report/compare/json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace xferbench {

namespace {

using Json = nlohmann::ordered_json;

// A tree of 100,000 cases would take far more memory than their text, so each is written by itself.
std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

template <class Items, class ToJson>
std::string lines(const Items& items, const ToJson& to_json) {
  std::string text = "[";
  for (const auto& item : items) text += (text.size() > 1 ? ",\n  " : "\n  ") + dump(to_json(item));
  return text + (text.size() > 1 ? "\n ]" : "]");
}

Json source_json(const compare::Source& s) {
  return {{"file", s.name}, {"started_at", s.started_at}, {"gpu", s.gpu}, {"version", s.version}};
}

Json interval_json(const Interval& interval) { return Json::array({interval.low, interval.high}); }

Json side_json(const compare::Side& side) { return {{"n", side.n}, {"median", side.median}}; }

std::string_view better_text(Better better) { return better == Better::neither ? "unknown" : to_text(better); }

Json row_json(const compare::Row& row) {
  Json json = {{"key", row.key},
               {"measured", row.measured},
               {"unit", row.unit},
               {"better", better_text(row.better)},
               {"verdict", to_text(row.verdict)}};
  if (row.failed) json["failed"] = true;
  if (row.base) json["base"] = side_json(*row.base);
  if (row.next) json["new"] = side_json(*row.next);
  if (row.ratio) json["ratio"] = *row.ratio;
  if (row.interval) json["ratio_ci95"] = interval_json(*row.interval);
  if (row.p) json["p"] = *row.p;
  if (row.p_holm) json["p_holm"] = *row.p_holm;
  json["notes"] = row.notes;
  return json;
}

Json options_json(const compare::Options& options) {
  Json json = {{"threshold", options.threshold}, {"interval", options.bootstrap ? "bootstrap" : "hodges-lehmann"}};
  if (options.metric) json["metric"] = *options.metric;
  json["only"] = options.only;
  return json;
}

/// The beginning that both kinds have.
std::string head(const char* mode, const compare::Options& options, const std::optional<std::string>& simulated) {
  std::string text = "{\n \"schema\": \"xferbench-compare/1\",\n \"mode\": " + dump(mode);
  if (simulated) text += ",\n \"simulated\": " + dump(*simulated);
  return text + ",\n \"options\": " + dump(options_json(options));
}

std::string field(const char* name, const std::string& json) { return std::string(",\n \"") + name + "\": " + json; }

Json cell_json(const std::optional<compare::Across::Cell>& cell) {
  if (!cell) return nullptr;
  Json json = {{"median", cell->median}};
  if (cell->ci95) json["ci95"] = interval_json(*cell->ci95);
  json["best"] = cell->best;
  return json;
}

Json across_row_json(const compare::Across::Row& row) {
  Json cells = Json::array();
  for (const auto& cell : row.cells) cells.push_back(cell_json(cell));
  return {{"key", row.key},
          {"measured", row.measured},
          {"unit", row.unit},
          {"better", better_text(row.better)},
          {"cells", std::move(cells)}};
}

}  // namespace

std::string to_json(const compare::Comparison& comparison) {
  Json summary = Json::object();
  for (const compare::Verdict verdict : compare::kVerdicts) {
    summary[std::string(to_text(verdict))] = comparison.count(verdict);
  }
  summary["not_compared"] = comparison.not_compared;
  const auto difference = [](const compare::Difference& d) {
    return Json{{"what", d.what}, {"base", d.base}, {"new", d.next}};
  };
  return head("compare", comparison.options, comparison.simulated) +
         field("base", lines(comparison.base, source_json)) + field("new", lines(comparison.next, source_json)) +
         field("summary", dump(summary)) + field("differences", lines(comparison.differences, difference)) +
         field("warnings", dump(comparison.warnings)) + field("cases", lines(comparison.rows, row_json)) + "\n}\n";
}

std::string to_json(const compare::Across& across) {
  return head("across", across.options, across.simulated) + field("columns", dump(across.columns)) +
         field("sources", lines(across.sources, source_json)) + field("warnings", dump(across.warnings)) +
         field("cases", lines(across.rows, across_row_json)) + "\n}\n";
}

}  // namespace xferbench
