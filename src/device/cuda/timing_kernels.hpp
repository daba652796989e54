// Single-thread kernels for timing: the gate, which holds a stream until the host writes a flag in pinned memory; a
// probe of the SM clock; and two ways to read the GPU's global timer, as a stamp in a stream and in an exchange with
// the host that relates it to the host's clock.
#pragma once

#include <cstddef>
#include <cstdint>

namespace xferbench::kernels {

/// Maximum number of streams that one gate holds at once.
inline constexpr unsigned kMostHeld = 1024;

/// In pinned, mapped host memory that all GPUs access. The host opens the gate by raising `opened` to its ticket. Each
/// waiting kernel writes its ticket to a slot of its own, because not every bus supports atomic increments of host
/// memory. It sets `timed_out` if it gave up waiting.
struct GateFlags {
  std::uint32_t opened = 0;
  std::uint32_t timed_out = 0;
  alignas(64) std::uint32_t arrived[kMostHeld] = {};  // NOLINT(modernize-avoid-c-arrays): for device code
};

/// In pinned, mapped host memory, with the fields of host and GPU on separate cache lines. The host increments
/// `asked`; the kernel writes its timer to `nanoseconds` and then the number it saw to `answered`.
struct ClockExchange {
  alignas(64) std::uint32_t asked = 0;
  alignas(64) std::uint64_t nanoseconds = 0;
  std::uint32_t answered = 0;  // on the cache line of `nanoseconds`: one GPU write may carry both
};

/// Loads this file's kernels on the current GPU. Hazard: a lazily loaded kernel behind a closed gate would deadlock,
/// and a stamp would include the loading time.
void preload_timing_kernels();

/// Holds `cuda_stream` until flags->opened reaches `ticket` or `timeout_ns` have passed on the GPU's timer. Reports
/// its arrival in flags->arrived[slot]. `flags` is the device address of the GateFlags.
void launch_gate(GateFlags* flags, unsigned slot, std::uint32_t ticket, std::uint64_t timeout_ns, void* cuda_stream);

/// One thread counts clock cycles for about `duration_ns` and writes {cycles, nanoseconds} to `sample` (device
/// address of two numbers in mapped host memory). Their ratio is the SM clock in GHz.
void launch_clock_probe(std::uint64_t* sample, std::uint64_t duration_ns, void* cuda_stream);

/// Writes the global timer, in nanoseconds, to `slot`, the device address of page-locked memory.
void launch_stamp(std::uint64_t* slot, void* cuda_stream);

/// Inverts the lowest bit of a byte that the GPU can access.
void launch_flip(std::byte* at, void* cuda_stream);

/// Launches a kernel that answers questions `first` to `first` + `rounds` - 1, then ends. It also ends if no question
/// comes for `timeout_ns`.
void launch_clock_exchange(ClockExchange* exchange, std::uint32_t first, std::uint32_t rounds, std::uint64_t timeout_ns,
                           void* cuda_stream);

}  // namespace xferbench::kernels
