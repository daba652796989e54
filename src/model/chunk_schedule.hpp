// Cuts a payload into chunks that several workers take one after another. The chunks are equal, or small at the ends,
// where waiting for a full chunk would leave a worker idle. A pure function.
#pragma once

#include <cstddef>
#include <vector>

#include "model/partition.hpp"

namespace xferbench::model {

struct ChunkRules {
  std::size_t most = 1;     ///< maximum elements per chunk
  std::size_t least = 1;    ///< size at which growing starts and at which shrinking ends; at most `most`
  std::size_t page = 1;     ///< elements per page; `most`, `least` and the chunks' first elements are multiples of it
  std::size_t abreast = 1;  ///< number of chunks processed concurrently, which form a round
  /// Size ratio of consecutive rounds while chunks grow, and its inverse while they shrink; above 1. A producer that is
  /// c times as fast as its consumer keeps the consumer busy if the ratio is at most c.
  double taper = 2;
  bool grow = false;    ///< whether chunks start at `least` elements and grow to `most`
  bool shrink = false;  ///< whether chunks shrink to `least` elements toward the end
};

/// Returns chunks that cover `elements` in order, without gaps. Only the last may end within a page. None is empty.
std::vector<Chunk> chunk_schedule(std::size_t elements, const ChunkRules& rules);

}  // namespace xferbench::model
