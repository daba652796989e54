// Timelines by CUPTI or by events, and marks by NVTX.
#pragma once

#include <memory>
#include <vector>

#include "device/cuda/cupti_trace.hpp"
#include "device/cuda/event_trace.hpp"
#include "device/cuda/opened_gpu.hpp"
#include "device/tracer.hpp"

namespace xferbench::cuda {

/// Who watches for timelines: CUPTI where it can be used, else events; or events in any case.
enum class TraceBy { cupti_or_events, events };

class CudaTracer final : public Tracer {
 public:
  /// Of these GPUs.
  CudaTracer(std::vector<OpenedGpu> gpus, TraceBy by);
  ~CudaTracer() override;

  void start() override;
  [[nodiscard]] Trace stop() override;
  void begin_range(const char* name) override;
  void end_range() override;

  /// Who wants events around every operation; nobody unless such a trace is on.
  [[nodiscard]] EventTrace* events() const { return events_.get(); }

 private:
  std::vector<OpenedGpu> gpus_;
  std::vector<OpenedGpu> watched_;  // of them, those that could be used when the trace began
  TraceBy by_;
  std::unique_ptr<CuptiTrace> cupti_;        // loaded for the first trace
  std::unique_ptr<EventTrace> events_;       // while such a trace is on
  [[maybe_unused]] void* domain_ = nullptr;  // of marks
};

}  // namespace xferbench::cuda
