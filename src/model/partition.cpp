#include "model/partition.hpp"

#include <algorithm>

namespace xferbench::model {

namespace {

/// floor(elements * part / chunks) without overflow.
std::size_t boundary(std::size_t elements, std::size_t part, std::size_t chunks) {
  return elements / chunks * part + elements % chunks * part / chunks;
}

}  // namespace

std::vector<Chunk> partition(std::size_t elements, std::size_t chunks, std::size_t alignment) {
  // Rounding down moves a boundary by less than one alignment: parts of at least that length cannot become empty.
  const std::size_t step = elements / chunks >= alignment ? alignment : 1;
  std::vector<Chunk> parts;
  parts.reserve(chunks);
  std::size_t first = 0;
  for (std::size_t part = 1; part <= chunks; ++part) {
    const std::size_t end = part == chunks ? elements : boundary(elements, part, chunks) / step * step;
    parts.push_back({first, end - first});
    first = end;
  }
  return parts;
}

std::vector<Chunk> taper(std::size_t total, std::size_t carriers, std::size_t largest, std::size_t smallest,
                         std::size_t alignment) {
  std::vector<Chunk> pieces;
  std::size_t rising = smallest;  // everyone carries one of each size on the way up
  for (std::size_t first = 0; first < total;) {
    if (pieces.size() % carriers == 0 && !pieces.empty()) rising = std::min(largest, 2 * rising);
    const std::size_t left = total - first;
    const std::size_t fair = left / (2 * carriers) / alignment * alignment;  // on the way down
    const std::size_t length = std::min(left, std::clamp(fair, smallest, rising));
    pieces.push_back({first, length});
    first += length;
  }
  return pieces;
}

}  // namespace xferbench::model
