// Host side of the piece copy kernels: what they cost on a simulated device.
#include "kernels/pieces.hpp"

#include <algorithm>

namespace xferbench::kernels {

PieceCopy::PieceCopy(PieceEngine engine, std::shared_ptr<const std::vector<Copy>> copies, std::span<const Copy> part,
                     const ListedPiece* list, unsigned blocks)
    : engine_(engine), all_(std::move(copies)), part_(part), list_(list), blocks_(blocks) {
  // The cost model counts blocks of which eight fill a multiprocessor. By its shared memory, a block of bulk copies
  // fills one; a block of threads has as many loads in flight as four of them.
  cost_.blocks = blocks * (engine == PieceEngine::bulk ? 8 : 4);
  std::size_t bytes = 0;
  for (const Copy& copy : part_) {
    bytes += copy.bytes;
    largest_ = std::max(largest_, copy.bytes);
  }
  const double seconds = static_cast<double>(bytes) / (rate_of_block() * blocks);
  switch (part_.front().direction) {
    case Direction::h2d: cost_.h2d_bytes = bytes, cost_.seconds = seconds; break;
    case Direction::d2h: cost_.d2h_bytes = bytes, cost_.seconds = seconds; break;
    case Direction::p2p:
    case Direction::d2d: cost_.bytes = 2 * bytes; break;
  }
}

/// Returns the bytes per second that one block moves over the link, as measured on an H100 and an H200 with one block:
/// a block of bulk copies waits for the slices that it keeps in flight.
double PieceCopy::rate_of_block() const {
  constexpr double kReads = 14.5e9;
  constexpr double kWrites = 25e9;
  constexpr double kInFlight = 10;
  constexpr double kRoundTrip = 5.3e-6;
  if (engine_ == PieceEngine::bulk) return kInFlight * static_cast<double>(std::min(largest_, kBulkSlice)) / kRoundTrip;
  return part_.front().direction == Direction::d2h ? kWrites : kReads;
}

KernelCost BusyKernel::cost() const {
  constexpr unsigned kBlocksPerMultiprocessor = 4;
  if (bound_ == Bound::memory) return {.bytes = 2 * memory_.size() * rounds_};
  const double threads = static_cast<double>(multiprocessors_) * kBlocksPerMultiprocessor * kThreads;
  return {.fma = threads * rounds_ * kStep};
}

}  // namespace xferbench::kernels
