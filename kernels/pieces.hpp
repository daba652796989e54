// Kernels that copy many separate pieces in one launch, between host and GPU memory or inside the GPU. Each piece is
// read from a list in memory. Threads move the pieces through registers, or the multiprocessors' copy hardware (TMA)
// moves them through shared memory.
#pragma once

#include "device/kernel.hpp"

namespace xferbench::kernels {

/// One entry of the list that the kernel reads: a device-accessible source and destination.
struct ListedPiece {
  std::byte* destination = nullptr;
  const std::byte* source = nullptr;
  std::size_t bytes = 0;
};

enum class PieceEngine {
  threads,  ///< loads and stores of up to 16 bytes per thread; any sizes and alignments
  bulk,     ///< bulk copies; addresses and sizes must be multiples of 16, compute capability 9.0 or higher
};

/// Copies all pieces of a list. The list must hold the same pieces as `copies` when the kernel runs.
class PieceCopy final : public KernelOf<PieceCopy> {
 public:
  /// Greatest number of bytes that one warp or one bulk copy moves before it reads the list again.
  static constexpr std::size_t kThreadsSlice = 2048;
  static constexpr std::size_t kBulkSlice = 8192;

  /// `part`: copies of `copies`, all in one direction, at least one. `list`: one entry for each copy of `part`.
  /// `blocks`: number of thread blocks; a multiprocessor has room for one with PieceEngine::bulk, else for four.
  PieceCopy(PieceEngine engine, std::shared_ptr<const std::vector<Copy>> copies, std::span<const Copy> part,
            const ListedPiece* list, unsigned blocks);

  /// Returns how the blocks wait when they move `pieces` pieces of at most `largest` bytes over the link.
  static PieceTurns turns_of(PieceEngine engine, std::size_t pieces, std::size_t largest, unsigned blocks);

  [[nodiscard]] std::string_view name() const override {
    return engine_ == PieceEngine::bulk ? "piece-copy-bulk" : "piece-copy";
  }
  [[nodiscard]] KernelCost cost() const override { return cost_; }
  /// Returns the destination of the first piece; the others may lie anywhere.
  [[nodiscard]] std::span<std::byte> output() const override {
    return {part_.front().destination, part_.front().bytes};
  }
  [[nodiscard]] std::span<const Copy> moves() const override { return part_; }
#if XFERBENCH_WITH_CUDA
  void preload() const override;
  void launch(void* cuda_stream) const override;
#endif

 private:
  PieceEngine engine_;
  std::shared_ptr<const std::vector<Copy>> all_;  ///< owns the copies of part_
  std::span<const Copy> part_;
  const ListedPiece* list_;  ///< the same copies as part_, as the kernel reads them; not owned
  unsigned blocks_;
  // Computed once, so that the launch time does not grow with the number of pieces.
  KernelCost cost_;
  std::size_t largest_ = 0;  ///< bytes of the largest copy of part_
};

/// Background load on the GPU: reads and writes a buffer repeatedly, or computes in registers, with as many threads as
/// fit on the GPU.
class BusyKernel final : public KernelOf<BusyKernel> {
 public:
  enum class Bound { memory, arithmetic };

  /// `memory`: a buffer whose contents the kernel does not change. `rounds`: passes over the buffer, or thousands of
  /// fused multiply-adds of each thread.
  BusyKernel(Bound bound, std::span<std::byte> memory, unsigned rounds, unsigned multiprocessors)
      : bound_(bound), memory_(memory), rounds_(rounds), multiprocessors_(multiprocessors) {}

  [[nodiscard]] std::string_view name() const override { return bound_ == Bound::memory ? "busy-memory" : "busy-fma"; }
  [[nodiscard]] KernelCost cost() const override;
#if XFERBENCH_WITH_CUDA
  void preload() const override;
  void launch(void* cuda_stream) const override;
#endif

 private:
  static constexpr unsigned kThreads = 512;  ///< threads of a block; four blocks fill a multiprocessor
  static constexpr unsigned kStep = 1000;    ///< fused multiply-adds of one round

  Bound bound_;
  std::span<std::byte> memory_;
  unsigned rounds_;
  unsigned multiprocessors_;
};

}  // namespace xferbench::kernels
