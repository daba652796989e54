// What results say of a machine, as numbers of a profile for the simulated device.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "results/result.hpp"

namespace xferbench {

/// Bytes that a profile file may have: of a name or a description, and of where a number comes from.
inline constexpr std::size_t kLongestProfileWord = 100;
inline constexpr std::size_t kLongestSource = 500;

/// One of the numbers of sim::Profile.
struct Figure {
  std::string field;  ///< its name there
  double value = 0;   ///< in that field's unit
  /// 95% of a median, or what several measurements lie between; absent where there is one value.
  std::optional<Interval> interval{};
  std::string source;  ///< the results file and what of it
};

struct Calibration {
  std::string gpu;                     ///< name of its model
  std::vector<Figure> figures{};       ///< of which the results have enough, in no particular order, none twice
  std::vector<std::string> missing{};  ///< what the results do not tell, and which measurements would
  std::vector<std::string> remarks{};  ///< sentences on what is doubtful, or left to the base for want of a measurement
  bool simulated = false;              ///< a run of these was simulated: the profile says of no machine how fast it is
};

}  // namespace xferbench
