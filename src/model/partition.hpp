// Splits a payload into chunks. A pure function.
#pragma once

#include <cstddef>
#include <vector>

namespace xferbench::model {

struct Chunk {
  std::size_t first = 0;  ///< index of the chunk's first element
  std::size_t count = 0;
};

/// Splits `elements` into `chunks` parts (chunks <= elements), in order, without gaps; no part is empty. Each part is
/// `growth` times the previous one, as far as alignment permits: if all parts are long enough, they begin at multiples
/// of `alignment` elements for wide memory access.
std::vector<Chunk> partition(std::size_t elements, std::size_t chunks, std::size_t alignment, double growth = 1);

}  // namespace xferbench::model
