// The gate: a one-thread kernel that holds a stream until the host writes a flag in pinned memory.
#pragma once

#include <cstdint>

namespace xferbench::kernels {

/// Lives in pinned, mapped host memory. The host counts `opened` up to let a closed gate go; the kernel writes
/// `timed_out` when it gave up waiting.
struct GateFlags {
  std::uint32_t opened = 0;
  std::uint32_t timed_out = 0;
};

/// Loads the kernels of this file now; a lazily loaded kernel behind a closed gate would wait for it for ever.
void preload_gate();

/// Holds `cuda_stream` until flags->opened reaches `ticket` or `timeout_ns` of the GPU's own clock have passed.
/// `flags` is the device address of the GateFlags.
void launch_gate(GateFlags* flags, std::uint32_t ticket, std::uint64_t timeout_ns, void* cuda_stream);

/// One thread counts clock cycles for about `duration_ns` and writes {cycles, nanoseconds} to `sample` (device address
/// of two numbers in mapped host memory). Their ratio is the multiprocessor's clock rate in GHz.
void launch_clock_probe(std::uint64_t* sample, std::uint64_t duration_ns, void* cuda_stream);

}  // namespace xferbench::kernels
