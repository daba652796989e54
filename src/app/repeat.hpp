// Implements `--repeat N`, which runs the same command in N new processes, one after the other. It shows the variation
// between processes (addresses, clocks, thread placement), which a single process cannot show.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "results/result.hpp"

namespace xferbench::app {

/// Runs the command N times, one process after the other, each with its own results file, and prints how much their
/// results differ. Returns the exit code of the first process that could not run. If all could, returns `failed` if a
/// case failed, else `ok`.
int repeat(const cli::RunCommand& command);

/// Merges the results of all processes of a suite into one report; by_process() splits it again. A case that failed in
/// any process is marked as failed in the results of the first process, for readers that look only there.
Report merge_processes(std::vector<Report> processes);

/// Returns the command for process number `command.process`.
cli::RunCommand one_process(const cli::RunCommand& command);

/// Returns the name of the results file of process `number`: results.json gives results-2.json.
std::string numbered(const std::string& file, std::size_t number);

}  // namespace xferbench::app
