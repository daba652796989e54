// Names of measurements that are used outside of the scenario that declares them.
#pragma once

namespace xferbench {

/// Measurement of the scenario latency: duration of a copy or launch call on the host.
inline constexpr const char* kHostCall = "call";
/// Measurement of the scenario latency: time from the launch call to the kernel's first instruction on the GPU.
inline constexpr const char* kKernelStart = "start";
/// Measurement of the scenario scatter: host time in the calls of a pass.
inline constexpr const char* kSubmit = "submit";
/// Measurement of the scenario alloc: from the allocation or pinning to the end of freeing or unpinning.
inline constexpr const char* kCycle = "cycle";
/// Main measurement of the scenarios that time one small operation, for example a dependent read of memory.
inline constexpr const char* kLatency = "latency";

}  // namespace xferbench
