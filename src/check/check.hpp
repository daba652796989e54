// Checks results against expectations. Pure functions of records; words/check.hpp and report/check/check_report.hpp
// turn what they return into text.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/expectations.hpp"
#include "core/enum_text.hpp"
#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench::check {

enum class Verdict {
  holds,
  fails,
  no_case,       ///< no case has the number, but one should
  not_measured,  ///< no case matches, and the expectation is optional
};
constexpr auto texts_of(Verdict) {
  return std::to_array<std::string_view>({"holds", "fails", "no case", "not measured"});
}

struct Row {
  std::string name;
  std::string expected;  ///< for example "at least 52 GB/s"
  Verdict verdict = Verdict::holds;
  std::optional<Metric> found;   ///< number of the case that decides, or the median of all
  std::string shown;             ///< `found` in the unit of the limit, for example "95.5 % (55.03 GB/s)"
  std::optional<Metric> limit;   ///< the limit that decides, as an amount
  std::optional<double> margin;  ///< how far the number is inside the limit, as a fraction of it; negative: outside
  std::string key;        ///< key of the case that decides, in fleets with concurrency and rank; empty for a median
  std::string place{};    ///< in fleets: GPU and host of the case that decides
  std::size_t cases = 0;  ///< number of cases that were judged
  std::string note;       ///< why there is no number
  std::string command;    ///< if no case matches: command that would measure the number; empty: unknown
};

struct Checked {
  std::string results;       ///< name of the results file in messages
  std::string expectations;  ///< name of the expectations in messages
  std::string description;
  std::string gpu;
  std::string simulated;       ///< the profile, if the results are simulated
  std::string injected_fault;  ///< fault that was injected into the device; empty if none
  std::string continued_by;    ///< the command that continues an interrupted run; empty if it cannot be resumed
  std::string started_at;
  bool complete = true;  ///< no case is missing, and no rank of a fleet
  bool verified = true;
  std::vector<Row> rows;  ///< in the order of the expectations

  [[nodiscard]] std::size_t count(Verdict verdict) const;
  /// Nothing fails, at least one expectation was judged, and the run is complete: an interrupted run says nothing of
  /// its missing cases.
  [[nodiscard]] bool all_hold() const;
};

struct Options {
  bool allow_simulated = false;  ///< simulated results may be checked
  Descriptors scenarios{};       ///< scenarios that this program can measure, for Row::command
};

/// Throws UsageError if the results cannot be checked: they come from another GPU, are simulated without permission, or
/// a limit or a condition has a unit that its number cannot have.
Checked check(const Report& report, std::string_view name, const Expectations& expectations,
              const Options& options = {});

}  // namespace xferbench::check
