// Names of measurements that more than the scenario that declares them knows.
#pragma once

namespace xferbench {

/// latency: how long a call keeps the host.
inline constexpr const char* kHostCall = "call";

}  // namespace xferbench
