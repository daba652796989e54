// What the GPU did and when, estimated from events around every operation: where CUPTI cannot be used.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace.hpp"

namespace xferbench::cuda {

/// Events recorded into streams cost those streams about a microsecond each, so a pass that is watched so is slower
/// than one that is not. Any thread may use it.
class EventTrace {
 public:
  /// The device must be idle. Throws DeviceError.
  EventTrace();
  EventTrace(const EventTrace&) = delete;
  EventTrace& operator=(const EventTrace&) = delete;
  ~EventTrace();

  /// Around the call that enqueues one operation: records events before and behind it in its stream. Does nothing
  /// without a trace, and in a stream that is being captured, whose events have no times.
  class Span {
   public:
    Span(EventTrace* trace, cudaStream_t stream, Activity::Row row, std::string_view name, std::uint64_t bytes = 0);
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;
    ~Span();

   private:
    EventTrace* trace_;
    cudaStream_t stream_;
    std::size_t index_ = 0;
  };

  /// A graph was replayed: nobody can put events around what is in it.
  void missed_graph();

  /// Everything that was recorded. The device must be idle. Throws DeviceError.
  [[nodiscard]] std::vector<Activity> resolve();
  /// What it lacks, as a sentence; empty if nothing.
  [[nodiscard]] std::string note() const;

 private:
  struct Operation {
    Activity::Row row;
    std::string name;
    std::uint64_t bytes;
    cudaStream_t stream;
    cudaEvent_t before;
    cudaEvent_t behind;
    double called;  // by the host's clock, ...
    double returned;
  };

  [[nodiscard]] double since_base(cudaEvent_t event) const;

  std::mutex mutex_;
  cudaEvent_t base_ = nullptr;
  double base_on_host_ = 0;
  std::vector<Operation> operations_;
  bool lacks_graphs_ = false;
};

}  // namespace xferbench::cuda
