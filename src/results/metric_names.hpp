// Names of measurements that more than the scenario that declares them knows.
#pragma once

namespace xferbench {

/// latency: how long a call keeps the host.
inline constexpr const char* kHostCall = "call";
/// latency: from the call of a launch to its first instruction on the GPU.
inline constexpr const char* kKernelStart = "start";
/// What the main measurement of every case is called that times one small thing: of a region, or of the part that is
/// the answer.
inline constexpr const char* kLatency = "latency";

}  // namespace xferbench
