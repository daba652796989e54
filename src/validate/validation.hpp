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

/// A measured case and its prediction.
struct Prediction {
  std::string key;
  std::string group;                   ///< names_of_work(): cases of one group are compared with each other
  std::string kind{};                  ///< kind_of(): the way of doing the work, for example "engines"
  double measured = 0;                 ///< the headline's median, in seconds
  std::optional<Interval> interval{};  ///< 95% interval of `measured`, in seconds
  double predicted = 0;
  std::optional<Interval> between{};  ///< range of predictions within the intervals of the profile's numbers
};

// --- Cases that do the same work, so that one can be faster than another ---------------------------------------------

/// A case and the axes that say what work it does, not how. Empty `axes`: all except strategy, method and host, which
/// name a way of doing the work.
struct Work {
  const Case* config = nullptr;
  std::span<const std::string_view> axes{};
};

/// A name for each case's work, the same for cases that do the same work: for example "overlap 16 MiB, 10 rounds".
/// Params that all cases of a scenario share are left out, except size, direction and rounds.
std::vector<std::string> names_of_work(std::span<const Work> cases);

/// The way in which a case does its work, for example "engines"; the scenario's name if no axis says it.
std::string kind_of(const Case& c);

// --- Accuracy of the predictions -------------------------------------------------------------------------------------

/// Statistics of the errors |predicted / measured - 1|.
struct Errors {
  std::size_t cases = 0;
  double bias = 0;  ///< median of predicted / measured - 1
  double median = 0;
  double p95 = 0;
};

struct Group {
  std::string name;
  Errors all;
  std::vector<std::pair<std::string, Errors>> kinds;  ///< errors by kind_of(), in the order of first use
  std::string fastest;                                ///< key of the case that was measured fastest
  std::string predicted_fastest;
  double regret = 0;  ///< relative extra time of the case predicted fastest over the fastest one, both as measured
  std::optional<double> coverage{};  ///< share of cases whose measured and predicted intervals overlap; absent: unknown
};

/// The groups are in the order of their first cases.
std::vector<Group> groups_of(std::span<const Prediction> predictions);

Errors errors_of(std::span<const Prediction> predictions);

}  // namespace xferbench::validation

namespace xferbench {

struct Validated {
  std::string profile;                              ///< name of the profile in tables
  std::vector<std::string> files;                   ///< results files that it was compared with
  std::vector<validation::Prediction> predictions;  ///< predictions for the cases of `files`
  std::vector<std::string> left_out;                ///< results that were not predicted, and why
};

}  // namespace xferbench
