// A kernel that writes to an invalid address: causes the loss of the CUDA context.
#pragma once

#include "device/kernel.hpp"

namespace xferbench::test {

class FaultyKernel final : public Kernel {
 public:
  [[nodiscard]] std::string_view name() const override { return "faulty"; }
  [[nodiscard]] KernelCost cost() const override { return {}; }
  [[nodiscard]] std::span<std::byte> output() const override { return {}; }
  void compute(std::span<std::byte>) const override {}
  [[nodiscard]] std::unique_ptr<Kernel> clone() const override { return std::make_unique<FaultyKernel>(); }
  void preload() const override;
  void launch(void* cuda_stream) const override;
};

}  // namespace xferbench::test
