// Copies by the multiprocessors: a kernel reads and writes host or device memory itself, 16 bytes at a time, instead of
// leaving it to a copy engine.
#pragma once

#include <cstddef>
#include <cstring>

#include "device/kernel.hpp"
#include "device/types.hpp"

namespace xferbench::kernels {

/// Both addresses as the GPU knows them; host memory must be mapped into its address space (with unified addressing all
/// page-locked and managed memory is). Any size and alignment; both 16-byte aligned is fast.
struct MemoryCopyArgs {
  std::byte* destination = nullptr;
  const std::byte* source = nullptr;
  std::size_t bytes = 0;
  Direction direction = Direction::d2d;  ///< which of the two is host memory, or another GPU's
};

class MemoryCopy final : public Kernel {
 public:
  explicit MemoryCopy(const MemoryCopyArgs& args) : args_(args) {}

  [[nodiscard]] std::string_view name() const override { return "memory-copy"; }
  [[nodiscard]] KernelCost cost() const override {
    switch (args_.direction) {
      case Direction::h2d: return {.h2d_bytes = args_.bytes};
      case Direction::d2h: return {.d2h_bytes = args_.bytes};
      case Direction::p2p:
        return {.peer_bytes = args_.bytes, .peer_source = args_.source, .peer_destination = args_.destination};
      case Direction::d2d: break;
    }
    return {.bytes = 2 * args_.bytes};
  }
  [[nodiscard]] std::span<std::byte> output() const override { return {args_.destination, args_.bytes}; }
  void compute(std::span<std::byte> result) const override { compute_part(0, result); }
  [[nodiscard]] std::vector<std::span<const std::byte>> inputs_by_position() const override {
    return {{args_.source, args_.bytes}};
  }
  void compute_part(std::size_t offset, std::span<std::byte> result) const override {
    std::memcpy(result.data(), args_.source + offset, result.size());
  }
  [[nodiscard]] std::unique_ptr<Kernel> clone() const override { return std::make_unique<MemoryCopy>(*this); }
#if XFERBENCH_WITH_CUDA
  void preload() const override;
  void launch(void* cuda_stream) const override;
#endif

 private:
  MemoryCopyArgs args_;
};

}  // namespace xferbench::kernels
