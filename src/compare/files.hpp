// Reads the numbers to compare from results files. Used for comparisons and for tables that show machines side by side.
#pragma once

#include <initializer_list>

#include "compare/compare.hpp"

namespace xferbench::compare {

/// Value of a measurement or metric of one case in one results file.
struct Value {
  std::string_view name;
  std::string_view unit;
  double median = 0;
  const Measurement* measurement = nullptr;  // null for a derived metric
};

/// Returns the measurement of that name, or else the metric of that name. Without a name, returns the headline (main
/// measurement). nullopt if there is none.
std::optional<Value> value_of(const Result& result, const std::optional<std::string>& name, const Options& options);

/// Returns whether lower or higher is better: as the scenario declares it, or without a declaration, by the unit.
Better better_of(const Value& value, std::string_view scenario, const Options& options);

using Files = std::vector<const NamedReport*>;

Files files_of(std::initializer_list<std::span<const NamedReport>> sides);

/// Merges the metric declarations of all files and of the options, by scenario. If a metric is declared several times,
/// the first declaration is used.
MetricsDeclared all_declared(const Files& files, const Options& options);

/// Returns the selected cases of all files, each once, in the order of the files. In fleets, each rank has its own
/// case, and only the first round is used. Throws UsageError if there is no case.
std::vector<SameCase> cases_of(const Files& files, const Options& options, std::optional<Match> match);

std::vector<Source> sources_of(std::span<const NamedReport> reports);

/// Returns the name of the device profile that simulated the results; nullopt if all files are measured. Without
/// --allow-simulated, throws UsageError if profiles differ or only some files are simulated.
std::optional<std::string> check_simulated(const Files& files, const Options& options);

/// Throws InputError if a stored median is not the median of its samples, because the file was then edited.
void check_medians(const Files& files);

/// Returns the doubts() about all files, each once.
std::vector<std::string> doubts_of(const Files& files);

/// Throws UsageError that says that no case has the number to compare, and lists the available numbers.
[[noreturn]] void refuse_numberless(const Files& files, const Options& options);

}  // namespace xferbench::compare
