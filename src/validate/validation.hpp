// How right the simulated device is about a real one: what was measured, beside what a profile predicts of it. Pure
// functions of records; docs/calibrate.md says what the figures mean.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

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
