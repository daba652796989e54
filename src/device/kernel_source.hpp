// A user's own kernel: its source file, its launch parameters, and the loaded kernel on a device.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/non_copyable.hpp"

namespace xferbench {

/// Source and compiler settings of a kernel. Equal values denote the same kernel.
struct KernelSource {
  std::string file{};     ///< path, as used in messages
  std::string content{};  ///< the file's content: CUDA C++, PTX or a cubin, according to the file extension
  std::string name{};     ///< kernel name, declared extern "C"
  std::string arch{};     ///< target architecture such as sm_90; empty: the device's own
  std::vector<std::string> options{};  ///< compiler options

  friend bool operator==(const KernelSource&, const KernelSource&) = default;
};

/// Launch parameters that the kernel's file requests (docs/own-kernels.md).
struct LaunchRequest {
  unsigned block_size = 0;           ///< threads per block; 0: no preference
  unsigned elements_per_thread = 1;  ///< elements that each thread processes
  unsigned shared_bytes = 0;         ///< dynamic shared memory per block, in bytes
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

  /// True on a simulated device: only the kernel's duration is modelled, and a built-in kernel computes the result in
  /// its place.
  [[nodiscard]] virtual bool has_stand_in() const = 0;
  [[nodiscard]] virtual const LaunchRequest& launch_request() const = 0;
  /// Block size, in threads, with the best occupancy on the device.
  [[nodiscard]] virtual unsigned best_block_size() const = 0;
  /// Launches on a cudaStream_t. Does not check errors; callers use cudaGetLastError. Must not be called if
  /// has_stand_in().
  virtual void launch(const OwnLaunch& launch, void* cuda_stream) const = 0;
};

}  // namespace xferbench
