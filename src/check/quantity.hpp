// Numbers with units as people write them: "52 GB/s", "10us", ">=256MiB", "85 %". Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace xferbench::check {

/// A number in the unit in which results are kept: "s", "B", "GB/s", "Hz", "1" for ratios; others as they are.
struct Quantity {
  double value = 0;
  std::string unit;  ///< empty: none was written
};

/// The same amount in the unit in which results are kept: (10, "us") -> (1e-5, "s").
Quantity in_base_unit(double value, std::string_view unit);

/// A number and what may follow it as its unit; nothing if the text does not begin with a number.
std::optional<Quantity> parse_quantity(std::string_view text);

}  // namespace xferbench::check
