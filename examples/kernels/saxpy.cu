// y = a * x + y, where a pair of the payload holds x and y, and both come out changed. Each thread works on two pairs,
// and the kernel says so itself: chunks of whole pairs are rows of 16 bytes.
//
//   xferbench overlap --kernel-file saxpy.cu --kernel-name saxpy --row-bytes 16 --kernel-option -DA=3.0F
#ifndef A
#define A 2.0F
#endif

// {threads of a block, elements of a thread, bytes of dynamic shared memory of a block}; 0: xferbench chooses.
extern "C" __constant__ unsigned saxpy_launch[3] = {256, 4, 0};

extern "C" __global__ void saxpy(const float* in, float* out, size_t n) {
  const size_t i = (blockIdx.x * size_t{blockDim.x} + threadIdx.x) * 4;
  for (size_t pair = i; pair < i + 4 && pair < n; pair += 2) {
    const float x = in[pair];
    out[pair] = x;
    if (pair + 1 < n) out[pair + 1] = A * x + in[pair + 1];  // of whole rows every pair is whole
  }
}
