// Texts for tables and heat maps of results: axis values, and the parts of case keys.
#pragma once

#include "results/result.hpp"

namespace xferbench {

/// Returns the value of an axis as text, for example "64 MiB", "8" or "h2d"; "-" if the case has no such axis.
std::string axis_text(const Result& result, const std::string& axis);

/// Splits the key of a case into its scenario, its axes and, for fleets, the parts after blanks that identify the rank.
std::vector<std::string> parts_of_key(std::string key);

/// The parts that the keys of several cases share. They can be shown once instead of in each line.
struct CommonKey {
  std::vector<std::string> parts{};  ///< "memcpy", "host=pinned", in the order of the keys
  /// Returns for example "memcpy, host=pinned".
  [[nodiscard]] std::string text() const;
  /// Returns the parts of the key that are not shared.
  [[nodiscard]] std::vector<std::string> own(const std::string& key) const;
  /// Returns the parts that are not shared, joined to a key; the whole key if all parts are shared.
  [[nodiscard]] std::string rest(const std::string& key) const;
};
CommonKey common_key(const std::vector<std::string>& keys);

}  // namespace xferbench
