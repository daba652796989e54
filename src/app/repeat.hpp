// `--repeat N`: the same run in N fresh processes, because what differs from process to process (addresses, clocks,
// where threads run) does not show within one.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace xferbench::app {

/// Runs `arguments` that often, one process after the other, each with a results file of its own, and prints how far
/// apart they are. Returns the exit code: of the first process that could not run, else that of a case that failed.
int repeat(const cli::RunCommand& command, const std::vector<std::string>& arguments);

/// results.json is results-2.json for the second process.
std::string numbered(const std::string& file, std::size_t number);

/// The command line of one of the processes.
std::vector<std::string> arguments_for(const std::vector<std::string>& arguments, const std::string& file);

}  // namespace xferbench::app
