// Texts that the progress lines, the verdict and the metrics of a soak share.
#pragma once

#include <cstdint>

#include "results/soak.hpp"

namespace xferbench {

inline constexpr double kGiga = 1e9;

/// Returns for example "0:01:30": hours, minutes and seconds.
std::string clock_text(double seconds);

/// Returns the duration in the largest unit that is exact, for example "90 s", "20 min", "8 h" or "7 days".
std::string duration_text(double seconds);

/// Returns the number of wrong bytes that all loads of a GPU found.
std::uint64_t wrong_bytes_of(const SoakTotals& totals, int gpu);

}  // namespace xferbench
