// strided, slow: each step copies a block of columns, 512 bytes of each row.
#include <cstdint>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "matrix.hpp"

namespace examples {

/// The fault: the copy engine fetches row by row. Each is in other pages of the host than the one before, and the link
/// idles until their addresses are found.
static void copy_columns(std::uint32_t* to, const std::uint32_t* from, std::size_t bytes, cudaStream_t stream) {
  check(cudaMemcpy2DAsync(to, bytes, from, kColumnBlocks * bytes, bytes, kMatrixRows, cudaMemcpyHostToDevice, stream));
}

bool copy_columns_in_steps(const Settings& settings) { return work_on_columns(settings, copy_columns); }

}  // namespace examples

int main(int count, char** words) {
  return examples::run_example(count, words, {.steps = 40, .size = 512}, examples::copy_columns_in_steps);
}
