#include "model/partition.hpp"

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

}  // namespace xferbench::model
