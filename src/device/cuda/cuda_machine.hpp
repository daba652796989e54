// This machine, with one of its GPUs, through the CUDA runtime.
#pragma once

#include <array>
#include <memory>

#include "device/cuda/cuda_device.hpp"
#include "device/cuda/cuda_tracer.hpp"
#include "device/machine.hpp"
#include "device/numa.hpp"

namespace xferbench::cuda {

/// The GPU is current in the thread that opens the machine and in those that its host starts. With several, whatever
/// launches would first have to make its stream's GPU current; waiting for events and gates needs nothing.
class CudaMachine final : public Machine {
 public:
  /// Places the process as `numa` says, makes the GPU of that number current and creates its context. Throws
  /// NoDeviceError if there is no such GPU, UsageError if the process cannot be placed.
  CudaMachine(int gpu, const NumaPolicy& numa, TraceBy trace_by = TraceBy::cupti_or_events);

  [[nodiscard]] std::span<Device* const> devices() const override { return devices_; }
  [[nodiscard]] RealHost& host() override { return host_; }
  [[nodiscard]] CudaTracer& tracer() override { return tracer_; }
  using Machine::make_gate;
  [[nodiscard]] Gate make_gate(double timeout) override;

 private:
  RealHost host_;
  CudaTracer tracer_;
  std::unique_ptr<CudaDevice> device_;
  std::array<Device*, 1> devices_;
};

}  // namespace xferbench::cuda
