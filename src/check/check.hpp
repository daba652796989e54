// Whether results are what was expected of them. Pure functions of records; report/check_report.hpp turns what they
// return into text.
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
  no_case,       ///< no case has the number, and there should be one
  not_measured,  ///< no case matches, and none has to
};
constexpr auto texts_of(Verdict) {
  return std::to_array<std::string_view>({"holds", "fails", "no case", "not measured"});
}

struct Row {
  std::string name;
  std::string expected;  ///< "at least 52 GB/s"
  Verdict verdict = Verdict::holds;
  std::optional<Metric> found;   ///< of the case that decides, or the median of all
  std::string shown;             ///< the same in the unit of the limit: "55.03 GB/s", "95.5 % (55.03 GB/s)"
  std::optional<Metric> limit;   ///< the one that decides, as an amount
  std::optional<double> margin;  ///< by what share of the limit the number is inside it; negative: outside
  std::string key;               ///< of the case that decides, of fleets with pace and rank; empty for a median
  std::string place{};           ///< of fleets, where that was measured
  std::size_t cases = 0;         ///< that were looked at
  std::string note;              ///< why there is no number
  std::string command;           ///< that would measure it, where no case matches; empty if none is known
};

struct Checked {
  std::string results;       ///< the file, as messages call it
  std::string expectations;  ///< the same
  std::string description;
  std::string gpu;
  std::string simulated;       ///< the profile, if the results are simulated
  std::string injected_fault;  ///< of a device that was given one on purpose
  std::string continued_by;    ///< the command that goes on with a run that was cut off; empty for standard input
  std::string started_at;
  bool complete = true;  ///< no case is missing, and of a fleet no rank
  bool verified = true;
  std::vector<Row> rows;  ///< in the order of the expectations

  [[nodiscard]] std::size_t count(Verdict verdict) const;
  /// Nothing fails, at least one expectation was looked at, and the run came to its end: what was cut off says nothing
  /// of the cases that are not there.
  [[nodiscard]] bool all_hold() const;
};

struct Options {
  bool allow_simulated = false;  ///< simulated results may be checked
  Descriptors scenarios{};       ///< that this program can measure; for the commands
};

/// Throws UsageError if the results cannot be checked so: they come from another GPU, are simulated and may not be, or
/// a limit or a condition has a unit that its number cannot have.
Checked check(const Report& report, std::string_view name, const Expectations& expectations,
              const Options& options = {});

}  // namespace xferbench::check
