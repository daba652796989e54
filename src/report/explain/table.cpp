#include <fmt/format.h>

#include <limits>

#include "core/printable.hpp"
#include "report/cells.hpp"
#include "report/explain/explain_report.hpp"
#include "report/explain/words.hpp"
#include "report/grid.hpp"

namespace xferbench {

namespace {

using explain::Explanation;
using explain::Finding;
using explain::ProcessExplanation;

/// A sentence beneath what it belongs to.
std::string beneath(const std::string& text, const std::string& label, const Style& style) {
  if (text.empty()) return {};
  const std::string margin(3 + width(label), ' ');
  return wrapped(printable(text), style.columns, "   " + label, margin);
}

std::string lines_of(const ProcessExplanation& process, std::size_t at, bool all, const Style& style) {
  constexpr std::size_t kFrames = 4;
  const Finding& finding = process.findings[at];
  const std::string gain = explain_report::gain_text(process, at);
  const std::string title = fmt::format("{}: {}", to_text(finding.kind), gain.empty() ? "gain not known" : gain);
  std::string text = paragraph(fmt::format("{}. {}", at + 1, title), Tone::bold, style);
  text += beneath(finding.what, "", style) + beneath(finding.mend, "do: ", style) +
          beneath(finding.assumption, "if: ", style) +
          beneath(explain_report::place_text(finding.place), "at: ", style);
  const std::size_t frames = all ? std::numeric_limits<std::size_t>::max() : kFrames;
  return text + beneath(explain_report::stack_text(finding.place, frames), "in: ", style);
}

std::string traffic_of(const ProcessExplanation& process, bool all, const Style& style) {
  constexpr std::size_t kRows = 8;
  if (process.traffic.empty()) return {};
  const Grid grid = explain_report::grid_of_traffic(process, all ? process.traffic.size() : kRows);
  std::string text = "\n" + to_lines(grid, style);
  if (const std::size_t left = process.traffic.size() - grid.rows.size(); left > 0) {
    text += paragraph(fmt::format("{} more kinds of copies; --all lists them", left), Tone::dim, style);
  }
  return text;
}

std::string findings_of(const ProcessExplanation& process, bool all, const Style& style) {
  std::string text;
  for (std::size_t i = 0; i < process.findings.size(); ++i) text += "\n" + lines_of(process, i, all, style);
  const std::string together = explain_report::together_text(process);
  if (!together.empty()) text += "\n" + paragraph(together, Tone::bold, style);
  const std::string chosen = explain_report::chosen_text(process);
  if (!chosen.empty()) text += "\n" + paragraph(chosen, Tone::bold, style);
  const std::string rest = explain_report::rest_text(process);
  if (!rest.empty()) text += "\n" + paragraph(rest, process.withheld.empty() ? Tone::plain : Tone::notice, style);
  return text;
}

/// Columns of the bar that stands for all of the time; none in narrow terminals.
std::size_t room_for_bars(const Style& style) {
  constexpr std::size_t kWide = 90;
  return style.columns == 0 || style.columns >= kWide ? 30 : 0;
}

/// All that is said of a process but the answer.
std::string told_in_full(const ProcessExplanation& process, bool all, const Style& style) {
  std::string text = paragraph(explain_report::head(process), Tone::dim, style);
  for (const std::string& sentence : explain_report::watching(process)) text += paragraph(sentence, Tone::dim, style);
  if (!process.ending.empty()) text += paragraph(process.ending, Tone::notice, style);
  for (const std::string& note : process.notes) text += paragraph("note: " + note, Tone::notice, style);
  const Grid shares = explain_report::grid_of_shares(process.shares, room_for_bars(style));
  if (!shares.rows.empty()) text += "\n" + to_lines(shares, style);
  return text + traffic_of(process, all, style) + findings_of(process, all, style);
}

}  // namespace

std::string to_table(const Explanation& explanation, bool all, const Style& style) {
  std::string text;
  if (explanation.simulated) text += paragraph(simulated_text(explanation.profile), Tone::notice, style);
  text += paragraph(explain_report::answer(explanation), Tone::bold, style);
  for (const std::string& warning : explanation.warnings) text += paragraph("warning: " + warning, Tone::notice, style);
  if (explanation.processes.empty()) return text + paragraph(explain_report::advice(explanation), Tone::plain, style);
  text += "\n" + paragraph(explain_report::limits_text(explanation), Tone::dim, style);
  const std::string runs = explain_report::runs_text(explanation);
  if (!runs.empty()) text += paragraph(runs, Tone::dim, style);
  text += told_in_full(explanation.processes.front(), all, style);
  for (std::size_t i = 1; i < explanation.processes.size(); ++i) {
    const ProcessExplanation& process = explanation.processes[i];
    text += "\n" + paragraph(explain_report::in_a_line(process), all ? Tone::bold : Tone::plain, style);
    if (all) text += told_in_full(process, all, style);
  }
  if (!all && explanation.processes.size() > 1) {
    text += paragraph("--all tells of all processes in full", Tone::dim, style);
  }
  return text;
}

}  // namespace xferbench
