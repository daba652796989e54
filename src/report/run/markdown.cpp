#include "report/run/run_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "report/fleet/fleet_report.hpp"
#include "report/grid.hpp"
#include "report/run/info.hpp"
#include "report/run/sections.hpp"

namespace xferbench {

namespace {

std::string list_of(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += "- " + markdown_escaped(sentence) + "\n";
  return text.empty() ? text : "\n" + text;
}

std::string heading(const Section& section, const std::vector<std::string>& marks) {
  const std::string marked = marks.empty() ? "" : fmt::format(" ({})", fmt::join(marks, ", "));
  return fmt::format("\n## {}{}\n", markdown_escaped(section.scenario->name), marked);
}

/// "dir h2d, size 256 MiB, GPU 0 only": what all rows have in common.
std::string fixed_line(const Section& section) {
  std::string text;
  for (const auto& [axis, value] : section.fixed) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis, value);
  }
  if (section.on_gpu) text += fmt::format("{}GPU {} only", text.empty() ? "" : ", ", *section.on_gpu);
  return text.empty() ? text : "\n" + markdown_escaped(text) + "\n";
}

std::string matrix_text(const Matrix& matrix) {
  const std::string note = matrix.note.empty() ? "" : "\n" + markdown_escaped(matrix.note) + "\n";
  return fmt::format("\n### {}\n\n{}{}", markdown_escaped(matrix.title), to_markdown(to_grid(matrix)), note);
}

std::string section_text(const Section& section, const std::vector<std::string>& marks) {
  std::string text = heading(section, marks) + fixed_line(section);
  if (!section.headline.rows.empty()) text += "\n" + to_markdown(section.headline);
  text += list_of(section.skipped);
  if (section.not_begun > 0) {
    text += fmt::format("\n{} of {} cases had not begun\n", section.not_begun, section.results.size());
  }
  if (!section.measurements.header.empty()) text += "\n" + to_markdown(section.measurements);
  for (const auto& [title, grid] : section.by_gpu) {
    text += fmt::format("\n### {}\n\n{}", markdown_escaped(title), to_markdown(grid));
  }
  for (const Matrix& matrix : section.maps.over_gpus) text += matrix_text(matrix);
  text += list_of(section.maps.notes_over_gpus);
  for (const Matrix& matrix : section.pairs) text += matrix_text(matrix);
  for (const auto& [kind, grid] : section.findings) {
    text += fmt::format("\n### {}\n\n{}", markdown_escaped(kind), to_markdown(grid));
  }
  text += list_of(section.sentences);
  const std::string more = more_line(section);
  return more.empty() ? text : text + "\n" + markdown_escaped(more) + "\n";
}

}  // namespace

std::string to_markdown(const Report& report, Descriptors scenarios, FindingsShown which) {
  if (report.fleet) return to_fleet_markdown(report);
  std::string text = "# xferbench\n\n";
  for (const std::string& alarm : alarms(report)) text += fmt::format("**{}**\n\n", markdown_escaped(alarm));
  text += markdown_escaped(machine_line(report.environment)) + "\n";
  if (!report.complete) text += "\n**INCOMPLETE: not every case has run to its end**\n";
  for (const Section& section : sections_of(report, scenarios, which, RowsShown::all)) {
    text += section_text(section, marks(report));
  }
  const std::vector<std::string> warnings = warning_lines(report);
  if (!warnings.empty()) text += "\n## Warnings\n" + list_of(warnings);
  return text;
}

}  // namespace xferbench
