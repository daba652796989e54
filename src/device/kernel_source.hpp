// A kernel that is not part of this program: a file of the user's, and what a device makes of it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/non_copyable.hpp"

namespace xferbench {

/// Where the kernel comes from, and how it is to be compiled. Two that are equal are the same kernel.
struct KernelSource {
  std::string file{};                  ///< its path, which messages name
  std::string content{};               ///< of the file: CUDA C++, PTX or a cubin, as its name ends
  std::string name{};                  ///< of the kernel, which is extern "C"
  std::string arch{};                  ///< to compile for, as in sm_90; empty: the device's own
  std::vector<std::string> options{};  ///< for the compiler

  friend bool operator==(const KernelSource&, const KernelSource&) = default;
};

/// What the kernel wishes of its launches (docs/own-kernels.md).
struct LaunchWishes {
  unsigned block_size = 0;           ///< threads of a block; 0: no wish
  unsigned elements_per_thread = 1;  ///< that each thread works on
  unsigned shared_bytes = 0;         ///< dynamic shared memory of a block
};

/// One launch: the arguments are those of the contract, (const T* in, T* out, size_t elements).
struct OwnLaunch {
  const void* in = nullptr;
  void* out = nullptr;
  std::size_t elements = 0;
  std::size_t blocks = 1;
  unsigned block_size = 1;
  unsigned shared_bytes = 0;
};

/// The kernel on one device, for as long as that device is there.
class LoadedKernel : NonCopyable {
 public:
  virtual ~LoadedKernel() = default;

  /// Whether it is only said how long it takes, and something else of the same shape is computed in its place: so where
  /// the device is simulated.
  [[nodiscard]] virtual bool has_stand_in() const = 0;
  [[nodiscard]] virtual const LaunchWishes& wishes() const = 0;
  /// Threads of a block that occupy the device best.
  [[nodiscard]] virtual unsigned best_block_size() const = 0;
  /// On a cudaStream_t. Errors are left for cudaGetLastError. Not where it has a stand-in.
  virtual void launch(const OwnLaunch& launch, void* cuda_stream) const = 0;
};

}  // namespace xferbench
