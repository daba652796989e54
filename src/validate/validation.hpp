// How right the simulated device is about a real one: what was measured, beside what a profile predicts of it. Pure
// functions of records; docs/calibrate.md says what the figures mean.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/axis.hpp"
#include "results/result.hpp"

namespace xferbench::validation {

/// A case that was measured, and what the simulated device makes of it.
struct Prediction {
  std::string key;
  std::string group;                   ///< cases that are set beside each other: "overlap 16 MiB"
  std::string kind{};                  ///< of it: what tells ways of doing the same apart, "engines"
  double measured = 0;                 ///< the headline's median, in seconds
  std::optional<Interval> interval{};  ///< its 95% interval
  double predicted = 0;
  std::optional<Interval> between{};  ///< predicted with all figures at the faster and at the slower ends of theirs
};

// --- Which cases do the same work, so that one can be faster than another --------------------------------------------

/// A case, and those of its axes that say what is done, and not how; none: all, but for those that name a way of doing
/// it (kind_of()).
struct Work {
  const Case* config = nullptr;
  std::span<const std::string_view> axes{};
};

/// A name for each case's work, alike for those that do the same: "overlap 16 MiB, 10 rounds". Params that are alike in
/// all cases of a scenario are left out, but for size, direction and rounds.
std::vector<std::string> names_of_work(std::span<const Work> cases);

/// What tells ways of doing the same apart: "engines"; the scenario's name where nothing does.
std::string kind_of(const Case& c);

// --- How right predictions are ---------------------------------------------------------------------------------------

/// Of the errors |predicted / measured - 1|.
struct Errors {
  std::size_t cases = 0;
  double bias = 0;  ///< median of predicted / measured - 1
  double median = 0;
  double p95 = 0;
};

struct Group {
  std::string name;
  Errors all;
  std::vector<std::pair<std::string, Errors>> kinds;  ///< in the order of the first of each
  std::string fastest;                                ///< key of the one measured fastest
  std::string predicted_fastest;
  double regret = 0;  ///< how much longer than the fastest the one takes that was predicted to be it, measured
  std::optional<double>
      coverage{};  ///< share of cases whose interval meets what is predicted between; where that is known
};

/// In the order of the first of each group.
std::vector<Group> groups_of(std::span<const Prediction> predictions);

/// Of all predictions together.
Errors errors_of(std::span<const Prediction> predictions);

}  // namespace xferbench::validation

namespace xferbench {

/// What was validated.
struct Validated {
  std::string profile;                              ///< as tables call it
  std::vector<std::string> files;                   ///< that it was held against
  std::vector<validation::Prediction> predictions;  ///< of their cases
  std::vector<std::string> left_out;                ///< what was not predicted, and why
};

}  // namespace xferbench
