// A kernel that occupies its stream for a given time without touching memory, for measuring what the host can do while
// GPU work is in flight.
#pragma once

#include "device/kernel.hpp"

namespace xferbench::kernels {

class Delay final : public KernelOf<Delay> {
 public:
  explicit Delay(double seconds) : seconds_(seconds) {}

  [[nodiscard]] std::string_view name() const override { return "delay"; }
  [[nodiscard]] KernelCost cost() const override { return {.seconds = seconds_}; }
#if XFERBENCH_WITH_CUDA
  void preload() const override;
  void launch(void* cuda_stream) const override;
#endif

 private:
  double seconds_;
};

}  // namespace xferbench::kernels
