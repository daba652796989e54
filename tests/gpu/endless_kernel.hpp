// A kernel that runs until the host stops it: imitates a stuck GPU.
#pragma once

#include <atomic>

#include "device/device.hpp"
#include "device/kernel.hpp"

namespace xferbench::test {

class EndlessKernel final : public Kernel {
 public:
  /// Runs until *end, in mapped host memory, is not zero.
  explicit EndlessKernel(std::uint32_t* end) : end_(end) {}
  [[nodiscard]] std::string_view name() const override { return "endless"; }
  [[nodiscard]] KernelCost cost() const override { return {}; }
  [[nodiscard]] std::span<std::byte> output() const override { return {}; }
  void compute(std::span<std::byte>) const override {}
  [[nodiscard]] std::unique_ptr<Kernel> clone() const override { return std::make_unique<EndlessKernel>(end_); }
  void preload() const override;
  void launch(void* cuda_stream) const override;

 private:
  std::uint32_t* end_;
};

/// The flag of EndlessKernels, in mapped host memory. The destructor stops the kernels, however a test ends.
class End {
 public:
  explicit End(Device& device) : memory_(device.allocate_host(sizeof(std::uint32_t), HostMemory::mapped)) {
    *word() = 0;
  }
  End(const End&) = delete;
  End& operator=(const End&) = delete;
  ~End() { now(); }

  [[nodiscard]] std::uint32_t* word() const { return reinterpret_cast<std::uint32_t*>(memory_.data); }
  void now() const { std::atomic_ref(*word()).store(1); }

 private:
  HostBuffer memory_;
};

}  // namespace xferbench::test
