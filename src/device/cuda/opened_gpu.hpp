// One of the GPUs that a machine was opened with, and how its context is made current.
#pragma once

#include <cuda_runtime.h>

#include <optional>

#include "device/cuda/check.hpp"

namespace xferbench::cuda {

/// An opened GPU. The only GPU of a machine is current in every thread that may use it, so make_current() does nothing
/// and adds no cost to measured submissions. With several GPUs, every operation that CUDA directs to the current GPU
/// first makes its own GPU current and leaves it current. (CUDA C++ Programming Guide, Multi-Device System: this holds
/// for launches, allocations, the legacy stream and device-wide calls. Copies, records and waits in other streams go to
/// the stream's own GPU, whichever is current.)
class OpenedGpu {
 public:
  OpenedGpu(int number, unsigned place, bool alone, std::optional<int> memory_node = std::nullopt)
      : number_(number), place_(place), alone_(alone), memory_node_(memory_node) {}

  /// CUDA device index.
  [[nodiscard]] int number() const { return number_; }
  /// Index among the machine's devices.
  [[nodiscard]] unsigned place() const { return place_; }
  /// Whether the machine has no other GPU.
  [[nodiscard]] bool alone() const { return alone_; }
  /// NUMA node from which host memory for this GPU comes; nothing if the process's own memory policy applies.
  [[nodiscard]] std::optional<int> memory_node() const { return memory_node_; }

  void make_current() const {
    if (!alone_) check(cudaSetDevice(number_), "cudaSetDevice");
  }
  /// Like make_current(), but returns false on failure instead of throwing.
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
