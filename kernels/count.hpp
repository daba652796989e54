// A minimal kernel that can count its launches. It measures the launch cost and proves that every launch ran.
#pragma once

#include <cstring>

#include "device/kernel.hpp"

namespace xferbench::kernels {

/// Adds one to `counter` in device memory, or nothing if `counter` is null. The kernel code is the same in both cases,
/// so a check with a counter also covers timed launches without a counter.
class Count final : public KernelOf<Count> {
 public:
  explicit Count(std::uint64_t* counter = nullptr) : counter_(counter) {}

  [[nodiscard]] std::string_view name() const override { return "count"; }
  [[nodiscard]] KernelCost cost() const override { return {.bytes = 2 * output().size()}; }
  [[nodiscard]] std::span<std::byte> output() const override {
    return std::as_writable_bytes(std::span<std::uint64_t>(counter_, std::size_t{counter_ == nullptr ? 0U : 1U}));
  }
  void compute(std::span<std::byte> result) const override {
    if (counter_ == nullptr) return;
    const std::uint64_t next = *counter_ + 1;
    std::memcpy(result.data(), &next, sizeof(next));
  }
#if XFERBENCH_WITH_CUDA
  void preload() const override;
  void launch(void* cuda_stream) const override;
#endif

 private:
  std::uint64_t* counter_;
};

}  // namespace xferbench::kernels
