// batches, slow: each step copies 1,024 rows of 16 KiB, each by a call of its own.
#include <cstddef>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "pieces.hpp"

namespace examples {

/// The fault: a copy of 16 KiB takes some two microseconds, in which the link could carry six times as much.
static void copy_pieces(const Pieces& pieces, cudaStream_t stream) {
  for (std::size_t i = 0; i < kStepPieces; ++i) {
    check(cudaMemcpyAsync(pieces.to[i], pieces.from[i], pieces.bytes[i], cudaMemcpyHostToDevice, stream));
  }
}

bool copy_pieces_in_steps(const Settings& settings) { return work_on_pieces(settings, copy_pieces); }

}  // namespace examples

int main(int count, char** words) {
  return examples::run_example(count, words, {.steps = 20, .size = 16384}, examples::copy_pieces_in_steps);
}
