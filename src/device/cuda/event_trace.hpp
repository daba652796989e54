// Timelines estimated from CUDA events around each operation, for systems on which CUPTI is unusable.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/non_copyable.hpp"
#include "core/trace.hpp"
#include "device/cuda/opened_gpu.hpp"

namespace xferbench::cuda {

/// Records a trace by CUDA events. Each event costs its stream about 1 us, so traced passes are slower. Thread-safe.
class EventTrace : NonCopyable {
 public:
  /// Starts a trace of at least one GPU. The GPUs must be idle. Throws DeviceError.
  explicit EventTrace(std::span<const OpenedGpu> gpus);
  ~EventTrace();

  /// Scope around a call that enqueues one operation: records an event before and one after it in the stream. Does
  /// nothing if `trace` is null or while the stream is being captured, because captured events have no times.
  class Span : NonCopyable {
   public:
    Span(EventTrace* trace, const OpenedGpu& gpu, cudaStream_t stream, Activity::Row row, std::string_view name,
         std::uint64_t bytes = 0);
    ~Span();

   private:
    EventTrace* trace_;
    cudaStream_t stream_;
    std::size_t index_ = 0;
  };

  /// Notes that a graph was replayed. Its operations are missing in the trace, because events cannot enclose them.
  void missed_graph();

  /// Returns all recorded operations. The GPUs must be idle. Throws DeviceError.
  [[nodiscard]] std::vector<Activity> resolve();
  /// Returns a note for the user: that graphs are missing, or how precisely several GPUs are aligned; may be empty.
  [[nodiscard]] std::string note() const;

 private:
  struct Operation {
    Activity::Row row;
    std::string name;
    std::uint64_t bytes;
    unsigned gpu;  // device number within the machine
    cudaStream_t stream;
    cudaEvent_t before;
    cudaEvent_t behind;
    double called;    // host time at the beginning of the call, in seconds
    double returned;  // host time at the end of the call
  };

  /// The reference event of one GPU and its completion time on the host's clock. Events of different GPUs cannot be
  /// compared, so each GPU's events are timed against its own reference.
  struct Base {
    OpenedGpu gpu;
    cudaEvent_t event = nullptr;
    double on_host = 0;
    double uncertainty = 0;
  };

  [[nodiscard]] static Base record_base(const OpenedGpu& gpu);
  /// Returns the Base of the GPU with device number `place`; null if the GPU is not traced.
  [[nodiscard]] const Base* base_of(unsigned place) const;
  [[nodiscard]] double on_host(const Base& base, cudaEvent_t event) const;

  std::mutex mutex_;
  std::vector<Base> bases_;
  std::vector<Operation> operations_;
  bool lacks_graphs_ = false;
};

}  // namespace xferbench::cuda
