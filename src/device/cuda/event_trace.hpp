// What the GPU did and when, estimated from events around every operation: where CUPTI cannot be used.
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

/// Events recorded into streams cost those streams about a microsecond each, so a pass that is watched so is slower
/// than one that is not. Any thread may use it.
class EventTrace : NonCopyable {
 public:
  /// Watches these GPUs, at least one, which must be idle. Throws DeviceError.
  explicit EventTrace(std::span<const OpenedGpu> gpus);
  ~EventTrace();

  /// Around the call that enqueues one operation: records events before and behind it in its stream. Does nothing
  /// without a trace, and in a stream that is being captured, whose events have no times.
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

  /// A graph was replayed: nobody can put events around what is in it.
  void missed_graph();

  /// Everything that was recorded. The GPUs must be idle. Throws DeviceError.
  [[nodiscard]] std::vector<Activity> resolve();
  /// What it lacks, as a sentence; empty if nothing.
  [[nodiscard]] std::string note() const;

 private:
  struct Operation {
    Activity::Row row;
    std::string name;
    std::uint64_t bytes;
    unsigned gpu;  // its place
    cudaStream_t stream;
    cudaEvent_t before;
    cudaEvent_t behind;
    double called;  // by the host's clock, ...
    double returned;
  };

  /// An event of one GPU that everything of that GPU is timed against, and when it completed by the host's clock:
  /// events of two GPUs cannot be.
  struct Base {
    OpenedGpu gpu;
    cudaEvent_t event = nullptr;
    double on_host = 0;
    double uncertainty = 0;
  };

  [[nodiscard]] static Base record_base(const OpenedGpu& gpu);
  /// Null for a GPU that is not watched.
  [[nodiscard]] const Base* base_of(unsigned place) const;
  [[nodiscard]] double on_host(const Base& base, cudaEvent_t event) const;

  std::mutex mutex_;
  std::vector<Base> bases_;
  std::vector<Operation> operations_;
  bool lacks_graphs_ = false;
};

}  // namespace xferbench::cuda
