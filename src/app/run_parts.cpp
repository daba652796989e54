#include "app/run_parts.hpp"

#include "app/files.hpp"
#include "app/session.hpp"
#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/shell.hpp"
#include "core/standard_error.hpp"
#include "paper/writers.hpp"
#include "report/trace/timeline.hpp"
#include "results/output_file.hpp"
#include "run/findings.hpp"
#include "scenarios/scenarios.hpp"
#include "words/run.hpp"

namespace xferbench::app {

namespace {

/// Returns the advice "continue: xferbench --resume FILE"; empty if no results file can be resumed.
std::string resume_hint(const cli::RunCommand& command, const Report& report) {
  const cli::OutputFiles& files = command.measuring.files;
  const std::optional<std::string>& file = command.resume ? command.resume : files.json;
  // The run of a fleet cannot be resumed.
  if (!file || *file == "-" || files.timeline || report.fleet) return {};
  return "continue: xferbench --resume " + shell_word(*file);
}

/// Returns which characters charts use: block characters if the encoding of the locale is UTF-8, else ASCII.
Glyphs glyphs() { return locale_is_utf8().value_or(false) ? Glyphs::blocks : Glyphs::ascii; }

}  // namespace

std::string shown(const Report& report, const cli::RunCommand& command) {
  const Style style = style_of(command.measuring.show);
  const Document document = document_of(report, descriptors(),
                                        {.details = command.measuring.show.details,
                                         .every_row = style.every_row,
                                         .next = report.complete ? "" : resume_hint(command, report)});
  return to_terminal(document, style) + to_gantts(report, style, glyphs());
}

ToDocument document_for(const cli::RunCommand& command) {
  return [details = command.measuring.show.details](const Report& report) {
    return document_of(report, descriptors(), {.details = details});
  };
}

std::vector<const ScenarioDescriptor*> scenarios_of(std::span<const PlannedCase> cases) {
  std::vector<const ScenarioDescriptor*> all;
  for (const PlannedCase& c : cases) add_new(all, &c.scenario->descriptor());
  return all;
}

void expand(cli::RunCommand& command, const Environment& environment, int ranks) {
  command.cases = expanded(command.cases, {.environment = environment,
                                           .asked_for = command.measuring.device.gpus.has_value(),
                                           .each_node = command.measuring.device.numa.kind == NumaPolicy::Kind::each,
                                           .ranks = ranks});
}

void refuse_if_none_can_run(const cli::RunCommand& command, Machine& machine) {
  std::string first;
  for (const PlannedCase& c : command.cases) {
    const auto reason = skip_reason(c, machine, command.measuring.verify);
    if (!reason || reason->kind == SkipReason::Kind::unavailable) return;
    if (first.empty()) first = c.config.key() + " " + reason->text;
  }
  throw UsageError(first);
}

void finish(const cli::RunCommand& command, LiveReport& live, bool cut_off) {
  // Write the files before printing the table: the program ends if the reader goes away (xferbench ... | head).
  std::vector<Finding> findings;
  // In a fleet, the results contain every case once for each rank. Only scenarios that measure across ranks can derive
  // findings from such results.
  const std::vector<const Scenario*> concluding = those_of(scenarios(), [&](const Scenario* scenario) {
    return !live.report().fleet || scenario->descriptor().needs_ranks;
  });
  const std::string failure = failure_of([&] { findings = conclude(concluding, live.report().results); });
  live.finish(std::move(findings), cut_off);
  if (!failure.empty()) tell("warning: no findings: " + failure);
  if (!command.measuring.show.quiet) {
    print_warnings(live.report());
    warn(left_out_of(command.measuring.files.formats, live.report()));
  }
  if (!live.owns_standard_output()) {
    write_standard_output(shown(live.report(), command));
  } else if (const std::string next = resume_hint(command, live.report()); !live.report().complete && !next.empty()) {
    tell(next);
  }
  live.rethrow();
}

}  // namespace xferbench::app
