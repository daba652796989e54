// Reads the GPU's global timer in kernels.
#pragma once

#include <cstdint>

namespace xferbench::kernels {

/// Returns the global timer in nanoseconds, which all multiprocessors share. Its resolution is 32 ns on an H200, up to
/// a microsecond or more elsewhere (PTX ISA, "Special Registers: %globaltimer").
__device__ inline std::uint64_t global_nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

}  // namespace xferbench::kernels
