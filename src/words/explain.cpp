#include "words/explain.hpp"

#include <fmt/format.h>

#include <limits>

#include "words/explain_text.hpp"
#include "words/timelines.hpp"

namespace xferbench {

namespace {

using explain::Explanation;
using explain::ProcessExplanation;

Item item_of(const ProcessExplanation& process, std::size_t at, bool whole_stack) {
  constexpr std::size_t kFrames = 4;
  const explain::Finding& finding = process.findings[at];
  const std::string gain = explain_text::gain_text(process, at);
  Item item{.text = gain.empty() ? "gain unknown" : gain, .strong = std::string(to_text(finding.kind))};
  const auto add = [&item](const char* label, const std::string& text) {
    if (!text.empty()) item.below.push_back({.text = text, .label = label, .margin = 3});
  };
  add("", finding.what);
  add("do: ", finding.fix);
  add("if: ", finding.assumption);
  add("or: ", explain_text::alternatives_text(process, finding));
  add("at: ", explain_text::place_text(finding.place));
  add("in: ", explain_text::stack_text(finding.place, whole_stack ? std::numeric_limits<std::size_t>::max() : kFrames));
  return item;
}

/// Adds the table of copies. On pages it is below the chart of these copies.
void add_traffic(const ProcessExplanation& process, bool all, Document& document, Shown where) {
  constexpr std::size_t kRows = 8;
  if (process.traffic.empty()) return;
  Table table = explain_text::table_of_traffic(process, all ? process.traffic.size() : kRows);
  const std::size_t left = process.traffic.size() - table.rows.size();
  document.add(std::move(table), true, where);
  if (left > 0) {
    document.add(Sentence{.text = fmt::format("{} more kinds of copies; --all lists them", left), .tone = Tone::dim},
                 false, where);
  }
}

void add_findings(const ProcessExplanation& process, bool whole_stacks, Document& document) {
  List list;
  list.numbered = true;
  list.tone = Tone::bold;
  list.margin = 0;
  for (std::size_t i = 0; i < process.findings.size(); ++i) list.items.push_back(item_of(process, i, whole_stacks));
  if (!list.items.empty()) document.add(std::move(list), true);
  for (const std::string& text : {explain_text::plan_text(process), explain_text::chosen_fixes_text(process)}) {
    if (!text.empty()) document.add(Sentence{.text = text, .tone = Tone::bold}, true);
  }
  const std::string rest = explain_text::minor_findings_text(process);
  if (!rest.empty()) {
    document.add(Sentence{.text = rest, .tone = process.gains_unavailable.empty() ? Tone::plain : Tone::notice}, true);
  }
}

/// Adds the profiler overhead and the accuracy of the replay.
void add_profiling(const ProcessExplanation& process, Shown where, Document& document) {
  for (const std::string& sentence : explain_text::profiling(process)) {
    document.add(Sentence{.text = sentence, .tone = Tone::dim}, false, where);
  }
}

/// Adds everything about a process except the answer.
void add_full_process(const Explanation& explanation, const ProcessExplanation& process, const ExplanationView& shown,
                      Document& document) {
  document.add(Sentence{.text = explain_text::head(process), .tone = Tone::dim}, false, Shown::terminal);
  add_profiling(process, Shown::terminal, document);
  if (!process.ending.empty()) {
    document.add(Sentence{.text = process.ending, .tone = Tone::notice, .strong = true});
  }
  for (const std::string& note : process.notes) {
    document.add(Sentence{.text = "note: " + note, .tone = Tone::notice});
  }
  if (Table shares = explain_text::table_of_shares(process.shares, shown.bars); !shares.rows.empty()) {
    document.add(std::move(shares), true, Shown::texts);
  }
  document.add(explain_text::bars_of_shares(process.shares), true);
  add_traffic(process, shown.all_copies, document, Shown::texts);
  document.add(explain_text::bars_of_gains(process), true);
  add_findings(process, shown.whole_stacks, document);
  document.add(timeline_of(process.timeline, process.window_summary.seconds), true);
  document.add(explain_text::chart_of_copies(explanation, process), true);
  add_traffic(process, shown.all_copies, document, Shown::pages);
  add_profiling(process, Shown::elsewhere, document);
}

void add_process(const Explanation& explanation, std::size_t at, const ExplanationView& shown, Document& document) {
  const ProcessExplanation& process = explanation.processes[at];
  const bool in_full = at == 0 || shown.all_processes;
  const std::string answer = explain_text::answer(process) + ".";
  if (at > 0) {
    const std::string of = process.command.empty() ? "" : " (" + process.command + ")";
    document.add(Sentence{.text = fmt::format("process {}{}: {}", process.pid, of, answer),
                          .tone = in_full ? Tone::bold : Tone::plain},
                 true, Shown::terminal);
  }
  if (!in_full) return;
  document.add(Heading{.text = explain_text::head(process)}, true, Shown::elsewhere);
  document.add(Sentence{.text = answer, .strong = true}, false, Shown::elsewhere);
  add_full_process(explanation, process, shown, document);
}

/// Adds the limits and runs that the gains were computed from.
void add_basis(const Explanation& explanation, Shown where, Document& document) {
  document.add(Sentence{.text = explain_text::limits_text(explanation), .tone = Tone::dim}, true, where);
  const std::string runs = explain_text::runs_text(explanation);
  if (!runs.empty()) document.add(Sentence{.text = runs, .tone = Tone::dim}, false, where);
}

}  // namespace

Document document_of(const Explanation& explanation, const ExplanationView& shown) {
  Document document("xferbench explain", {explanation.simulated ? explanation.profile : "", true, "", true});
  const bool none = explanation.processes.empty();
  document.add(Sentence{.text = explain_text::answer(explanation), .tone = Tone::bold, .strong = true}, false,
               none ? Shown::everywhere : Shown::terminal);
  for (const std::string& warning : explanation.warnings) {
    document.add(Sentence{.text = "warning: " + warning, .tone = Tone::notice, .strong = true});
  }
  if (none) {
    document.add(Sentence{.text = explain_text::advice(explanation)});
    return document;
  }
  add_basis(explanation, Shown::terminal, document);
  for (std::size_t i = 0; i < explanation.processes.size(); ++i) add_process(explanation, i, shown, document);
  if (!shown.all_processes && explanation.processes.size() > 1) {
    document.add(Sentence{.text = "--all shows all processes in full", .tone = Tone::dim});
  }
  add_basis(explanation, Shown::elsewhere, document);
  return document;
}

}  // namespace xferbench
