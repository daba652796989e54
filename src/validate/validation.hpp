// Accuracy of the simulated device: measured results against predictions of a profile. Pure functions of records;
// docs/calibrate.md says what the figures mean.
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

struct Prediction {
  std::string key;
  std::string group;    ///< name of the work (names_of_work()); cases of one group do the same work and are compared
  std::string kind{};   ///< the way of doing the work (kind_of()), for example "engines"
  double measured = 0;  ///< median of the case's main metric, in seconds
  std::optional<Interval> interval{};  ///< 95% interval of `measured`, in seconds
  double predicted = 0;
  std::optional<Interval> between{};  ///< range of `predicted` over the profile's confidence intervals, in seconds
};

// --- Cases that do the same work, so that one can be faster than another ---------------------------------------------

/// A case and the names of the axes that define what work it does, not how. Empty `axes`: all axes except strategy,
/// method and host, which define how the work is done.
struct Work {
  const Case* config = nullptr;
  std::span<const std::string_view> axes{};
};

/// Returns a name of each case's work, for example "overlap 16 MiB, 10 rounds". Cases that do the same work have the
/// same name. Axes with the same value in all cases of a scenario are left out, except size, direction and rounds.
std::vector<std::string> names_of_work(std::span<const Work> cases);

/// Returns the way in which a case does its work, for example "engines"; the scenario's name if no axis defines it.
std::string kind_of(const Case& c);

// --- Accuracy of the predictions -------------------------------------------------------------------------------------

/// Statistics of the errors |predicted / measured - 1|.
struct Errors {
  std::size_t cases = 0;
  double bias = 0;  ///< median of predicted / measured - 1, sign included
  double median = 0;
  double p95 = 0;
  double close = 0;  ///< share of the cases whose error is at most kClose
};

/// Largest error of a close prediction.
inline constexpr double kClose = 0.05;

struct Group {
  std::string name;
  Errors all;
  std::vector<std::pair<std::string, Errors>> kinds;  ///< errors by kind_of(), in the order of first use
  std::string fastest;                                ///< key of the case that was measured fastest
  std::string predicted_fastest;
  /// Measured time of the case that was predicted to be fastest, divided by the shortest measured time, minus 1.
  double regret = 0;
  /// Share of the cases whose measured and predicted intervals overlap; absent if a predicted interval is unknown.
  std::optional<double> coverage{};
};

/// Returns the errors of each group of cases (Prediction::group), in the order of the groups' first cases.
std::vector<Group> groups_of(std::span<const Prediction> predictions);

/// Returns the errors by Prediction::kind, in the order of first use.
std::vector<std::pair<std::string, Errors>> kinds_of(std::span<const Prediction> predictions);

Errors errors_of(std::span<const Prediction> predictions);

}  // namespace xferbench::validation

namespace xferbench {

struct Validated {
  std::string profile;                              ///< name of the profile, for tables
  std::vector<std::string> files;                   ///< result files that the profile was compared with
  std::vector<validation::Prediction> predictions;  ///< predictions for the cases of `files`
  std::vector<std::string> left_out;                ///< results that were not predicted, and why
};

}  // namespace xferbench
