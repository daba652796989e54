// GPU activity timelines from CUPTI, the library behind NVIDIA's profilers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/non_copyable.hpp"
#include "core/trace.hpp"
#include "device/cuda/opened_gpu.hpp"

namespace xferbench::cuda {

/// Records GPU activity through CUPTI. CUPTI is not linked but loaded on first use, because it belongs to the toolkit,
/// without which the program must start. Create one object per process: CUPTI's callbacks carry no context pointer.
class CuptiTrace : NonCopyable {
 public:
  /// Loads the library. Never throws; refusal() then tells whether CUPTI can be used.
  CuptiTrace();
  ~CuptiTrace();

  /// Why CUPTI cannot be used; empty if it can.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  /// Prevents further use of CUPTI; refusal() then returns `reason`.
  void refuse(std::string reason) { refusal_ = std::move(reason); }

  /// Starts recording copies, kernels, memsets and the runtime calls that enqueue them. If CUPTI cannot record, returns
  /// false, and refusal() gives the reason.
  bool start();
  struct Records {
    std::vector<Activity> activities;  ///< activities, with CUPTI's stream numbers
    std::size_t dropped = 0;           ///< records lost because CUPTI's buffers were full
  };
  /// Stops recording and returns the records; empty if no recording was on. `gpus` maps CUDA indices to device numbers;
  /// all these GPUs must be idle. The result lacks gates, stamps and clock probes, and the calls that launched them.
  Records stop(std::span<const OpenedGpu> gpus);

 private:
  /// Disables the record types that start() enabled.
  void disable() noexcept;

  std::string refusal_;
  bool recording_ = false;
};

/// Returns, for example, "cudaMemcpyAsync" for "cudaMemcpyAsync_v3020"; empty unless the call enqueues work.
std::string call_name(std::string_view callback);

}  // namespace xferbench::cuda
