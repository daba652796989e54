// Checks results against expectations. Pure functions that return records; words/check.hpp and
// report/check/check_report.hpp turn these records into text.
#pragma once

#include "check/expectations.hpp"
#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench::check {

enum class Verdict {
  holds,
  fails,
  no_case,       ///< no case has the number; a case matches, or the expectation is not optional
  not_measured,  ///< no case matches, and the expectation is optional
};
constexpr auto texts_of(Verdict) { return enum_texts("holds", "fails", "no case", "not measured"); }

struct Row {
  std::string name;
  std::string expected;  ///< for example "at least 52 GB/s"
  Verdict verdict = Verdict::holds;
  std::optional<Metric> found;  ///< number of the case that decides the verdict, or the median over all cases
  std::string shown;            ///< `found` in the unit of the limit, for example "95.5 % (55.03 GB/s)"
  std::optional<Metric> limit;  ///< limit that decides the verdict, in the unit of the number
  /// distance of the number from the limit as a fraction of the limit; negative: the number violates it
  std::optional<double> margin;
  /// key of the case that decides the verdict, followed by concurrency and rank in fleets; empty for a median
  std::string key;
  std::string place{};    ///< in fleets: GPU and host on which the case `key` was measured
  std::size_t cases = 0;  ///< number of cases that were judged
  std::string note;       ///< why no number could be judged; empty if one was
  std::string command;    ///< if no case matches: command that would measure the number; empty if unknown
};

struct Checked {
  std::string results;       ///< name of the results file in messages
  std::string expectations;  ///< name of the expectations in messages
  std::string description;
  std::string gpu;
  std::string simulated;       ///< profile that simulated the results; empty if measured
  std::string injected_fault;  ///< fault that was injected into the device; empty if none
  std::string continued_by;    ///< command that continues an interrupted run; empty if the run cannot be resumed
  std::string started_at;
  std::size_t processes = 1;  ///< number of processes whose medians were checked
  bool complete = true;       ///< false if a case is missing or a rank of a fleet did not answer
  bool verified = true;
  std::vector<Row> rows;  ///< one for each expectation, in the order of the file

  [[nodiscard]] std::size_t count(Verdict verdict) const;
  /// Returns whether nothing fails, at least one expectation was judged, and the run is complete. An incomplete run
  /// never passes, because its missing cases might fail.
  [[nodiscard]] bool all_hold() const;
};

struct Options {
  bool allow_simulated = false;
  Descriptors scenarios{};  ///< scenarios of this program, from which Row::command is made
};

/// Throws UsageError if the results cannot be checked: they come from a GPU for which the expectations are not meant,
/// are simulated without permission, or a limit or a condition has a unit that its number cannot have.
Checked check(const Report& report, std::string_view name, const Expectations& expectations,
              const Options& options = {});

}  // namespace xferbench::check
