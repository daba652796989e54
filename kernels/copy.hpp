// Copy kernel: the multiprocessors read and write host or device memory, 16 bytes at a time, instead of a copy engine.
#pragma once

#include "device/kernel.hpp"

namespace xferbench::kernels {

class MemoryCopy final : public KernelOf<MemoryCopy> {
 public:
  /// Both pointers are device addresses. Host memory must be mapped (with unified addressing, all page-locked and
  /// managed memory is). Any size and alignment; fast if both pointers are 16-byte aligned.
  explicit MemoryCopy(const Copy& copy) : copy_(copy) {}

  [[nodiscard]] std::string_view name() const override { return "memory-copy"; }
  [[nodiscard]] KernelCost cost() const override {
    switch (copy_.direction) {
      case Direction::h2d: return {.h2d_bytes = copy_.bytes};
      case Direction::d2h: return {.d2h_bytes = copy_.bytes};
      case Direction::p2p:
        return {.peer_bytes = copy_.bytes, .peer_source = copy_.source, .peer_destination = copy_.destination};
      case Direction::d2d: break;
    }
    return {.bytes = 2 * copy_.bytes};
  }
  [[nodiscard]] std::span<std::byte> output() const override { return {copy_.destination, copy_.bytes}; }
  [[nodiscard]] std::span<const Copy> moves() const override { return {&copy_, 1}; }
#if XFERBENCH_WITH_CUDA
  void preload() const override;
  void launch(void* cuda_stream) const override;
#endif

 private:
  Copy copy_;
};

}  // namespace xferbench::kernels
