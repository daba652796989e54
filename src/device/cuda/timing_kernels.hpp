// What measuring needs on the GPU, in kernels of one thread: the gate, which holds a stream until the host writes a
// flag in pinned memory; a probe of the multiprocessors' clock; and the GPU's timer brought to the host, as a stamp in
// a stream and in the exchange that relates the timer to the host's clock.
#pragma once

#include <cstddef>
#include <cstdint>

namespace xferbench::kernels {

/// Streams that one gate can hold at once.
inline constexpr unsigned kMostHeld = 1024;

/// Lives in pinned, mapped host memory that all GPUs reach. The host counts `opened` up to let a closed gate go. Each
/// kernel that comes to it writes its ticket to a slot of its own: many GPUs cannot count in host memory, since not
/// every bus has atomic operations. It writes `timed_out` when it gave up waiting.
struct GateFlags {
  std::uint32_t opened = 0;
  std::uint32_t timed_out = 0;
  alignas(64) std::uint32_t arrived[kMostHeld] = {};  // NOLINT(modernize-avoid-c-arrays): for device code
};

/// Lives in pinned, mapped host memory, each number on a cache line of its own. The host asks by counting `asked` up;
/// the kernel then writes its timer to `nanoseconds` and the number it saw to `answered`.
struct ClockExchange {
  alignas(64) std::uint32_t asked = 0;
  alignas(64) std::uint64_t nanoseconds = 0;
  std::uint32_t answered = 0;  // beside it: one write of the GPU may carry both
};

/// Loads the kernels of this file on the current GPU now: a lazily loaded kernel behind a closed gate would wait for it
/// for ever, and stamps must not wait for a load.
void preload_timing_kernels();

/// Holds `cuda_stream` until flags->opened reaches `ticket` or `timeout_ns` of the GPU's own clock have passed, and
/// says in flags->arrived[slot] that it does. `flags` is the device address of the GateFlags.
void launch_gate(GateFlags* flags, unsigned slot, std::uint32_t ticket, std::uint64_t timeout_ns, void* cuda_stream);

/// One thread counts clock cycles for about `duration_ns` and writes {cycles, nanoseconds} to `sample` (device address
/// of two numbers in mapped host memory). Their ratio is the multiprocessor's clock rate in GHz.
void launch_clock_probe(std::uint64_t* sample, std::uint64_t duration_ns, void* cuda_stream);

/// Writes the timer to `slot`, the device address of page-locked memory.
void launch_stamp(std::uint64_t* slot, void* cuda_stream);

/// Inverts the lowest bit of a byte that the GPU reaches.
void launch_flip(std::byte* at, void* cuda_stream);

/// Answers questions `first` to `first` + `rounds` - 1 and ends; gives up `timeout_ns` after the last one.
void launch_clock_exchange(ClockExchange* exchange, std::uint32_t first, std::uint32_t rounds, std::uint64_t timeout_ns,
                           void* cuda_stream);

}  // namespace xferbench::kernels
