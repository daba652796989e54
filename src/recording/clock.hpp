// The system's clocks, for what is set beside times of other processes.
#pragma once

#include <cstdint>
#include <ctime>

namespace xferbench {

/// Nanoseconds since the clock's own beginning.
inline std::uint64_t nanoseconds_of(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace xferbench
