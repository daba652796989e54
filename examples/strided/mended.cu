// strided, mended: in each step a kernel fetches a block of columns, 512 bytes of each row.
#include <cstdint>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "matrix.hpp"

namespace examples {

static __global__ void read_columns(uint4* to, const uint4* from, std::size_t count, std::size_t width) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    to[i] = from[i / width * kColumnBlocks * width + i % width];
  }
}

/// Mended: threads reach pinned memory of the host by the link. Neighbours read neighbouring 16 bytes of a row, and
/// many rows are on their way at once.
static void fetch_columns(std::uint32_t* to, const std::uint32_t* from, std::size_t bytes, cudaStream_t stream) {
  constexpr unsigned kBlocks = 66;
  const std::size_t width = bytes / sizeof(uint4);
  read_columns<<<kBlocks, 512, 0, stream>>>(reinterpret_cast<uint4*>(to), reinterpret_cast<const uint4*>(from),
                                            kMatrixRows * width, width);
  check(cudaGetLastError());
}

bool fetch_columns_in_steps(const Settings& settings) { return work_on_columns(settings, fetch_columns); }

}  // namespace examples

int main(int count, char** words) {
  return examples::run_example(count, words, {.steps = 40, .size = 512}, examples::fetch_columns_in_steps);
}
