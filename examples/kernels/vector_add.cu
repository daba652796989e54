// Adds a vector that repeats itself: each element of the output follows from one of the input, so any chunks will do.
//
//   xferbench overlap --kernel-file vector_add.cu --kernel-name vector_add
extern "C" __global__ void vector_add(const float* in, float* out, size_t n) {
  const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
  if (i < n) out[i] = in[i] + 0.5F;
}
