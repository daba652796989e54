// `--repeat N`: the same run in N fresh processes, because what differs from process to process (addresses, clocks,
// where threads run) does not show within one.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "results/result.hpp"

namespace xferbench::app {

/// Runs the command that often, one process after the other, each with a results file of its own, and prints how far
/// apart they are. Returns the exit code: of the first process that could not run, else that of a case that failed.
int repeat(const cli::RunCommand& command);

/// What all processes of a suite measured, as one file: by_process() takes it apart again. A case that failed in any of
/// them stands as failed among the results of the first, for those who look at nothing else.
Report put_together(std::vector<Report> processes);

/// What one of the processes does, which is told by --process which one it is.
cli::RunCommand one_process(const cli::RunCommand& command);

/// results.json is results-2.json for the second process.
std::string numbered(const std::string& file, std::size_t number);

}  // namespace xferbench::app
