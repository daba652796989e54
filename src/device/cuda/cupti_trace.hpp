// What the GPU did and when, by CUPTI, the library that profilers use.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/non_copyable.hpp"
#include "core/trace.hpp"
#include "device/cuda/opened_gpu.hpp"

namespace xferbench::cuda {

/// CUPTI, loaded when it is first asked for and never linked: it comes with the toolkit, and the program is to start
/// without. One per process, because its callbacks carry no context.
class CuptiTrace : NonCopyable {
 public:
  /// Loads the library. Never throws: where it cannot be used, refusal() says why.
  CuptiTrace();
  ~CuptiTrace();

  /// Why it cannot be used; empty if it can.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  /// Not to be used any more, and why.
  void refuse(std::string reason) { refusal_ = std::move(reason); }

  /// Begins to record copies, kernels, memsets and the runtime's calls that enqueue them. False if CUPTI refuses; then
  /// refusal() says why.
  bool start();
  struct Records {
    std::vector<Activity> activities;  ///< with CUPTI's numbers of streams
    std::size_t dropped = 0;           ///< that did not fit CUPTI's buffers
  };
  /// Ends that; nothing if it had not begun. These GPUs, whose places activities name, must be idle. Gates, stamps and
  /// clock probes are left out, and the calls that launched them.
  Records stop(std::span<const OpenedGpu> gpus);

 private:
  /// RAII of what start() enabled.
  void disable() noexcept;

  std::string refusal_;
  bool recording_ = false;
};

/// "cudaMemcpyAsync" from "cudaMemcpyAsync_v3020"; empty unless the call enqueues work.
std::string call_name(std::string_view callback);

}  // namespace xferbench::cuda
