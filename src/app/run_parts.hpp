// Functions that runs of one process and of a fleet share.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/live_report.hpp"
#include "cli/command.hpp"
#include "core/environment.hpp"
#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"
#include "run/runner.hpp"

namespace xferbench::app {

/// Returns "continue: xferbench --resume FILE"; empty if there is no file that can be resumed.
std::string resume_hint(const cli::RunCommand& command, const Report& report);

/// The output of a run: its table, how to continue if it was interrupted, and its timelines.
std::string shown(const Report& report, const cli::RunCommand& command);

/// The content of the command's table, for Markdown and HTML files.
ToDocument document_for(const cli::RunCommand& command);

/// The scenarios of these cases, each once, in the order of the first case.
std::vector<const ScenarioDescriptor*> scenarios_of(std::span<const PlannedCase> cases);

/// Replaces the command's cases by those for that machine and number of ranks. May be called again when the number of
/// ranks is known.
void expand(cli::RunCommand& command, const Environment& environment, int ranks = 1);

/// Throws UsageError if no case can run: that is a mistake in the command and not a result.
void refuse_if_none_can_run(const cli::RunCommand& command, Machine& machine);

/// Ends a run: writes the files, then prints warnings and the table. Throws OutputError if a file could not be written.
/// `cut_off`: some cases have no result.
void finish(const cli::RunCommand& command, LiveReport& live, bool cut_off = false);

}  // namespace xferbench::app
