#include "report/check/check_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/environment.hpp"
#include "core/printable.hpp"
#include "core/units.hpp"
#include "report/cells.hpp"
#include "report/grid.hpp"

namespace xferbench {

namespace {

using check::Checked;
using check::Verdict;

}  // namespace

// --- What several kinds of text say ---------------------------------------------------------------------------------

std::string about(const check::Row& row) {
  const std::string decides = row.place.empty() ? row.key : fmt::format("{} ({})", row.key, row.place);
  if (!row.note.empty()) return row.key.empty() ? row.note : decides + ": " + row.note;
  return row.key.empty() ? fmt::format("median of {} case{}", row.cases, row.cases == 1 ? "" : "s") : decides;
}

std::string incomplete(const Checked& checked) {
  if (checked.complete) return "";
  return "INCOMPLETE: the run was cut off, or still goes on, and does not pass" +
         (checked.continued_by.empty() ? "" : "; continue: " + checked.continued_by);
}

std::string injected(const Checked& checked) {
  if (checked.injected_fault.empty()) return "";
  return fmt::format("FAULT INJECTED: {}; not a measurement", checked.injected_fault);
}

bool nothing_was_checked(const Checked& checked) {
  return checked.complete && checked.count(Verdict::not_measured) == checked.rows.size();
}

std::vector<std::string> made_distinct(std::vector<std::string> names) {
  std::map<std::string, std::size_t> times;
  for (std::string& name : names) {
    const std::string plain = name;
    while (times.contains(name)) name = fmt::format("{} ({})", plain, ++times[plain]);
    times.emplace(name, 1);
  }
  return names;
}

std::string summary(const Checked& checked) {
  const std::size_t holds = checked.count(Verdict::holds);
  const std::size_t fails = checked.count(Verdict::fails);
  std::string text = fmt::format("{} hold{}, {} fail{}", holds, holds == 1 ? "s" : "", fails, fails == 1 ? "s" : "");
  if (const auto n = checked.count(Verdict::no_case); n > 0) text += fmt::format(", {} without a case", n);
  if (const auto n = checked.count(Verdict::not_measured); n > 0) text += fmt::format(", {} not measured", n);
  return text + (checked.count(Verdict::holds) + fails == 0 ? ": nothing was checked" : "");
}

namespace {

std::string files(std::size_t n) { return fmt::format("{} file{}", n, n == 1 ? "" : "s"); }

// --- One file -------------------------------------------------------------------------------------------------------

/// "+4.2 %": so far inside its limit.
std::string margin_text(const check::Row& row) { return row.margin ? format_change(*row.margin) : ""; }

/// What is long stands last, where it may go beneath its row.
Grid grid_of(const Checked& checked) {
  Grid grid{.header = {"verdict", "margin", "found", "expected", "expectation", "case that decides"},
            .left_columns = 6,
            .last_left = true,
            .gap = 2,
            .least_important = {3, 1}};
  for (const check::Row& row : checked.rows) {
    // A file for a fleet expects something of every scenario; a run measures one or two. What it does not is said
    // below.
    if (row.verdict == Verdict::not_measured) continue;
    const std::string name = row.name == row.key ? "" : row.name;  // a derived limit is called after its case
    Grid::Row& line = grid.rows.emplace_back();
    line.cells = {std::string(to_text(row.verdict)), margin_text(row), row.shown, row.expected, name, about(row)};
    if (row.verdict != Verdict::holds) line.tones.assign(line.cells.size(), Tone::bad);
  }
  return grid;
}

std::string headline(const Checked& checked) {
  return fmt::format("{}: {}, {}", checked.results, checked.gpu, checked.started_at);
}

std::string against(const Checked& checked) {
  return "against " + checked.expectations + (checked.description.empty() ? "" : ": " + checked.description);
}

/// What is said above results that are not what they might be taken for.
std::vector<std::string> notices(const Checked& checked) {
  std::vector<std::string> lines;
  if (!checked.simulated.empty()) lines.push_back(simulated_text(checked.simulated));
  if (!checked.verified) lines.emplace_back(kNotVerified);
  if (!checked.injected_fault.empty()) lines.push_back(injected(checked));
  return lines;
}

// --- All files ------------------------------------------------------------------------------------------------------

bool is_missing(const check::Row& row) {
  return row.verdict == Verdict::not_measured || (row.verdict == Verdict::no_case && !row.command.empty());
}

/// What no file has a case of, as the first file tells it. All files have the same expectations in the same order.
std::vector<const check::Row*> missing_everywhere(AllChecked all) {
  std::vector<const check::Row*> missing;
  for (std::size_t i = 0; i < all.front().rows.size(); ++i) {
    if (std::ranges::all_of(all, [i](const Checked& c) { return is_missing(c.rows[i]); })) {
      missing.push_back(&all.front().rows[i]);
    }
  }
  return missing;
}

std::string how_to_measure(const check::Row& row) { return row.command.empty() ? row.note : row.command; }

std::string missing_title(AllChecked all) {
  return fmt::format("Not measured{}; add --json FILE to measure one, and check that file, too:",
                     all.size() == 1 ? "" : " in any file");
}

/// "3 files: 2 pass, 1 does not: b.json"; empty for a single one, which has said it.
std::string summary_of_all(AllChecked all) {
  if (all.size() == 1) return {};
  std::vector<std::string> failing;
  for (const Checked& checked : all) {
    if (!checked.all_hold()) failing.push_back(checked.results);
  }
  const std::size_t passing = all.size() - failing.size();
  std::string text = fmt::format("{}: {} pass{}", files(all.size()), passing, passing == 1 ? "es" : "");
  if (failing.empty()) return text;
  return text +
         fmt::format(", {} do{} not: {}", failing.size(), failing.size() == 1 ? "es" : "", fmt::join(failing, ", "));
}

std::string table_of(const Checked& checked, const Style& style) {
  std::string text;
  for (const std::string& notice : notices(checked)) text += style.notice(printable(notice)) + "\n";
  if (!checked.complete) text += style.bad(printable(incomplete(checked))) + "\n";
  text += style.bold(printable(headline(checked))) + "\n" +
          wrapped(printable(against(checked)), style.columns, "", "  ") + "\n";
  const Grid grid = grid_of(checked);
  if (!grid.rows.empty()) text += to_lines(grid, style) + "\n";
  return text + (checked.all_hold() ? summary(checked) : style.bad(summary(checked))) + "\n";
}

std::string markdown_of(const Checked& checked) {
  std::string text;
  for (const std::string& notice : notices(checked)) text += fmt::format("**{}**\n\n", markdown_escaped(notice));
  if (!checked.complete) text += fmt::format("**{}**\n\n", markdown_escaped(incomplete(checked)));
  text += fmt::format("{}  \n{}\n\n", markdown_escaped(headline(checked)), markdown_escaped(against(checked)));
  const Grid grid = grid_of(checked);
  if (!grid.rows.empty()) text += to_markdown(grid) + "\n";
  return text + "**" + summary(checked) + "**\n";
}

}  // namespace

bool all_hold(AllChecked all) { return std::ranges::all_of(all, &Checked::all_hold); }

std::string to_check_table(AllChecked all, const Style& style) {
  std::string text;
  for (const Checked& checked : all) text += (text.empty() ? "" : "\n") + table_of(checked, style);
  if (const std::string whole = summary_of_all(all); !whole.empty()) {
    text += "\n" + (all_hold(all) ? style.bold(printable(whole)) : style.bad(printable(whole))) + "\n";
  }
  const std::vector<const check::Row*> missing = missing_everywhere(all);
  if (missing.empty()) return text;
  Grid grid{.header = {"expectation", "command"}, .left_columns = 2, .last_left = true};
  for (const check::Row* row : missing) grid.rows.push_back({{row->name, how_to_measure(*row)}});
  return text + "\n" + missing_title(all) + "\n" + to_lines(grid, style);
}

std::string to_check_markdown(AllChecked all) {
  std::string text = "# xferbench check\n";
  for (const Checked& checked : all) text += "\n" + markdown_of(checked);
  if (const std::string whole = summary_of_all(all); !whole.empty()) {
    text += fmt::format("\n**{}**\n", markdown_escaped(whole));
  }
  const std::vector<const check::Row*> missing = missing_everywhere(all);
  if (missing.empty()) return text;
  text += "\n" + markdown_escaped(missing_title(all)) + "\n\n";
  for (const check::Row* row : missing) {
    const std::string how = row->command.empty() ? markdown_escaped(row->note) : "`" + printable(row->command) + "`";
    text += fmt::format("- {}: {}\n", markdown_escaped(row->name), how);
  }
  return text;
}

// --- JSON -----------------------------------------------------------------------------------------------------------

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
