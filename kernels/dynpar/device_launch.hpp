// Reports failed launches from device code to the host. A failed launch leaves only an error in the launching thread; a
// kernel that does not check for errors goes on without the child. So every launching thread checks, and records the
// error in device memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace xferbench::kernels {

/// Launch errors, kept in device memory. The host sets all fields to zero before the first launch. Kernels add errors.
struct LaunchStatus {
  std::uint32_t failed = 0;
  std::uint32_t error = 0;  ///< the first error, a cudaError_t
};

/// CUDA errors (driver_types.h) for which xferbench prints advice: grids nested too deeply, and more launches pending
/// than the limit.
inline constexpr std::uint32_t kLaunchMaxDepthExceeded = 65;
inline constexpr std::uint32_t kLaunchPendingCountExceeded = 69;

/// CUDA's default limit of pending launches from the device (CUDA Runtime API, cudaDeviceSetLimit).
inline constexpr std::size_t kDefaultPendingLaunches = 2048;

}  // namespace xferbench::kernels
