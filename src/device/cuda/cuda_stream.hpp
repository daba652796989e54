// Streams, events and graphs of the CUDA runtime.
#pragma once

#include <cuda_runtime.h>

#include "device/cuda/cuda_tracer.hpp"
#include "device/stream.hpp"

namespace xferbench::cuda {

class CudaDevice;

class CudaEvent final : public EventImpl {
 public:
  CudaEvent(Device& device, EventKind kind);
  ~CudaEvent() override;

  void synchronize() override;
  [[nodiscard]] bool finished() override;
  [[nodiscard]] double seconds_since(const EventImpl& earlier) const override;

  [[nodiscard]] cudaEvent_t native() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

class CudaGraph final : public GraphImpl {
 public:
  /// Makes what was captured ready to run, and destroys `captured`.
  CudaGraph(Device& device, cudaGraph_t captured);
  ~CudaGraph() override;

  [[nodiscard]] cudaGraphExec_t native() const { return executable_; }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

class CudaStream final : public StreamImpl {
 public:
  CudaStream(CudaDevice& device, CudaTracer& tracer, StreamKind kind);
  ~CudaStream() override;

  void copy(const Copy& copy) override;
  void copy_batch(std::span<const Copy> copies) override;
  void fill(const DeviceView& range, std::byte value) override;
  void launch(const Kernel& kernel) override;
  void prefetch(const HostView& managed, Direction direction) override;
  void stamp(std::uint64_t* slot) override;
  void call_host(CallbackApi api, const std::function<void()>& function) override;
  void record(EventImpl& event) override;
  void wait(EventImpl& event) override;
  void replay(GraphImpl& graph) override;
  [[nodiscard]] Graph capture(const std::function<void()>& submit) override;
  [[nodiscard]] DeviceBuffer allocate(std::size_t bytes) override;
  void synchronize() override;

  [[nodiscard]] cudaStream_t native() const { return stream_; }

 private:
  CudaTracer& tracer_;
  int gpu_;
  cudaStream_t stream_ = cudaStreamLegacy;
};

/// Whether this build and the driver know cudaMemcpyBatchAsync.
[[nodiscard]] bool knows_batch_copies();

/// The synchronous cudaMemcpy.
void copy_blocking(const Copy& copy, const CudaTracer& tracer);

}  // namespace xferbench::cuda
