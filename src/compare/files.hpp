// What the files of a comparison hold, before anything is judged: shared by comparisons and tables side by side.
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

/// Of a measurement of that name, else of a metric of that name; without a name, of what the case is about.
std::optional<Value> value_of(const Result& result, const std::optional<std::string>& name, const Options& options);

/// As its scenario declares it; of a number that nobody declares, by its unit.
Better better_of(const Value& value, std::string_view scenario, const Options& options);

using Files = std::vector<const NamedReport*>;

Files files_of(std::initializer_list<std::span<const NamedReport>> sides);

/// What the files declare of each scenario, the first to name something deciding what it is, and what the options add.
MetricsDeclared all_declared(const Files& files, const Options& options);

/// The cases that the options leave of all files, each once, in the order in which they come; of fleets those of the
/// first round, for each rank. Throws UsageError if there is none.
std::vector<SameCase> cases_of(const Files& files, const Options& options, std::optional<Match> match);

std::vector<Source> sources_of(std::span<const NamedReport> reports);

/// The profile, if any is simulated. Throws UsageError where not all are the same and that was not asked for.
std::optional<std::string> check_simulated(const Files& files, const Options& options);

/// Throws InputError where a median is not that of the samples beside it: somebody has changed the file.
void check_medians(const Files& files);

/// Of all files.
std::vector<std::string> doubts_of(const Files& files);

/// Throws UsageError: no case has the number that is to be compared. Names those that there are.
[[noreturn]] void refuse_numberless(const Files& files, const Options& options);

}  // namespace xferbench::compare
