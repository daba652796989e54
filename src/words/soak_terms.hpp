// Words that lines, verdict and metrics of a soak share.
#pragma once

#include <cstdint>
#include <string>

#include "results/soak.hpp"

namespace xferbench {

inline constexpr double kGiga = 1e9;

/// "0:01:30", as a clock that has run so long.
std::string clock_text(double seconds);

/// "90 s", "20 min", "8 h", "7 days": in the largest unit that is exact.
std::string duration_text(double seconds);

/// In work of that GPU.
std::uint64_t wrong_bytes_of(const SoakTotals& totals, int gpu);

}  // namespace xferbench
