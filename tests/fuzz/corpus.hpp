// Valid files, from which the fuzzer makes damaged ones.
#pragma once

#include <string>
#include <vector>

#include "fuzz/mutator.hpp"
#include "results/result.hpp"

namespace xferbench::fuzz {

/// Hand-made results files with every field.
std::vector<std::string> made_by_hand();

/// A simulated run as a record and as its JSON.
struct Run {
  Report report;
  Json document;  ///< JSON of the same run
};

/// One simulated run per scenario. Cases that cannot be simulated get made-up metrics.
std::vector<Run> runs_of_all_scenarios();

/// Spread files for the cases of those runs.
std::vector<std::string> spreads();

/// Files of the program's data folder, and some with every possible field.
std::vector<std::string> expectations();
std::vector<std::string> suites();
std::vector<std::string> profiles();

/// Stored outputs of `explain --json` and `--timeline`.
std::vector<std::string> explanations();
std::vector<std::string> timelines();

}  // namespace xferbench::fuzz
