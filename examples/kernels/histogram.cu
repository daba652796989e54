// Counts how often each value from 0 to 127 occurs. Every count depends on all of the input, so that chunks come to
// something else than the whole: xferbench finds that, and refuses.
//
//   xferbench overlap --kernel-file histogram.cu --kernel-name histogram --kernel-type int --size 4M
//   xferbench overlap --kernel-file histogram.cu --kernel-name histogram --kernel-type int --size 4M --strategy serial
constexpr int kBins = 128;

extern "C" __global__ void histogram(const int* in, int* out, size_t n) {
  const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
  if (i >= n) return;
  int count = 0;  // what is no bin is written, too: whoever checks the output finds all of it
  for (size_t k = 0; i < kBins && k < n; ++k) count += in[k] == static_cast<int>(i) ? 1 : 0;
  out[i] = count;
}
