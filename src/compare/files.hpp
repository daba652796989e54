// Reads the numbers in the files of a comparison, before anything is judged: for comparisons and for tables side by
// side.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/compare.hpp"

namespace xferbench::compare {

/// The number of one case in one file.
struct Value {
  std::string_view name;
  std::string_view unit;
  double median = 0;
  const Measurement* measurement = nullptr;  // null for a derived metric
};

/// The measurement of that name, else the metric of that name; without a name, the headline. nullopt if there is none.
std::optional<Value> value_of(const Result& result, const std::optional<std::string>& name, const Options& options);

/// Whether lower or higher is better, as the scenario declares it; if no declaration is known, derived from the unit.
Better better_of(const Value& value, std::string_view scenario, const Options& options);

using Files = std::vector<const NamedReport*>;

Files files_of(std::initializer_list<std::span<const NamedReport>> sides);

/// The metric declarations of all files and of the options, by scenario. If several declare a name, the first counts.
MetricsDeclared all_declared(const Files& files, const Options& options);

/// The cases of all files that the options select, each once, in the order of the files; of fleets, the cases of the
/// first round for each rank. Throws UsageError if there is none.
std::vector<SameCase> cases_of(const Files& files, const Options& options, std::optional<Match> match);

std::vector<Source> sources_of(std::span<const NamedReport> reports);

/// The profile, if any file is simulated. Throws UsageError if the profiles differ and --allow-simulated was not given.
std::optional<std::string> check_simulated(const Files& files, const Options& options);

/// Throws InputError if a median is not that of its samples: the file was edited.
void check_medians(const Files& files);

/// The doubts about all files, each once.
std::vector<std::string> doubts_of(const Files& files);

/// Throws UsageError, because no case has the number that is to be compared. The message names the available numbers.
[[noreturn]] void refuse_numberless(const Files& files, const Options& options);

}  // namespace xferbench::compare
