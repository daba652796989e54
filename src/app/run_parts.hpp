// Functions that a run of one process and a run of a fleet share.
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

/// Returns the terminal output of a run: table, how to continue if interrupted, and timelines.
std::string shown(const Report& report, const cli::RunCommand& command);

/// Returns a function that makes Markdown and HTML content from a report, with the details that the command requests.
ToDocument document_for(const cli::RunCommand& command);

/// Returns the scenarios of these cases, each once, in the order in which they first occur.
std::vector<const ScenarioDescriptor*> scenarios_of(std::span<const PlannedCase> cases);

/// Replaces the cases of the command by the cases for this machine and this number of ranks. Called again as soon as
/// the number of ranks is known.
void expand(cli::RunCommand& command, const Environment& environment, int ranks = 1);

/// Throws UsageError if no case can run on this machine, because that is a mistake in the command and not a result.
void refuse_if_none_can_run(const cli::RunCommand& command, Machine& machine);

/// Ends a run: writes the files, then prints warnings and the table. `cut_off` says that some cases have no result.
/// Throws OutputError if a file could not be written.
void finish(const cli::RunCommand& command, LiveReport& live, bool cut_off = false);

}  // namespace xferbench::app
