// The device interface on a real GPU, through the CUDA runtime.
#pragma once

#include <cuda_runtime.h>

#include <map>
#include <memory>
#include <mutex>

#include "device/cuda/cupti_trace.hpp"
#include "device/cuda/event_trace.hpp"
#include "device/cuda/ranges.hpp"
#include "device/device.hpp"
#include "device/numa.hpp"
#include "device/pages.hpp"

namespace xferbench::cuda {

/// Who watches for timelines: CUPTI where it can be used, else events; or events in any case.
enum class TraceBy { cupti_or_events, events };

class CudaDevice final : public Device {
 public:
  /// Places the process as `numa` says, makes GPU `index` current and creates its context. Throws NoDeviceError if
  /// there is no such GPU, UsageError if the process cannot be placed.
  CudaDevice(int index, const NumaPolicy& numa, TraceBy trace_by = TraceBy::cupti_or_events);

  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] MemoryInfo memory() override;

  void copy(const Copy& copy, StreamHandle stream) override;
  void copy_batch(std::span<const Copy> copies, StreamHandle stream) override;
  void copy_blocking(const Copy& copy) override;
  void fill(const DeviceView& range, std::byte value, StreamHandle stream) override;
  void launch(const Kernel& kernel, StreamHandle stream) override;
  void record(EventHandle event, StreamHandle stream) override;
  void wait(StreamHandle stream, EventHandle event) override;
  void replay(GraphHandle graph, StreamHandle stream) override;
  void prefetch(const HostRange& managed, Direction direction, StreamHandle stream) override;
  void stamp(std::uint64_t* slot, StreamHandle stream) override;
  void call_host(CallbackApi api, const std::function<void()>& function, StreamHandle stream) override;

  void synchronize(StreamHandle stream) override;
  void synchronize(EventHandle event) override;
  void synchronize() override;
  [[nodiscard]] bool finished(EventHandle event) override;
  void set_wait_policy(WaitPolicy policy) override;

  [[nodiscard]] double elapsed(EventHandle from, EventHandle to) override;
  [[nodiscard]] double host_now() const override;
  [[nodiscard]] double host_cpu_now() const override;
  [[nodiscard]] ClockRelation relate_clocks() override;

  [[nodiscard]] std::unique_ptr<HostThread> start_thread(std::function<void()> body) override;
  [[nodiscard]] std::unique_ptr<Channel> make_channel() override { return make_real_channel(); }
  void host_work(const HostCost&, const std::function<void()>& work) override { work(); }

  void close(GateHandle gate, StreamHandle stream) override;
  void open(GateHandle gate) noexcept override;
  [[nodiscard]] bool timed_out(GateHandle gate) const override;

  void preload(const Kernel& kernel) override;
  std::size_t reserve_device_launches(std::size_t pending) override;
  [[nodiscard]] std::size_t reserved_device_launches() const override;
  [[nodiscard]] std::optional<KernelResources> resources(const Kernel& kernel) override;
  [[nodiscard]] std::optional<double> sm_clock_hz() override;
  [[nodiscard]] bool usable() noexcept override;

  void start_trace() override;
  [[nodiscard]] Trace stop_trace() override;
  void begin_range(const char* name) override { ranges_.begin(name); }
  void end_range() override { ranges_.end(); }

 private:
  StreamHandle acquire_stream(StreamKind kind) override;
  EventHandle acquire_event(EventKind kind) override;
  GateHandle acquire_gate(double timeout) override;
  DeviceView acquire_device(std::size_t bytes) override;
  HostRange acquire_host(std::size_t bytes, HostMemory kind, Prefault faults) override;
  RegisteredRange acquire_registration(const HostRange& range) override;
  PooledRange acquire_pooled(std::size_t bytes, StreamHandle stream) override;
  GraphHandle acquire_graph(StreamHandle stream, const std::function<void()>& submit) override;

  void release(const StreamHandle& stream) noexcept override;
  void release(const EventHandle& event) noexcept override;
  void release(const GateHandle& gate) noexcept override;
  void release(const DeviceView& memory) noexcept override;
  void release(const HostRange& memory) noexcept override;
  void release(const RegisteredRange& memory) noexcept override;
  void release(const PooledRange& memory) noexcept override;
  void release(const GraphHandle& graph) noexcept override;

  int index_;
  Capabilities capabilities_;
  std::mutex pages_mutex_;
  std::map<const std::byte*, Pages> pages_;  // ordinary memory that was handed out
  TraceBy trace_by_;
  std::unique_ptr<CuptiTrace> cupti_;        // loaded for the first trace
  std::unique_ptr<EventTrace> event_trace_;  // while such a trace is on
  Ranges ranges_;
};

}  // namespace xferbench::cuda
