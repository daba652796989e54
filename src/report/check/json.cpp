#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/check/check_report.hpp"
#include "words/check.hpp"

namespace xferbench {

using check::Checked;

namespace {

using CheckJson = nlohmann::ordered_json;

CheckJson json_of(const Metric& metric) { return {{"value", metric.value}, {"unit", metric.unit}}; }

CheckJson json_of(const check::Row& row, const std::string& results) {
  CheckJson entry = {
      {"name", row.name}, {"expected", row.expected}, {"verdict", to_text(row.verdict)}, {"cases", row.cases}};
  if (row.found) entry["found"] = json_of(*row.found);
  if (!row.shown.empty()) entry["shown"] = row.shown;
  if (row.limit) entry["nearest_limit"] = json_of(*row.limit);
  if (row.margin) entry["margin"] = *row.margin;
  if (!row.key.empty()) entry["case"] = row.key;
  if (!row.place.empty()) entry["place"] = row.place;
  if (!row.note.empty()) entry["note"] = row.note;
  if (!row.command.empty()) entry["command"] = row.command;
  entry["results"] = results;
  return entry;
}

CheckJson json_of(const Checked& checked) {
  CheckJson file = {{"results", checked.results},       {"gpu", checked.gpu},
                    {"started_at", checked.started_at}, {"simulated", !checked.simulated.empty()},
                    {"complete", checked.complete},     {"verified", checked.verified},
                    {"all_hold", checked.all_hold()}};
  if (!checked.complete) file["note"] = incomplete(checked);
  if (!checked.injected_fault.empty()) file["injected_fault"] = checked.injected_fault;
  return file;
}

/// Each once, in their order.
std::string joined(AllChecked all, std::string Checked::*text) {
  std::vector<std::string> texts;
  for (const Checked& checked : all) {
    if (std::ranges::find(texts, checked.*text) == texts.end()) texts.push_back(checked.*text);
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

std::string to_check_json(AllChecked all) {
  const auto simulated = [](const Checked& c) { return !c.simulated.empty(); };
  CheckJson json = {{"schema", "xferbench-check/1"},
                    {"results", joined(all, &Checked::results)},
                    {"expectations", all.front().expectations},
                    {"gpu", joined(all, &Checked::gpu)},
                    {"simulated", std::ranges::any_of(all, simulated)},
                    {"complete", std::ranges::all_of(all, &Checked::complete)},
                    {"verified", std::ranges::all_of(all, &Checked::verified)},
                    {"all_hold", all_hold(all)},
                    {"checks", CheckJson::array()}};
  const auto cut_off = std::ranges::find(all, false, &Checked::complete);
  if (cut_off != all.end()) json["note"] = incomplete(*cut_off);
  for (const Checked& checked : all) {
    for (const check::Row& row : checked.rows) json["checks"].push_back(json_of(row, checked.results));
  }
  json["files"] = CheckJson::array();
  for (const Checked& checked : all) json["files"].push_back(json_of(checked));
  return json.dump(1, ' ', false, CheckJson::error_handler_t::replace) + "\n";
}

}  // namespace xferbench
