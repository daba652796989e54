// A GPU of the machine, and who has it current.
#pragma once

#include <cuda_runtime.h>

#include <optional>

#include "device/cuda/check.hpp"

namespace xferbench::cuda {

/// One of the GPUs that a machine was opened with. A machine with a single one has it current in every thread that may
/// use it, and nothing is called any more: what a submission costs is measured. With several, every operation that CUDA
/// sends to the current GPU first makes its own current, and leaves it so. (CUDA C++ Programming Guide, Multi-Device
/// System: launches, allocations, and whatever concerns the legacy stream or the device as a whole need that; copies,
/// records and waits in other streams go to the stream's own GPU, whichever is current.)
class OpenedGpu {
 public:
  OpenedGpu(int number, unsigned place, bool alone, std::optional<int> memory_node = std::nullopt)
      : number_(number), place_(place), alone_(alone), memory_node_(memory_node) {}

  /// As CUDA counts it.
  [[nodiscard]] int number() const { return number_; }
  /// Among the machine's devices.
  [[nodiscard]] unsigned place() const { return place_; }
  /// Whether it is the machine's only one.
  [[nodiscard]] bool alone() const { return alone_; }
  /// The NUMA node that its host memory is taken from; nothing where the process's own placement decides.
  [[nodiscard]] std::optional<int> memory_node() const { return memory_node_; }

  void make_current() const {
    if (!alone_) check(cudaSetDevice(number_), "cudaSetDevice");
  }
  /// For those who cannot throw; false if it cannot be made current.
  bool try_make_current() const noexcept {
    if (alone_ || cudaSetDevice(number_) == cudaSuccess) return true;
    static_cast<void>(cudaGetLastError());
    return false;
  }

 private:
  int number_;
  unsigned place_;
  bool alone_;
  std::optional<int> memory_node_;
};

}  // namespace xferbench::cuda
