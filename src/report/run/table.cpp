#include "report/run/run_report.hpp"

#include <fmt/format.h>

#include <sstream>

#include "core/printable.hpp"
#include "report/run/heatmap.hpp"
#include "report/run/sections.hpp"

namespace xferbench {

namespace {

std::string title(const Section& section) {
  std::string text(section.scenario->name);
  for (const auto& [axis, value] : section.fixed) text += fmt::format("  {} {}", axis, value);
  return text;
}

std::string heading(const Section& section, const Report& report, const Style& style) {
  std::string text = style.bold(title(section));
  for (const std::string& mark : marks(report)) text += "  " + style.notice(mark);
  return text;
}

std::string headline_table(const Section& section, const Style& style) {
  const std::string text = section.headline.rows.empty() ? "" : to_lines(section.headline, style);
  if (section.not_begun == 0) return text;
  return text + style.dim(fmt::format("  {} of {} cases had not begun\n", section.not_begun, section.results.size()));
}

/// A sentence in lines that a terminal holds, broken at blanks, the first a little to the left.
std::string wrapped(const std::string& sentence) {
  constexpr std::size_t kLongest = 116;
  std::string lines;
  std::string line = " ";
  std::istringstream words(sentence);
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > kLongest && line.find_first_not_of(' ') != std::string::npos) {
      lines += line + "\n";
      line = "   ";
    }
    line += " " + word;
  }
  return lines + line + "\n";
}

std::string findings_text(const Section& section, const Style& style) {
  std::string text;
  for (const auto& [kind, grid] : section.findings) {
    text += "\n  " + style.bold(printable(kind)) + "\n" + to_lines(grid, style);
  }
  if (!section.sentences.empty()) text += "\n";
  for (const std::string& sentence : section.sentences) text += wrapped(printable(sentence));
  return text;
}

}  // namespace

std::string to_table(const Report& report, Descriptors scenarios, const Style& style) {
  std::string text;
  for (const std::string& alarm : alarms(report)) text += style.notice(printable(alarm)) + "\n";
  text += style.bold(printable(machine_line(report.environment))) + "\n";
  for (const Section& section : sections_of(report, scenarios)) {
    text += "\n" + heading(section, report, style) + "\n";
    text += headline_table(section, style);
    if (!section.measurements.header.empty()) text += "\n" + to_lines(section.measurements, style);
    text += heat_maps(*section.scenario, section.results, style);
    text += findings_text(section, style);
  }
  if (!report.complete) text += "\n" + style.notice("INCOMPLETE: not every case has run to its end") + "\n";
  return text;
}

}  // namespace xferbench
