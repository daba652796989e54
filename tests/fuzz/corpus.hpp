// Valid files to begin with.
#pragma once

#include <string>
#include <vector>

#include "fuzz/mutator.hpp"
#include "results/result.hpp"

namespace xferbench::fuzz {

/// Files of results made by hand, with all that a file may have.
std::vector<std::string> made_by_hand();

/// A run as it would be stored, and all that it measured.
struct Run {
  Report report;
  Json document;  ///< the same
};

/// A run of each scenario on the simulated device. What that cannot measure is made up from what the scenario declares.
std::vector<Run> runs_of_all_scenarios();

/// A file of spreads, of the cases of those runs.
std::vector<std::string> spreads();

/// Files of expectations, suites and profiles: those that come with the program, and some that use all that there is.
std::vector<std::string> expectations();
std::vector<std::string> suites();
std::vector<std::string> profiles();

/// Stored files of `explain --json` and of `--timeline`.
std::vector<std::string> explanations();
std::vector<std::string> timelines();

}  // namespace xferbench::fuzz
