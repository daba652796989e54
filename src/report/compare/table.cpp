#include "report/compare/compare_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "core/printable.hpp"
#include "report/cells.hpp"
#include "report/compare/cells.hpp"
#include "report/grid.hpp"

namespace xferbench {

namespace {

using compare::Verdict;

constexpr std::size_t kManyRows = 50;

Tone tone_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::regressed:
    case Verdict::missing: return Tone::bad;
    case Verdict::improved: return Tone::good;
    case Verdict::changed:
    case Verdict::inconclusive: return Tone::notice;
    case Verdict::same:
    case Verdict::added: break;
  }
  return Tone::plain;
}

Grid::Row grid_row(const compare::Row& row, const std::string& key) {
  const auto value = [&row](const std::optional<compare::Side>& side) {
    return side ? compared_value(side->median, row.unit) : "-";
  };
  return {.cells = {std::string(to_text(row.verdict)), change_text(row.ratio), change_text(row.interval),
                    value(row.base), value(row.next), p_text(row.p_holm), sizes_text(row), row.measured, key},
          .tones = {tone_of(row.verdict)},
          .below = remarks(row).empty() ? std::vector<std::string>() : std::vector{remarks(row)}};
}

/// What would stand beneath many rows alike, and is said once; empty where there is nothing of the kind.
std::string usual_remark(const compare::Comparison& comparison) {
  constexpr std::ptrdiff_t kMany = 4;
  std::map<std::string, std::ptrdiff_t> counts;
  for (const compare::Row& row : comparison.rows) {
    if (row.verdict == Verdict::inconclusive) ++counts[remarks(row)];
  }
  const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  if (most == counts.end() || most->second < kMany || most->first.empty()) return "";
  // Rows without a remark of their own would seem to be meant.
  const bool all_say_something = std::ranges::none_of(comparison.rows, [](const compare::Row& row) {
    return row.verdict == Verdict::inconclusive && remarks(row).empty();
  });
  return all_say_something ? most->first : "";
}

bool is_quiet(const compare::Row& row) {
  return row.verdict == Verdict::same || row.verdict == Verdict::inconclusive || row.verdict == Verdict::added;
}

std::string source_lines(const std::vector<compare::Source>& sources, const char* side, const Style& style) {
  std::string text;
  for (const compare::Source& s : sources) {
    const std::string margin = fmt::format("{:<5} ", text.empty() ? side : "");
    text += wrapped(printable(fmt::format("{}: {}, {}, xferbench {}{}", s.name, s.gpu, s.started_at, s.version,
                                          s.verified ? "" : fmt::format(", {}", kNotVerifiedMark))),
                    style.columns, margin, "      ");
    if (s.fault.empty()) continue;
    text += wrapped(printable(fmt::format("FAULT INJECTED: {}; not a measurement", s.fault)), style.columns, "      ",
                    "      ");
  }
  return text;
}

std::string simulated_line(const std::optional<std::string>& profile, const Style& style) {
  if (!profile) return "";
  return style.notice(printable(simulated_text(*profile))) + "\n";
}

/// "NOT VERIFIED: base a.json"; empty where all were. `side` may be empty.
std::string not_verified_line(const std::vector<compare::Source>& sources, const std::string& side,
                              const Style& style) {
  const std::vector<std::string> names = not_verified(sources);
  if (names.empty()) return "";
  const std::string text = fmt::format("{}: {}{}", kNotVerifiedMark, side, fmt::join(names, ", "));
  return style.notice(printable(text)) + "\n";
}

}  // namespace

std::string to_table(const compare::Comparison& comparison, bool all, const Style& style) {
  std::string text = simulated_line(comparison.simulated, style) + not_verified_line(comparison.base, "base ", style) +
                     not_verified_line(comparison.next, "new ", style) + source_lines(comparison.base, "base", style) +
                     source_lines(comparison.next, "new", style) + "\n";
  const bool fold = !all && comparison.rows.size() > kManyRows;
  const CommonKey common = common_key(comparison);
  const std::string usual = usual_remark(comparison);
  Grid grid{.header = {"", "change", "95 % interval", "base", "new", "p", comparison.several_files() ? "files" : "n",
                       "measured", "case"},
            .left_columns = 1,
            .last_left = true,
            .gap = 2,
            .least_important = {6, 5, 7, 3, 4}};
  for (const compare::Row* row : by_verdict(comparison)) {
    if (!fold || !is_quiet(*row)) grid.rows.push_back(grid_row(*row, with_place(common.rest(row->key), *row)));
    if (!grid.rows.empty() && !usual.empty() && grid.rows.back().below == std::vector{usual})
      grid.rows.back().below.clear();
  }
  if (!common.parts.empty()) text += paragraph("all cases: " + common.text(), Tone::dim, style);
  if (!grid.rows.empty()) text += to_lines(grid, style) + "\n";
  if (!usual.empty())
    text +=
        wrapped(printable("inconclusive rows of which nothing else is said: " + usual), style.columns, "", "  ") + "\n";
  text += style.bold(summary(comparison)) + "\n";
  if (const std::size_t folded = comparison.rows.size() - grid.rows.size(); folded > 0) {
    text += fmt::format("{} of {} cases are not listed; --all lists them\n", folded, comparison.rows.size());
  }
  text += paragraph(method(comparison), Tone::dim, style);
  if (!comparison.matched.empty()) text += paragraph(comparison.matched, Tone::dim, style);
  for (const std::string& sentence : comparison.outcome.reach) text += paragraph(sentence, Tone::dim, style);
  const compare::Outcome& outcome = comparison.outcome;
  const Tone tone = outcome.code == ExitCode::ok       ? Tone::bold
                    : outcome.code == ExitCode::failed ? Tone::bad
                                                       : Tone::notice;
  return text + paragraph(conclusion(outcome), tone, style);
}

std::string to_table(const compare::Across& across, const Style& style) {
  Grid grid{.header = across.columns, .last_left = true, .gap = 2, .least_important = {across.columns.size()}};
  grid.header.insert(grid.header.end(), {"measured", "case"});
  for (const compare::Across::Row& row : across.rows) {
    Grid::Row& line = grid.rows.emplace_back();
    for (const auto& cell : row.cells) {
      const bool best = cell && cell->best;
      line.cells.push_back((cell ? compared_value(cell->median, row.unit) : "-") + (best ? " *" : "  "));
      line.tones.push_back(best ? Tone::good : Tone::plain);
    }
    line.cells.insert(line.cells.end(), {row.measured, row.key});
  }
  return simulated_line(across.simulated, style) + not_verified_line(across.sources, "", style) +
         to_lines(grid, style) + "\n" + style.dim("* the best, or not to be told from it by the 95 % intervals") + "\n";
}

}  // namespace xferbench
