#include "report/fleet/fleet_report.hpp"

#include <fmt/format.h>

#include "core/printable.hpp"
#include "report/cells.hpp"
#include "report/fleet/content.hpp"
#include "report/run/run_report.hpp"
#include "report/run/sections.hpp"

namespace xferbench {

namespace {

using fleet_report::Content;
using fleet_report::content_of;
using fleet_report::Part;

constexpr const char* kIncomplete = "INCOMPLETE: not every case has run to its end";
constexpr const char* kContention = "What contention costs";

// --- For a terminal -------------------------------------------------------------------------------------------------

std::string lines_in(const std::vector<std::string>& sentences, Tone tone, const Style& style) {
  std::string text;
  for (const std::string& sentence : sentences) text += paragraph(sentence, tone, style);
  return text.empty() ? text : "\n" + text;
}

std::string part_text(const Part& part, const std::vector<std::string>& marks, const Style& style) {
  std::string text = "\n" + style.bold(printable(part.scenario));
  if (!part.common.empty()) text += "  " + style.dim(printable(part.common));
  for (const std::string& mark : marks) text += "  " + style.notice(printable(mark));
  text += "\n" + to_lines(part.tests, style);
  if (!part.contention.rows.empty()) {
    text += fmt::format("\n  {}\n{}", style.bold(kContention), to_lines(part.contention, style));
  }
  if (!style.every_row) return text;
  for (const Grid& piece : in_pieces(part.ranks, style.columns)) text += "\n" + to_lines(piece, style);
  return text;
}

// --- For a ticket ---------------------------------------------------------------------------------------------------

std::string list_in(const char* heading, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return {};
  std::string text = fmt::format("\n## {}\n\n", heading);
  for (const std::string& sentence : sentences) text += "- " + markdown_escaped(sentence) + "\n";
  return text;
}

std::string part_in_markdown(const Part& part, const std::vector<std::string>& marks) {
  std::string text = "\n## " + markdown_escaped(part.scenario);
  for (const std::string& mark : marks) text += fmt::format(" ({})", markdown_escaped(mark));
  text += "\n";
  if (!part.common.empty()) text += "\n" + markdown_escaped(part.common) + "\n";
  text += "\n" + to_markdown(part.tests);
  if (part.contention.rows.empty()) return text;
  return text + fmt::format("\n### {}\n\n{}", kContention, to_markdown(part.contention));
}

}  // namespace

std::string to_fleet_table(const Report& report, const Style& style) {
  const Content content = content_of(report);
  std::string text;
  for (const std::string& alarm : content.alarms) text += paragraph(alarm, Tone::notice, style);
  text += paragraph(content.head, Tone::bold, style);
  for (const Part& part : content.parts) text += part_text(part, marks(report), style);
  text += lines_in(content.findings, Tone::plain, style);
  text += lines_in(content.flagged, Tone::bad, style);
  text += lines_in(content.failed, Tone::bad, style);
  text += lines_in(content.skipped, Tone::dim, style);
  if (content.nothing) text += lines_in({content.nothing->text}, content.nothing->tone, style);
  text += lines_in(content.notes, Tone::dim, style);
  if (!report.complete) text += "\n" + style.notice(kIncomplete) + "\n";
  return text;
}

std::string to_fleet_markdown(const Report& report) {
  const Content content = content_of(report);
  std::string text = "# xferbench\n\n";
  for (const std::string& alarm : content.alarms) text += fmt::format("**{}**\n\n", markdown_escaped(alarm));
  text += markdown_escaped(content.head) + "\n";
  if (!report.complete) text += fmt::format("\n**{}**\n", kIncomplete);
  text += list_in("Flagged", content.flagged);
  text += list_in("Missing and failed", content.failed);
  if (content.nothing) text += fmt::format("\n{}\n", content.nothing->text);
  for (const Part& part : content.parts) text += part_in_markdown(part, marks(report));
  text += list_in("Findings", content.findings);
  text += list_in("Notes", content.notes);
  text += list_in("Skipped", content.skipped);
  return text + list_in("Warnings", warning_lines(report));
}

}  // namespace xferbench
