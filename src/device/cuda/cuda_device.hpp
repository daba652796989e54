// A real GPU, through the CUDA runtime.
#pragma once

#include <optional>

#include "device/cuda/cuda_tracer.hpp"
#include "device/device.hpp"

namespace xferbench::cuda {

class CudaDevice final : public Device {
 public:
  /// The GPU is current and has a context. `host` is what reports say of the host. Throws NoDeviceError if the GPU
  /// cannot run this build's kernels.
  CudaDevice(Machine& machine, CudaTracer& tracer, int index, const Environment::Host& host);

  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] MemoryInfo memory() override;
  [[nodiscard]] bool usable() noexcept override;

  [[nodiscard]] Stream make_stream(StreamKind kind) override;
  [[nodiscard]] Event make_event(EventKind kind) override;

  using Device::allocate_host;
  [[nodiscard]] DeviceBuffer allocate_device(std::size_t bytes) override;
  [[nodiscard]] HostBuffer allocate_host(std::size_t bytes, HostMemory kind, Prefault faults) override;
  [[nodiscard]] Registration register_host(const HostView& memory) override;

  void copy_blocking(const Copy& copy) override;
  void synchronize() override;
  void set_wait_policy(WaitPolicy policy) override;

  void preload(const Kernel& kernel) override;
  [[nodiscard]] std::optional<KernelResources> resources(const Kernel& kernel) override;
  std::size_t reserve_device_launches(std::size_t pending) override;
  [[nodiscard]] std::size_t reserved_device_launches() const override;

  [[nodiscard]] ClockRelation relate_clocks() override;
  [[nodiscard]] std::optional<double> sm_clock_hz() override;

  /// As CUDA counts GPUs.
  [[nodiscard]] int index() const { return index_; }

 private:
  CudaTracer& tracer_;
  int index_;
  Capabilities capabilities_;
};

}  // namespace xferbench::cuda
