// Host side of the piece copy kernels: what they cost on a simulated device.
#include "kernels/pieces.hpp"

#include <algorithm>
#include <cmath>

namespace xferbench::kernels {

PieceCopy::PieceCopy(PieceEngine engine, std::shared_ptr<const std::vector<Copy>> copies, std::span<const Copy> part,
                     const ListedPiece* list, unsigned blocks)
    : engine_(engine), all_(std::move(copies)), part_(part), list_(list), blocks_(blocks) {
  // The cost model assumes eight blocks per multiprocessor. A block of bulk copies uses the shared memory of a whole
  // multiprocessor. A block of threads has as many loads in flight as four blocks of the model.
  cost_.blocks = blocks * (engine == PieceEngine::bulk ? 8 : 4);
  std::size_t bytes = 0;
  for (const Copy& copy : part_) {
    bytes += copy.bytes;
    largest_ = std::max(largest_, copy.bytes);
  }
  switch (part_.front().direction) {
    case Direction::h2d: cost_.h2d_bytes = bytes; break;
    case Direction::d2h: cost_.d2h_bytes = bytes; break;
    case Direction::p2p:
    case Direction::d2d: cost_.bytes = 2 * bytes; break;
  }
  if (cost_.bytes == 0) cost_.pieces = turns_of(engine, part_.size(), largest_, blocks);
}

PieceTurns PieceCopy::turns_of(PieceEngine engine, std::size_t pieces, std::size_t largest, unsigned blocks) {
  constexpr double kWarpsOfBlock = 16;
  constexpr double kSector = 32;  // bytes of the list that an L1 miss loads
  constexpr double kLine = 128;   // bytes of the list that an L2 miss loads
  const bool bulk = engine == PieceEngine::bulk;
  const std::size_t slice = bulk ? kBulkSlice : kThreadsSlice;
  const auto per_piece = static_cast<double>((largest + slice - 1) / slice);
  const double at_once = blocks * (bulk ? 1 : kWarpsOfBlock);  // slices of all blocks in one turn
  const double turns = std::ceil(static_cast<double>(pieces) * per_piece / at_once);
  // Distance in bytes between the list entries that a block reads in successive turns.
  const double apart = at_once / per_piece * sizeof(ListedPiece);
  return {turns, turns * (std::min(1.0, apart / kSector) + std::min(1.0, apart / kLine)), bulk};
}

KernelCost BusyKernel::cost() const {
  constexpr unsigned kBlocksPerMultiprocessor = 4;
  if (bound_ == Bound::memory) return {.bytes = 2 * memory_.size() * rounds_};
  const double threads = static_cast<double>(multiprocessors_) * kBlocksPerMultiprocessor * kThreads;
  return {.fma = threads * rounds_ * kStep};
}

}  // namespace xferbench::kernels
