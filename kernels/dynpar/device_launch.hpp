// What kernels that launch kernels tell the host of launches that did not happen. A launch in a kernel that fails
// leaves no trace but an error in the launching thread: whoever does not ask there and then goes on with children
// missing. So each of them asks, and keeps what it hears in device memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace xferbench::kernels {

/// In device memory, zero before the first launch; launches add to it and never clear it.
struct LaunchStatus {
  std::uint32_t failed = 0;  ///< launches from the device that returned an error
  std::uint32_t error = 0;   ///< of the first of them, a cudaError_t
};

/// The errors that have advice of their own, by CUDA's numbers (driver_types.h): more launches than may be pending at a
/// time, and grids nested too deeply.
inline constexpr std::uint32_t kLaunchMaxDepthExceeded = 65;
inline constexpr std::uint32_t kLaunchPendingCountExceeded = 69;

/// CUDA's own limit of launches that are pending, unless another is asked for (CUDA Runtime API, cudaDeviceSetLimit).
inline constexpr std::size_t kDefaultPendingLaunches = 2048;

}  // namespace xferbench::kernels
