#include "words/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/lists.hpp"
#include "core/units.hpp"

namespace xferbench {

std::string about(const check::Row& row) {
  const std::string decides = row.place.empty() ? row.key : fmt::format("{} ({})", row.key, row.place);
  if (!row.note.empty()) return row.key.empty() ? row.note : decides + ": " + row.note;
  return row.key.empty() ? "median of " + counted(row.cases, "case") : decides;
}

std::string incomplete(const check::Checked& checked) {
  if (checked.complete) return "";
  return "INCOMPLETE: the run was interrupted or is still running, so it cannot pass" +
         (checked.continued_by.empty() ? "" : "; continue: " + checked.continued_by);
}

bool nothing_was_checked(const check::Checked& checked) {
  return checked.complete && checked.count(check::Verdict::not_measured) == checked.rows.size();
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

std::string summary(const check::Checked& checked) {
  const std::size_t holds = checked.count(check::Verdict::holds);
  const std::size_t fails = checked.count(check::Verdict::fails);
  std::string text = fmt::format("{} passed, {} failed", holds, fails);
  if (const auto n = checked.count(check::Verdict::no_case); n > 0)
    text += fmt::format(", {} without a matching case", n);
  if (const auto n = checked.count(check::Verdict::not_measured); n > 0) text += fmt::format(", {} not measured", n);
  return text + (checked.count(check::Verdict::holds) + fails == 0 ? ": nothing was checked" : "");
}

namespace {

using check::Checked;
using check::Verdict;

// --- One file -------------------------------------------------------------------------------------------------------

/// Returns the table of one file. Long texts are in the last columns, which a terminal can move below their rows.
Table table_of(const Checked& checked) {
  Table table{.header = {"verdict", "margin", "found", "expected", "expectation", "deciding case"},
              .left_columns = 6,
              .last_left = true,
              .gap = 2,
              .least_important = {3, 1}};
  for (const check::Row& row : checked.rows) {
    // Leave out expectations that were not measured. There may be many, because a run may cover only a few scenarios.
    // They are listed below the tables.
    if (row.verdict == Verdict::not_measured) continue;
    // A derived limit has no name of its own: its name is the key of its case.
    const std::string name = row.name == row.key ? "" : row.name;
    const std::string margin = row.margin ? format_change(*row.margin) : "";  // "+4.2 %": 4.2 % better than the limit
    const Tone tone = row.verdict == Verdict::holds ? Tone::plain : Tone::bad;
    Table::Row& line = table.rows.emplace_back();
    for (const std::string& text :
         {std::string(to_text(row.verdict)), margin, row.shown, row.expected, name, about(row)}) {
      line.cells.emplace_back(text, tone);
    }
  }
  return table;
}

void add_file(const Checked& checked, bool apart, Document& document) {
  const std::string verdict = checked.all_hold() ? "passes: " : "fails: ";
  document.add(
      Sentence{.text = verdict + summary(checked), .tone = checked.all_hold() ? Tone::good : Tone::bad, .strong = true},
      apart);
  const std::string medians = checked.processes == 1 ? "" : fmt::format(", medians of {} processes", checked.processes);
  document.add(
      Sentence{.text = fmt::format("{}: {}, {}{}", checked.results, checked.gpu, checked.started_at, medians)});
  document.add(Sentence{
      .text = "against " + checked.expectations + (checked.description.empty() ? "" : ": " + checked.description),
      .goes_on = true});
  if (Table table = table_of(checked); !table.rows.empty()) document.add(std::move(table), true);
}

// --- All files ------------------------------------------------------------------------------------------------------

bool is_missing(const check::Row& row) {
  return row.verdict == Verdict::not_measured || (row.verdict == Verdict::no_case && !row.command.empty());
}

/// Returns the rows, taken from the first file, whose expectation no file has measured. All files have the same
/// expectations in the same order, so a row index means the same in each.
std::vector<const check::Row*> missing_everywhere(AllChecked all) {
  std::vector<const check::Row*> missing;
  for (std::size_t i = 0; i < all.front().rows.size(); ++i) {
    if (std::ranges::all_of(all, [i](const Checked& c) { return is_missing(c.rows[i]); })) {
      missing.push_back(&all.front().rows[i]);
    }
  }
  return missing;
}

void add_missing(AllChecked all, Document& document) {
  Table table{.header = {"expectation", "command"}, .left_columns = 2, .last_left = true};
  for (const check::Row* row : missing_everywhere(all)) {
    table.rows.push_back({{row->name, row->command.empty() ? Cell(row->note) : Cell::as_code(row->command)}});
  }
  if (table.rows.empty()) return;
  document.add(
      Sentence{.text = fmt::format("Not measured{}. Run a command below with --json FILE, and check that file as well:",
                                   all.size() == 1 ? "" : " in any file")},
      true);
  document.add(std::move(table));
}

/// Returns for example "3 files: 2 pass, 1 fails: b.json"; empty for a single file, whose own summary says that.
std::string summary_of_all(AllChecked all) {
  if (all.size() == 1) return {};
  const auto failing =
      list_of(those_of(all, [](const Checked& checked) { return !checked.all_hold(); }), &Checked::results);
  const std::size_t passing = all.size() - failing.size();
  std::string text = fmt::format("{} files: {} pass{}", all.size(), passing, passing == 1 ? "es" : "");
  if (failing.empty()) return text;
  return text +
         fmt::format(", {} fail{}: {}", failing.size(), failing.size() == 1 ? "s" : "", fmt::join(failing, ", "));
}

}  // namespace

Trust trust_of(AllChecked all) {
  std::vector<std::string> profiles;
  std::vector<std::string> unverified;
  std::vector<std::string> faults;
  const bool alone = all.size() == 1;
  Trust trust("", true, "", true);
  for (const check::Checked& checked : all) {
    if (!checked.simulated.empty()) add_new(profiles, checked.simulated);
    if (!checked.verified) unverified.push_back(checked.results);
    if (!checked.injected_fault.empty()) {
      add_new(faults, checked.injected_fault + (alone ? "" : " (" + checked.results + ")"));
    }
    if (trust.complete && !checked.complete) trust.incomplete = incomplete(checked);
    trust.complete = trust.complete && checked.complete;
  }
  trust.profile = fmt::format("{}", fmt::join(profiles, ", "));
  trust.verified = unverified.empty();
  if (!alone) trust.unverified = fmt::format("{}", fmt::join(unverified, ", "));
  trust.fault = fmt::format("{}", fmt::join(faults, ", "));
  return trust;
}

bool all_hold(AllChecked all) { return std::ranges::all_of(all, &check::Checked::all_hold); }

Document document_of(AllChecked all) {
  Document document("xferbench check", trust_of(all));
  if (const std::string whole = summary_of_all(all); !whole.empty()) {
    document.add(Sentence{.text = whole, .tone = all_hold(all) ? Tone::bold : Tone::bad, .strong = true});
  }
  for (const check::Checked& checked : all) add_file(checked, all.size() > 1, document);
  add_missing(all, document);
  return document;
}

}  // namespace xferbench
