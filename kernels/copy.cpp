// The host side of the copy kernel: what it costs, and what it computes.
#include "kernels/copy.hpp"

#include <cstring>

namespace xferbench::kernels {

KernelCost MemoryCopy::cost() const {
  KernelCost cost;
  switch (args_.direction) {
    case Direction::h2d: cost.h2d_bytes = args_.bytes; break;
    case Direction::d2h: cost.d2h_bytes = args_.bytes; break;
    case Direction::d2d: cost.bytes = 2 * args_.bytes; break;
  }
  return cost;
}

void MemoryCopy::compute_part(std::size_t offset, std::span<std::byte> result) const {
  std::memcpy(result.data(), args_.source + offset, result.size());
}

}  // namespace xferbench::kernels
