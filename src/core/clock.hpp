// The system's clocks: for times that are compared with those of other processes, and for CPU times.
#pragma once

#include <cstdint>
#include <ctime>

namespace xferbench {

/// Returns the time of a system clock, such as CLOCK_MONOTONIC, in nanoseconds since its epoch.
inline std::uint64_t nanoseconds_of(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}
inline double seconds_of(clockid_t clock) noexcept { return 1e-9 * static_cast<double>(nanoseconds_of(clock)); }

}  // namespace xferbench
