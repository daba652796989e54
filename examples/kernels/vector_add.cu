// Adds 0.5 to each element. Each output depends on one input, so any chunk sizes will do.
//
//   xferbench overlap --kernel-file vector_add.cu --kernel-name vector_add
extern "C" __global__ void vector_add(const float* in, float* out, size_t n) {
  const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
  if (i < n) out[i] = in[i] + 0.5F;
}
