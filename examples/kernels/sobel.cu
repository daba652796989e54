// Edges of an image, by a 3 x 3 stencil: each row of the output follows from its own row of the input and from the rows
// above and below it. For an image 4096 floats wide:
//
//   xferbench overlap --kernel-file sobel.cu --kernel-name sobel --size 64M --row-bytes 16K --halo-rows 1
//
// xferbench defines XFERBENCH_ROW, the elements of a row. `in` points to the chunk's first own row; one row before it
// and one behind the last may be read, too. Beyond the image these are zeros.
constexpr long kWidth = XFERBENCH_ROW;

__device__ float pixel(const float* in, long row, long column) {
  return column < 0 || column >= kWidth ? 0.0F : in[row * kWidth + column];
}

extern "C" __global__ void sobel(const float* in, float* out, size_t n) {
  const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
  if (i >= n) return;
  const long row = static_cast<long>(i) / kWidth;
  const long column = static_cast<long>(i) % kWidth;
  const auto at = [&](long down, long right) { return pixel(in, row + down, column + right); };
  const float x = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
  const float y = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
  out[i] = sqrtf(x * x + y * y);
}
