// Pointer-chase kernel: one thread follows a chain of dependent loads. No other work hides their latency, so the kernel
// measures the memory latency.
#pragma once

#include <cstring>

#include "device/kernel.hpp"

namespace xferbench::kernels {

/// One cache line of the GPU. A hop reads only the pointer; padding makes each hop touch a new line.
struct alignas(128) ChaseLine {
  const ChaseLine* next;
};

/// Hops per launch: few enough to log in shared memory, so that writing the log does not disturb the loads.
inline constexpr std::size_t kChaseHops = 256;

/// Result of one launch, in page-locked memory. The kernel writes it after the last hop.
struct ChaseLog {
  const ChaseLine* last = nullptr;   ///< the line at which the walk ended
  std::uint64_t cycles = 0;          ///< clock cycles of the multiprocessor, all hops together
  std::uint64_t nanoseconds = 0;     ///< duration of all hops by the GPU's global timer
  std::uint32_t multiprocessor = 0;  ///< index of the multiprocessor that ran the kernel
  /// Cycles of each hop (only with ChaseTimes::each_hop), including some tens of cycles for reading the clock. A plain
  /// array, because device code cannot index a std::array.
  std::uint32_t hops[kChaseHops] = {};  // NOLINT(modernize-avoid-c-arrays)
};

/// Whether each hop is timed, or only all hops together. all_hops does not read the clock between hops.
enum class ChaseTimes { each_hop, all_hops };

/// Selects the block of the grid that follows the pointers; all other blocks exit at once. With as many blocks as
/// multiprocessors, an idle GPU puts each block on its own multiprocessor, so the index selects a location on the chip.
struct ChaseBlock {
  unsigned index = 0;
  unsigned of = 1;
};

/// Follows kChaseHops pointers from `first` on. All pointers, also those inside the lines, are device addresses.
class Chase final : public KernelOf<Chase> {
 public:
  Chase(const ChaseLine* first, ChaseLog* log, ChaseTimes times = ChaseTimes::each_hop, ChaseBlock block = {})
      : first_(first), log_(log), times_(times), block_(block) {}

  [[nodiscard]] std::string_view name() const override { return "chase"; }
  [[nodiscard]] KernelCost cost() const override { return {}; }  // latency is not modelled
  [[nodiscard]] std::span<std::byte> output() const override { return std::as_writable_bytes(std::span(log_, 1)); }
  /// The host's reference result: only ChaseLog::last is computed, all times are 0.
  void compute(std::span<std::byte> result) const override {
    ChaseLog log;
    log.last = first_;
    for (std::size_t i = 0; i < kChaseHops; ++i) log.last = log.last->next;
    std::memcpy(result.data(), &log, sizeof(log));
  }
#if XFERBENCH_WITH_CUDA
  void preload() const override;
  void launch(void* cuda_stream) const override;
#endif

 private:
  const ChaseLine* first_;
  ChaseLog* log_;
  ChaseTimes times_;
  ChaseBlock block_;
};

}  // namespace xferbench::kernels
