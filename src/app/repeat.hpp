// `--repeat N`: the same run in N fresh processes, because variation between processes (addresses, clocks, thread
// placement) does not show within one.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "results/result.hpp"

namespace xferbench::app {

/// Runs the command N times, one process after the other, each with its own results file, and prints how far their
/// results differ. Returns the exit code of the first process that could not run, else that of a failed case.
int repeat(const cli::RunCommand& command);

/// Merges the results of all processes of a suite into one file; by_process() splits it again. A case that failed in
/// any process is marked as failed in the results of the first, for readers that look only there.
Report merge_processes(std::vector<Report> processes);

/// The command of one of the processes; --process is its number.
cli::RunCommand one_process(const cli::RunCommand& command);

/// The file of process `number`: results.json gives results-2.json.
std::string numbered(const std::string& file, std::size_t number);

}  // namespace xferbench::app
