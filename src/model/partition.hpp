// Cutting a payload into chunks. A pure function.
#pragma once

#include <cstddef>
#include <vector>

namespace xferbench::model {

struct Chunk {
  std::size_t first = 0;  ///< index of its first element (or byte)
  std::size_t count = 0;
};

/// `chunks` parts of `elements` (chunks <= elements), none empty, in order and without gaps, as equal as alignment
/// allows: where parts are long enough they begin at multiples of `alignment` elements, so that every part can be
/// accessed in wide words.
std::vector<Chunk> partition(std::size_t elements, std::size_t chunks, std::size_t alignment);

/// Pieces of `total` for `carriers` who each take the next one whenever they are free: at most `largest` long, and from
/// `smallest` up at both ends, so that what comes after the carriers starts early and nobody carries alone at the end.
/// In order and without gaps; all but the last begin and end at multiples of `alignment`, which divides the other two.
std::vector<Chunk> taper(std::size_t total, std::size_t carriers, std::size_t largest, std::size_t smallest,
                         std::size_t alignment);

}  // namespace xferbench::model
