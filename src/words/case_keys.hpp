// Pieces of text that tables and maps of results are made of.
#pragma once

#include <string>
#include <vector>

#include "results/result.hpp"

namespace xferbench {

/// The value of an axis as tables show it, for example "64 MiB", "8" or "h2d"; "-" if the case has no such axis.
std::string axis_text(const Result& result, const std::string& axis);

/// Splits a key into its scenario, its axes and, after blanks, what identifies the rank of a fleet.
std::vector<std::string> parts_of_key(std::string key);

/// The parts that the keys of several cases share, so that these need not stand in each line.
struct CommonKey {
  std::vector<std::string> parts{};  ///< "memcpy", "host=pinned", in the order of the keys
  /// Returns for example "memcpy, host=pinned".
  [[nodiscard]] std::string text() const;
  /// The parts of the key that are not shared.
  [[nodiscard]] std::vector<std::string> own(const std::string& key) const;
  /// The parts that are not shared, as a key; the whole key if nothing would be left.
  [[nodiscard]] std::string rest(const std::string& key) const;
};
CommonKey common_key(const std::vector<std::string>& keys);

}  // namespace xferbench
