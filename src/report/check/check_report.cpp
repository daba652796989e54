#include "report/check/check_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/printable.hpp"
#include "core/units.hpp"
#include "report/cells.hpp"
#include "report/grid.hpp"

namespace xferbench {

namespace {

using check::Checked;
using check::Verdict;

/// The case that decides, or why there is none.
std::string about(const check::Row& row) {
  if (!row.note.empty()) return row.key.empty() ? row.note : row.key + ": " + row.note;
  return row.key.empty() ? fmt::format("median of {} case{}", row.cases, row.cases == 1 ? "" : "s") : row.key;
}

Grid grid_of(const Checked& checked) {
  Grid grid{.header = {"expectation", "expected", "found", "verdict", "case that decides"}, .left_columns = 5};
  const bool nothing = checked.count(Verdict::not_measured) == checked.rows.size();
  for (const check::Row& row : checked.rows) {
    // A file for a fleet expects something of every scenario; a run measures one or two.
    if (row.verdict == Verdict::not_measured && !nothing) continue;
    Grid::Row& line = grid.rows.emplace_back();
    line.cells = {row.name, row.expected, row.found ? format_with_unit(row.found->value, row.found->unit) : "",
                  std::string(to_text(row.verdict)), about(row)};
    if (row.verdict != Verdict::holds) {
      line.tones.assign(line.cells.size(), row.verdict == Verdict::not_measured ? Tone::dim : Tone::bad);
    }
  }
  return grid;
}

std::string headline(const Checked& checked) {
  return fmt::format("{}: {}, {}", checked.results, checked.gpu, checked.started_at);
}

std::string against(const Checked& checked) {
  return "against " + checked.expectations + (checked.description.empty() ? "" : ": " + checked.description);
}

/// Empty for a run that came to its end.
std::string incomplete(const Checked& checked) {
  return checked.complete
             ? ""
             : "INCOMPLETE: the run was cut off, or still goes on, and does not pass; let it come to its end";
}

std::string summary(const Checked& checked) {
  const std::size_t holds = checked.count(Verdict::holds);
  const std::size_t fails = checked.count(Verdict::fails);
  std::string text = fmt::format("{} hold{}, {} fail{}", holds, holds == 1 ? "s" : "", fails, fails == 1 ? "s" : "");
  if (const auto n = checked.count(Verdict::no_case); n > 0) text += fmt::format(", {} without a case", n);
  if (const auto n = checked.count(Verdict::not_measured); n > 0) text += fmt::format(", {} not measured", n);
  return text + (checked.count(Verdict::holds) + fails == 0 ? ": nothing was checked" : "");
}

}  // namespace

std::string to_check_table(const Checked& checked, const Style& style) {
  std::string text;
  if (!checked.simulated.empty()) text += style.notice(printable(simulated_text(checked.simulated))) + "\n";
  if (!checked.verified) text += style.notice(kNotVerified) + "\n";
  if (!checked.complete) text += style.bad(incomplete(checked)) + "\n";
  text += style.bold(printable(headline(checked))) + "\n" + printable(against(checked)) + "\n\n" +
          to_lines(grid_of(checked), style) + "\n";
  return text + (checked.all_hold() ? summary(checked) : style.bad(summary(checked))) + "\n";
}

std::string to_check_markdown(const Checked& checked) {
  std::string text = "# xferbench check\n\n";
  if (!checked.simulated.empty())
    text += fmt::format("**{}**\n\n", markdown_escaped(simulated_text(checked.simulated)));
  if (!checked.verified) text += fmt::format("**{}**\n\n", markdown_escaped(kNotVerified));
  if (!checked.complete) text += fmt::format("**{}**\n\n", markdown_escaped(incomplete(checked)));
  text += fmt::format("{}  \n{}\n\n", markdown_escaped(headline(checked)), markdown_escaped(against(checked)));
  return text + to_markdown(grid_of(checked)) + "\n**" + summary(checked) + "**\n";
}

std::string to_check_json(const Checked& checked) {
  using Json = nlohmann::ordered_json;
  Json json = {{"schema", "xferbench-check/1"},
               {"results", checked.results},
               {"expectations", checked.expectations},
               {"gpu", checked.gpu},
               {"simulated", !checked.simulated.empty()},
               {"complete", checked.complete},
               {"verified", checked.verified},
               {"all_hold", checked.all_hold()},
               {"checks", Json::array()}};
  if (!checked.complete) json["note"] = incomplete(checked);
  for (const check::Row& row : checked.rows) {
    Json entry = {
        {"name", row.name}, {"expected", row.expected}, {"verdict", to_text(row.verdict)}, {"cases", row.cases}};
    if (row.found) entry["found"] = {{"value", row.found->value}, {"unit", row.found->unit}};
    if (!row.key.empty()) entry["case"] = row.key;
    if (!row.note.empty()) entry["note"] = row.note;
    json["checks"].push_back(std::move(entry));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace xferbench
