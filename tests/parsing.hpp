// Command lines as what they ask for, for tests that are about something else.
#pragma once

#include <iterator>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "cli/command.hpp"
#include "scenarios/scenarios.hpp"

namespace xferbench::test {

/// The cases of a run or a search. Throws UsageError, and std::bad_variant_access for another command.
inline std::vector<PlannedCase> cases_of(const std::vector<std::string>& arguments) {
  const cli::Command command = cli::parse(arguments, scenarios());
  if (const auto* tune = std::get_if<cli::TuneCommand>(&command)) return tune->cases;
  return std::get<cli::RunCommand>(command).cases;
}

/// The same for a command line in one, without quotes.
inline std::vector<PlannedCase> cases_of_line(const std::string& line) {
  std::istringstream in(line);
  return cases_of({std::istream_iterator<std::string>(in), {}});
}

}  // namespace xferbench::test
