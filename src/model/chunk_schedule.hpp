// Chunks of a payload that several take one after another: all alike, or small where waiting for a whole one would
// leave somebody idle. A pure function.
#pragma once

#include <cstddef>
#include <vector>

#include "model/partition.hpp"

namespace xferbench::model {

struct ChunkRules {
  std::size_t most = 1;     ///< elements of a chunk at most
  std::size_t least = 1;    ///< where chunks grow or shrink: from and to so many, if `most` allows it
  std::size_t page = 1;     ///< chunks begin at its multiples; `most` and `least` are such
  std::size_t abreast = 1;  ///< chunks that are worked on at the same time: a round
  /// A round over the one before where chunks grow, and the other way round where they shrink; above 1. Whoever fills
  /// chunks c times as fast as another one empties them keeps that one busy up to c.
  double taper = 2;
  bool grow = false;    ///< the first round is of the least
  bool shrink = false;  ///< none is longer than leaves those behind it rounds that shrink so
};

/// Chunks that cover `elements` in order, without gaps. All but the last are whole pages; none is empty.
std::vector<Chunk> chunk_schedule(std::size_t elements, const ChunkRules& rules);

}  // namespace xferbench::model
