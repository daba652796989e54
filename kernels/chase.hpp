// A pointer chase: one thread reads where to read next, so that each read waits for the one before. What memory costs
// when nothing hides it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "device/kernel.hpp"

namespace xferbench::kernels {

/// One cache line of the GPU. Only the pointer is read; the rest keeps the next line from coming with it.
struct alignas(128) ChaseLine {
  const ChaseLine* next;
};

/// Hops of one launch: few enough for the log to be kept on the chip meanwhile, so that writing it disturbs no read.
inline constexpr std::size_t kChaseHops = 256;

/// What one launch saw. Lives in page-locked memory and is written when the last hop has ended.
struct ChaseLog {
  const ChaseLine* last = nullptr;   ///< where it ended
  std::uint64_t cycles = 0;          ///< of the multiprocessor's clock, all hops together
  std::uint64_t nanoseconds = 0;     ///< of the GPU's timer for the same
  std::uint32_t multiprocessor = 0;  ///< that walked
  /// Cycles of each hop where each is timed, some tens of them for reading the clock. (Device code cannot index a
  /// std::array.)
  std::uint32_t hops[kChaseHops] = {};  // NOLINT(modernize-avoid-c-arrays)
};

/// What of a walk is timed: each hop, or only all of them together, without what reading the clock takes.
enum class ChaseTimes { each_hop, all_hops };

/// Which block of the grid walks; the others end at once. Of as many blocks as an idle GPU has multiprocessors, each is
/// put on one of its own, so that a block stands for a place on the chip.
struct ChaseBlock {
  unsigned index = 0;
  unsigned of = 1;
};

/// Walks kChaseHops lines from `first` on. All addresses as the GPU knows them.
class Chase final : public Kernel {
 public:
  Chase(const ChaseLine* first, ChaseLog* log, ChaseTimes times = ChaseTimes::each_hop, ChaseBlock block = {})
      : first_(first), log_(log), times_(times), block_(block) {}

  [[nodiscard]] std::string_view name() const override { return "chase"; }
  [[nodiscard]] KernelCost cost() const override { return {}; }  // there is no model of latency
  [[nodiscard]] std::span<std::byte> output() const override { return std::as_writable_bytes(std::span(log_, 1)); }
  /// Where it ends; there are no times.
  void compute(std::span<std::byte> result) const override {
    ChaseLog log;
    log.last = first_;
    for (std::size_t i = 0; i < kChaseHops; ++i) log.last = log.last->next;
    std::memcpy(result.data(), &log, sizeof(log));
  }
  [[nodiscard]] std::unique_ptr<Kernel> clone() const override { return std::make_unique<Chase>(*this); }
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
