// batches, mended: each step moves 1,024 rows of 16 KiB by one call. CUDA 12.8 or newer.
#include <cstddef>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "pieces.hpp"

namespace examples {

/// Mended: the driver gets all pieces at once. They stay where they are.
static void move_batch(Pieces& pieces, cudaStream_t stream) {
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;  // the table may change only after the copy
  std::size_t first = 0;                                       // the attributes are those of all pieces from this on
#if CUDART_VERSION >= 13000
  check(cudaMemcpyBatchAsync(pieces.to.data(), pieces.from.data(), pieces.bytes.data(), kStepPieces, &attributes,
                             &first, 1, stream));
#else
  std::size_t failed = 0;
  check(cudaMemcpyBatchAsync(pieces.to.data(), const_cast<void**>(pieces.from.data()), pieces.bytes.data(), kStepPieces,
                             &attributes, &first, 1, &failed, stream));
#endif
}

bool move_batches_in_steps(const Settings& settings) { return work_on_pieces(settings, move_batch); }

}  // namespace examples

int main(int count, char** words) {
  return examples::run_example(count, words, {.steps = 20, .size = 16384}, examples::move_batches_in_steps);
}
