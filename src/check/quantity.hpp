// Numbers with units as people write them: "52 GB/s", "10us", ">=256MiB", "85 %". Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace xferbench::check {

/// A number in the base unit that results use: "s", "B", "GB/s", "Hz", "1" for ratios. Unknown units stay unchanged.
struct Quantity {
  double value = 0;
  std::string unit{};     ///< empty if none was written
  std::string written{};  ///< the unit as the user wrote it: "us", "%"
};

/// Converts an amount to its base unit: (10, "us") gives (1e-5, "s").
Quantity in_base_unit(double value, std::string_view unit);

std::vector<std::string> units_of_limits();

/// Formats a number with four significant digits, in the unit in which `like` was written, for example "3.5 us".
/// written() formats a limit with all of its digits.
std::string in_written_unit(double value, const Quantity& like);
std::string written(const Quantity& limit);

/// Parses a number and its unit, which may be missing; nullopt if the text does not begin with a number.
std::optional<Quantity> parse_quantity(std::string_view text);

}  // namespace xferbench::check
