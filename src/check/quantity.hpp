// Numbers with units as people write them: "52 GB/s", "10us", ">=256MiB", "85 %". Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace xferbench::check {

/// A number in the unit in which results are kept: "s", "B", "GB/s", "Hz", "1" for ratios; others as they are.
struct Quantity {
  double value = 0;
  std::string unit{};     ///< empty: none was written
  std::string written{};  ///< the unit as it was written: "us", "%"
};

/// The same amount in the unit in which results are kept: (10, "us") -> (1e-5, "s").
Quantity in_base_unit(double value, std::string_view unit);

/// Those that limits may be written in beside those in which results are kept, the commonest first.
std::vector<std::string> units_of_limits();

/// "3.5 us", "91.2 %": a number in the unit in which results are kept, as it is in the unit that was written of another
/// quantity of its kind. Four significant digits; of a limit as few as it has.
std::string in_written_unit(double value, const Quantity& like);
std::string written(const Quantity& limit);

/// A number and what may follow it as its unit; nothing if the text does not begin with a number.
std::optional<Quantity> parse_quantity(std::string_view text);

}  // namespace xferbench::check
