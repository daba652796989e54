// Cases from command lines, for tests of other things.
#pragma once

#include <iterator>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "cli/command.hpp"
#include "scenarios/scenarios.hpp"

namespace xferbench::test {

/// The cases of a run or tune command. Throws UsageError, and std::bad_variant_access for any other command.
inline std::vector<PlannedCase> cases_of(const std::vector<std::string>& arguments) {
  const cli::Command command = cli::parse(arguments, scenarios());
  if (const auto* tune = std::get_if<cli::TuneCommand>(&command)) return tune->cases;
  return std::get<cli::RunCommand>(command).cases;
}

/// The same for a single string, split at blanks; quotes are not supported.
inline std::vector<PlannedCase> cases_of_line(const std::string& line) {
  std::istringstream in(line);
  return cases_of({std::istream_iterator<std::string>(in), {}});
}

}  // namespace xferbench::test
