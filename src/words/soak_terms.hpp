// Words that the lines, the verdict and the metrics of a soak share.
#pragma once

#include <cstdint>
#include <string>

#include "results/soak.hpp"

namespace xferbench {

inline constexpr double kGiga = 1e9;

/// Returns for example "0:01:30": hours, minutes and seconds.
std::string clock_text(double seconds);

/// Returns for example "90 s", "20 min", "8 h" or "7 days": in the largest unit that is exact.
std::string duration_text(double seconds);

/// The number of wrong bytes in the loads of that GPU.
std::uint64_t wrong_bytes_of(const SoakTotals& totals, int gpu);

}  // namespace xferbench
