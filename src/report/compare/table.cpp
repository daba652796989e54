#include "report/compare/compare_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

Grid::Row grid_row(const compare::Row& row) {
  const auto value = [&row](const std::optional<compare::Side>& side) {
    return side ? compared_value(side->median, row.unit) : "-";
  };
  return {.cells = {std::string(to_text(row.verdict)), row.key, row.measured, value(row.base), value(row.next),
                    change_text(row.ratio), change_text(row.interval), p_text(row.p_holm), sizes_text(row),
                    fmt::format("{}", fmt::join(row.notes, "; "))},
          .tones = {tone_of(row.verdict)}};
}

bool is_quiet(const compare::Row& row) {
  return row.verdict == Verdict::same || row.verdict == Verdict::inconclusive || row.verdict == Verdict::added;
}

std::string source_lines(const std::vector<compare::Source>& sources, const char* side) {
  std::string text;
  for (const compare::Source& s : sources) {
    text += fmt::format("{:<5} {}: {}, {}, xferbench {}{}\n", text.empty() ? side : "", printable(s.name),
                        printable(s.gpu), printable(s.started_at), printable(s.version),
                        s.verified ? "" : fmt::format(", {}", kNotVerifiedMark));
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
                     not_verified_line(comparison.next, "new ", style) + source_lines(comparison.base, "base") +
                     source_lines(comparison.next, "new") + "\n";
  const bool fold = !all && comparison.rows.size() > kManyRows;
  Grid grid{.header = {"", "case", "measured", "base", "new", "change", "95 % interval", "p",
                       comparison.several_files() ? "files" : "n", ""},
            .left_columns = 3,
            .last_left = true,
            .gap = 2};
  for (const compare::Row* row : by_verdict(comparison)) {
    if (!fold || !is_quiet(*row)) grid.rows.push_back(grid_row(*row));
  }
  if (!grid.rows.empty()) text += to_lines(grid, style) + "\n";
  text += style.bold(summary(comparison)) + "\n";
  if (const std::size_t folded = comparison.rows.size() - grid.rows.size(); folded > 0) {
    text += fmt::format("{} of {} cases are not listed; --all lists them\n", folded, comparison.rows.size());
  }
  return text + style.dim(method(comparison)) + "\n";
}

std::string to_table(const compare::Across& across, const Style& style) {
  Grid grid{.header = {"case", "measured"}, .left_columns = 2, .gap = 2};
  grid.header.insert(grid.header.end(), across.columns.begin(), across.columns.end());
  for (const compare::Across::Row& row : across.rows) {
    Grid::Row& line = grid.rows.emplace_back(Grid::Row{{row.key, row.measured}, {Tone::plain, Tone::plain}});
    for (const auto& cell : row.cells) {
      const bool best = cell && cell->best;
      line.cells.push_back((cell ? compared_value(cell->median, row.unit) : "-") + (best ? " *" : "  "));
      line.tones.push_back(best ? Tone::good : Tone::plain);
    }
  }
  return simulated_line(across.simulated, style) + not_verified_line(across.sources, "", style) +
         to_lines(grid, style) + "\n" + style.dim("* the best, or not to be told from it by the 95 % intervals") + "\n";
}

}  // namespace xferbench
