// The tracer of a CUDA machine: records timelines by CUPTI or events, and marks NVTX ranges.
#pragma once

#include <memory>
#include <vector>

#include "device/cuda/cupti_trace.hpp"
#include "device/cuda/event_trace.hpp"
#include "device/cuda/opened_gpu.hpp"
#include "device/tracer.hpp"

namespace xferbench::cuda {

/// How timelines are recorded: by CUPTI if it is usable and otherwise by events, or always by events.
enum class TraceSource { cupti_or_events, events };

class CudaTracer final : public Tracer {
 public:
  CudaTracer(std::vector<OpenedGpu> gpus, TraceSource by);
  ~CudaTracer() override;

  void start() override;
  [[nodiscard]] Trace stop() override;
  void begin_range(const char* name) override;
  void end_range() override;

  /// The trace to which operations add their events; null unless an event-based trace is on.
  [[nodiscard]] EventTrace* events() const { return events_.get(); }

 private:
  std::vector<OpenedGpu> gpus_;
  std::vector<OpenedGpu> watched_;  // the GPUs that were usable when the trace started
  TraceSource by_;
  std::unique_ptr<CuptiTrace> cupti_;        // null until a trace first tries CUPTI
  std::unique_ptr<EventTrace> events_;       // null unless an event-based trace is on
  [[maybe_unused]] void* domain_ = nullptr;  // handle of the NVTX domain
};

}  // namespace xferbench::cuda
