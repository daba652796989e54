// The GPU's timer brought to the host: a stamp in a stream, and the exchange that relates the timer to the host's
// clock.
#pragma once

#include <cstdint>

namespace xferbench::kernels {

/// Lives in pinned, mapped host memory, each number on a cache line of its own. The host asks by counting `asked` up;
/// the kernel then writes its timer to `nanoseconds` and the number it saw to `answered`.
struct ClockExchange {
  alignas(64) std::uint32_t asked = 0;
  alignas(64) std::uint64_t nanoseconds = 0;
  std::uint32_t answered = 0;  // beside it: one write of the GPU may carry both
};

/// Loads the kernels of this file now: stamps must not wait for a lazy load.
void preload_stamp();

/// Writes the timer to `slot`, the device address of page-locked memory.
void launch_stamp(std::uint64_t* slot, void* cuda_stream);

/// Answers questions `first` to `first` + `rounds` - 1 and ends; gives up `timeout_ns` after the last one.
void launch_clock_exchange(ClockExchange* exchange, std::uint32_t first, std::uint32_t rounds, std::uint64_t timeout_ns,
                           void* cuda_stream);

}  // namespace xferbench::kernels
