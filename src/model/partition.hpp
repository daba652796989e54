// Cutting a payload into chunks. A pure function.
#pragma once

#include <cstddef>
#include <vector>

namespace xferbench::model {

struct Chunk {
  std::size_t first = 0;  ///< index of its first element
  std::size_t count = 0;
};

/// `chunks` parts of `elements` (chunks <= elements), none empty, in order and without gaps. Each is `growth` times as
/// long as the one before, as nearly as alignment allows: where all parts are long enough they begin at multiples of
/// `alignment` elements, so that every part can be accessed in wide words.
std::vector<Chunk> partition(std::size_t elements, std::size_t chunks, std::size_t alignment, double growth = 1);

}  // namespace xferbench::model
