#include "report/compare/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "core/printable.hpp"
#include "report/cells.hpp"
#include "report/compare/cells.hpp"

namespace xferbench {

namespace {

using compare::Verdict;
using Cells = std::vector<std::string>;

constexpr std::size_t kManyRows = 50;

struct Line {
  Cells cells;
  std::function<std::string(std::size_t, const std::string&)> paint;  // of a padded cell; may be empty
};

/// Aligned columns; the first `left` of them, and the last, stand on the left.
std::string aligned(const std::vector<Line>& lines, std::size_t left) {
  const std::size_t columns = lines.front().cells.size();
  std::vector<std::size_t> widths(columns);
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], width(line.cells[i]));
  }
  std::string text;
  for (const Line& line : lines) {
    std::string pending;  // blanks are only written where something follows
    for (std::size_t i = 0; i < columns; ++i) {
      if (widths[i] == 0) continue;  // a column in which nothing is said
      const std::string cell = padded(line.cells[i], widths[i], i < left || i + 1 == columns);
      pending += "  ";
      if (line.cells[i].empty()) {
        pending += cell;
        continue;
      }
      // What is right of the text is only written where something follows.
      const std::size_t end = cell.find_last_not_of(' ') + 1;
      const std::string shown = cell.substr(0, end);
      text += pending + (line.paint ? line.paint(i, shown) : shown);
      pending = cell.substr(end);
    }
    text += "\n";
  }
  return text;
}

std::string painted(Verdict verdict, const std::string& text, const Style& style) {
  switch (verdict) {
    case Verdict::regressed:
    case Verdict::missing: return style.bad(text);
    case Verdict::improved: return style.good(text);
    case Verdict::changed:
    case Verdict::inconclusive: return style.notice(text);
    default: return text;
  }
}

Line row_line(const compare::Row& row, const Style& style) {
  const auto value = [&row](const std::optional<compare::Side>& side) {
    return side ? compared_value(side->median, row.unit) : "-";
  };
  Cells cells{std::string(to_text(row.verdict)),
              printable(row.key),
              printable(row.measured),
              printable(value(row.base)),
              printable(value(row.next)),
              change_text(row.ratio),
              change_text(row.interval),
              p_text(row.p_holm),
              sizes_text(row),
              printable(fmt::format("{}", fmt::join(row.notes, "; ")))};
  return {std::move(cells), [verdict = row.verdict, style](std::size_t i, const std::string& text) {
            return i == 0 ? painted(verdict, text, style) : text;
          }};
}

bool is_quiet(const compare::Row& row) {
  return row.verdict == Verdict::same || row.verdict == Verdict::inconclusive || row.verdict == Verdict::added;
}

std::string source_lines(const std::vector<compare::Source>& sources, const char* side) {
  std::string text;
  for (const compare::Source& s : sources) {
    text += fmt::format("{:<5} {}: {}, {}, xferbench {}\n", text.empty() ? side : "", printable(s.name),
                        printable(s.gpu), printable(s.started_at), printable(s.version));
  }
  return text;
}

std::string simulated_line(const std::optional<std::string>& profile, const Style& style) {
  if (!profile) return "";
  return style.notice(printable(simulated_text(*profile))) + "\n";
}

Line header_line(Cells cells, const Style& style) {
  return {std::move(cells), [style](std::size_t, const std::string& text) { return style.dim(text); }};
}

}  // namespace

std::string to_table(const compare::Comparison& comparison, bool all, const Style& style) {
  std::string text = simulated_line(comparison.simulated, style) + source_lines(comparison.base, "base") +
                     source_lines(comparison.next, "new") + "\n";
  const bool fold = !all && comparison.rows.size() > kManyRows;
  std::vector<Line> lines{header_line({"", "case", "measured", "base", "new", "change", "95 % interval", "p",
                                       comparison.several_files() ? "files" : "n", ""},
                                      style)};
  for (const compare::Row* row : by_verdict(comparison)) {
    if (!fold || !is_quiet(*row)) lines.push_back(row_line(*row, style));
  }
  if (lines.size() > 1) text += aligned(lines, 3) + "\n";
  text += style.bold(summary(comparison)) + "\n";
  if (lines.size() <= comparison.rows.size()) {
    text += fmt::format("{} of {} cases are not listed; --all lists them\n", comparison.rows.size() + 1 - lines.size(),
                        comparison.rows.size());
  }
  return text + style.dim(method(comparison)) + "\n";
}

std::string to_table(const compare::Across& across, const Style& style) {
  std::string text = simulated_line(across.simulated, style);
  Cells header{"case", "measured"};
  for (const std::string& column : across.columns) header.push_back(printable(column));
  header.emplace_back();  // the last column stands on the left, and these are numbers
  std::vector<Line> lines{header_line(std::move(header), style)};
  for (const compare::Across::Row& row : across.rows) {
    Cells cells{printable(row.key), printable(row.measured)};
    std::vector<bool> best{false, false};
    for (const auto& cell : row.cells) {
      best.push_back(cell && cell->best);
      const std::string mark = best.back() ? " *" : "  ";
      cells.push_back(cell ? printable(compared_value(cell->median, row.unit)) + mark : "-  ");
    }
    cells.emplace_back();
    best.push_back(false);
    lines.push_back({std::move(cells), [best, style](std::size_t i, const std::string& shown) {
                       return best[i] ? style.good(shown) : shown;
                     }});
  }
  return text + aligned(lines, 2) + "\n" + style.dim("* the best, or not to be told from it by the 95 % intervals") +
         "\n";
}

}  // namespace xferbench
