// Single-thread kernels for timing: the gate, which holds a stream until the host writes a flag in pinned memory; a
// probe of the SM clock; and two ways to read the GPU's global timer, as a stamp in a stream and in an exchange with
// the host that relates it to the host's clock.
#pragma once

#include <cstddef>
#include <cstdint>

namespace xferbench::kernels {

/// Maximum number of streams that one gate can hold at a time.
inline constexpr unsigned kMostHeld = 1024;

/// State of a gate in pinned, mapped host memory that all GPUs access. Each closing has a ticket number. The host opens
/// the gate by setting `opened` to that number. Each waiting kernel writes the ticket to a slot of its own, because not
/// every bus supports atomic increments of host memory. A kernel whose wait exceeds its timeout sets `timed_out`.
struct GateFlags {
  std::uint32_t opened = 0;
  std::uint32_t timed_out = 0;
  alignas(64) std::uint32_t arrived[kMostHeld] = {};  // NOLINT(modernize-avoid-c-arrays): for device code
};

/// Data through which the host asks a kernel for the GPU's time, in pinned, mapped host memory. The fields of host and
/// GPU are on separate cache lines. The host increments `asked`; the kernel writes its timer to `nanoseconds` and then
/// the value of `asked` to `answered`.
struct ClockExchange {
  alignas(64) std::uint32_t asked = 0;
  alignas(64) std::uint64_t nanoseconds = 0;
  std::uint32_t answered = 0;  // shares a cache line with `nanoseconds`, so that one GPU write may carry both
};

/// Loads this file's kernels on the current GPU. Hazard: a lazily loaded kernel behind a closed gate would deadlock,
/// and a stamp would include the loading time.
void preload_timing_kernels();

/// Launches a kernel that holds `cuda_stream` until flags->opened reaches `ticket` or until `timeout_ns` have passed on
/// the GPU's timer. It reports its arrival in flags->arrived[slot]. `flags` is the device address of the GateFlags.
void launch_gate(GateFlags* flags, unsigned slot, std::uint32_t ticket, std::uint64_t timeout_ns, void* cuda_stream);

/// Launches one thread that counts clock cycles for about `duration_ns`. It writes {cycles, nanoseconds} to `sample`,
/// the device address of two numbers in mapped host memory. Their ratio is the SM clock in GHz.
void launch_clock_probe(std::uint64_t* sample, std::uint64_t duration_ns, void* cuda_stream);

/// Launches a kernel that writes the global timer, in nanoseconds, to `slot`, the device address of page-locked memory.
void launch_stamp(std::uint64_t* slot, void* cuda_stream);

/// Launches a kernel that inverts the lowest bit of a byte that the GPU can access.
void launch_flip(std::byte* at, void* cuda_stream);

/// Launches a kernel that answers the questions `first` to `first` + `rounds` - 1 (values of ClockExchange::asked). It
/// ends early if no question comes for `timeout_ns`.
void launch_clock_exchange(ClockExchange* exchange, std::uint32_t first, std::uint32_t rounds, std::uint64_t timeout_ns,
                           void* cuda_stream);

}  // namespace xferbench::kernels
