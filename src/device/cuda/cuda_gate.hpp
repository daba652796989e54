// The gate: one word in host memory that a kernel in every stream it holds looks at.
#pragma once

#include <cstdint>

#include "device/cuda/gate.hpp"
#include "device/gate.hpp"

namespace xferbench::cuda {

class CudaGate final : public GateImpl {
 public:
  explicit CudaGate(double timeout);
  ~CudaGate() override;

  void close(StreamImpl& stream) override;
  void open() noexcept override;
  [[nodiscard]] bool timed_out() const override;

 private:
  kernels::GateFlags* flags_;  // pinned and mapped; with unified addressing one pointer serves host and all devices
  std::uint64_t timeout_ns_;
  std::uint32_t ticket_ = 0;  // of the streams that it holds, or held last
  bool open_ = true;
};

}  // namespace xferbench::cuda
