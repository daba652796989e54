#include <fmt/format.h>

#include <limits>

#include "report/cells.hpp"
#include "report/explain/explain_report.hpp"
#include "report/explain/words.hpp"
#include "report/grid.hpp"

namespace xferbench {

namespace {

using explain::Explanation;
using explain::ProcessExplanation;

std::string sentence(const std::string& text) { return text.empty() ? "" : markdown_escaped(text) + "\n\n"; }

std::string strong(const std::string& text) { return "**" + markdown_escaped(text) + "**\n\n"; }

std::string item(const std::string& label, const std::string& text) {
  return text.empty() ? "" : fmt::format("   - {}{}\n", label, markdown_escaped(text));
}

std::string item_of(const ProcessExplanation& process, std::size_t at) {
  const explain::Finding& finding = process.findings[at];
  const std::string gain = explain_report::gain_text(process, at);
  std::string text = fmt::format("{}. **{}**: {}\n", at + 1, to_text(finding.kind),
                                 markdown_escaped(gain.empty() ? "gain not known" : gain));
  return text + item("", finding.what) + item("do: ", finding.mend) + item("if: ", finding.assumption) +
         item("at: ", explain_report::place_text(finding.place)) +
         item("in: ", explain_report::stack_text(finding.place, 4));
}

std::string section_of(const ProcessExplanation& process) {
  std::string text = "## " + markdown_escaped(explain_report::head(process)) + "\n\n";
  text += strong(explain_report::answer(process) + ".");
  if (!process.ending.empty()) text += strong(process.ending);
  for (const std::string& note : process.notes) text += sentence("note: " + note);
  const Grid shares = explain_report::grid_of_shares(process.shares, 0);
  if (!shares.rows.empty()) text += to_markdown(shares) + "\n";
  if (!process.traffic.empty()) {
    text += to_markdown(explain_report::grid_of_traffic(process, process.traffic.size())) + "\n";
  }
  for (std::size_t i = 0; i < process.findings.size(); ++i) text += item_of(process, i);
  if (!process.findings.empty()) text += "\n";
  text += sentence(explain_report::together_text(process)) + sentence(explain_report::chosen_text(process)) +
          sentence(explain_report::rest_text(process));
  for (const std::string& line : explain_report::watching(process)) text += sentence(line);
  return text;
}

}  // namespace

std::string to_markdown(const Explanation& explanation) {
  std::string text = "# xferbench explain\n\n";
  if (explanation.simulated) text += strong(simulated_text(explanation.profile));
  for (const std::string& warning : explanation.warnings) text += strong("warning: " + warning);
  if (explanation.processes.empty()) {
    text += strong(explain_report::answer(explanation)) + sentence(explain_report::advice(explanation));
  } else {
    for (const ProcessExplanation& process : explanation.processes) text += section_of(process);
    text += sentence(explain_report::limits_text(explanation)) + sentence(explain_report::runs_text(explanation));
  }
  text.pop_back();  // of the two line feeds at the end
  return text;
}

}  // namespace xferbench
