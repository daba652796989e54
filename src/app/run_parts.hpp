// What a run by one process and one by many share.
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

/// "continue: xferbench --resume FILE"; empty where there is no file that could be gone on with.
std::string how_to_continue(const cli::RunCommand& command, const Report& report);

/// The table of a run, how to go on where it was cut off, and its timelines.
std::string shown(const Report& report, const cli::RunCommand& command);

/// What the command's table shows, as Markdown and pages have it.
ToDocument document_for(const cli::RunCommand& command);

/// Of these cases, each once, in the order of its first case.
std::vector<const ScenarioDescriptor*> scenarios_of(std::span<const PlannedCase> cases);

/// The cases of the command as they are on that machine, and with so many ranks. May be called again when it is known
/// how many these are.
void expand(cli::RunCommand& command, const Environment& environment, int ranks = 1);

/// If no case can run, that is a mistake in the command and not a result: throws UsageError.
void refuse_if_none_can_run(const cli::RunCommand& command, Machine& machine);

/// No more results come, the file first and then the table: findings, warnings, and what could not be written.
/// `cut_off`: there are cases of which nothing is known.
void finish(const cli::RunCommand& command, LiveReport& live, bool cut_off = false);

}  // namespace xferbench::app
