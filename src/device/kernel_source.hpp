// A user's own kernel: its source file, its launch parameters, and the loaded kernel on a device.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/non_copyable.hpp"

namespace xferbench {

/// Source code and compiler settings of a user's kernel. Equal values denote the same kernel.
struct KernelSource {
  std::string file{};     ///< path of the file, for messages
  std::string content{};  ///< content of the file: CUDA C++, PTX or a cubin, according to the file extension
  std::string name{};     ///< name of the kernel, which must be declared extern "C"
  std::string arch{};     ///< target architecture such as sm_90; empty: that of the device
  std::vector<std::string> options{};

  friend bool operator==(const KernelSource&, const KernelSource&) = default;
};

/// Launch parameters that the kernel's file requests (docs/own-kernels.md).
struct LaunchRequest {
  unsigned block_size = 0;  ///< threads per block; 0: no preference
  unsigned elements_per_thread = 1;
  unsigned shared_bytes = 0;  ///< dynamic shared memory per block, in bytes
};

/// One launch with the arguments of the required signature, (const T* in, T* out, size_t elements).
struct OwnLaunch {
  const void* in = nullptr;
  void* out = nullptr;
  std::size_t elements = 0;
  std::size_t blocks = 1;
  unsigned block_size = 1;
  unsigned shared_bytes = 0;
};

/// A kernel loaded on one device; the device owns it.
class LoadedKernel : NonCopyable {
 public:
  virtual ~LoadedKernel() = default;

  /// Whether a built-in kernel computes the result in place of this one. True on a simulated device, which cannot run
  /// the user's code and models only its duration.
  [[nodiscard]] virtual bool has_stand_in() const = 0;
  [[nodiscard]] virtual const LaunchRequest& launch_request() const = 0;
  /// Number of threads per block with the best occupancy on the device.
  [[nodiscard]] virtual unsigned best_block_size() const = 0;
  /// Launches the kernel in a cudaStream_t. Does not check errors; callers use cudaGetLastError. Must not be called if
  /// has_stand_in() is true.
  virtual void launch(const OwnLaunch& launch, void* cuda_stream) const = 0;
};

}  // namespace xferbench
