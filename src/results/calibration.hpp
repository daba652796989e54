// Numbers of a simulated device's profile, derived from results.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "results/result.hpp"

namespace xferbench {

/// Longest texts in a profile file, in bytes: of a name or description, and of the source of a number.
inline constexpr std::size_t kLongestProfileWord = 100;
inline constexpr std::size_t kLongestSource = 500;

/// The value of one field of sim::Profile.
struct Figure {
  std::string field;
  double value = 0;  ///< in the unit of the field
  /// 95 % confidence interval of a median, or range of several measurements; absent for a single value.
  std::optional<Interval> interval{};
  std::string source;  ///< results file and the part of it that the value comes from
};

struct Calibration {
  std::string gpu;                ///< model name of the GPU
  std::vector<Figure> figures{};  ///< fields that the results determine, in no particular order, each at most once
  /// Measured values that the results lack, and which measurements would provide them.
  std::vector<std::string> missing{};
  /// Sentences about doubtful values, and about values of the base profile that were kept for lack of a measurement.
  std::vector<std::string> remarks{};
  bool simulated = false;  ///< some results are simulated, so the profile describes no real machine
};

}  // namespace xferbench
