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
  std::optional<Metric> found;  ///< of the case that decides, or the median of all
  std::string key;              ///< of the case that decides; empty for a median
  std::size_t cases = 0;        ///< that were looked at
  std::string note;             ///< why there is no number
};

struct Checked {
  std::string results;       ///< the file, as messages call it
  std::string expectations;  ///< the same
  std::string description;
  std::string gpu;
  std::string simulated;  ///< the profile, if the results are simulated
  std::string started_at;
  bool complete = true;
  bool verified = true;
  std::vector<Row> rows;  ///< in the order of the expectations

  [[nodiscard]] std::size_t count(Verdict verdict) const;
  /// Nothing fails, at least one expectation was looked at, and the run came to its end: what was cut off says nothing
  /// of the cases that are not there.
  [[nodiscard]] bool all_hold() const;
};

/// Throws UsageError if the results cannot be checked so: they come from another GPU, are simulated and may not be, or
/// a limit or a condition has a unit that its number cannot have.
Checked check(const Report& report, std::string_view name, const Expectations& expectations,
              bool allow_simulated = false);

}  // namespace xferbench::check
