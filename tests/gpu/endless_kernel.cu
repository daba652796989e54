#include "gpu/endless_kernel.hpp"

namespace xferbench::test {

namespace {

__global__ void spin(const volatile std::uint32_t* end) {
  while (*end == 0) {
  }
}

}  // namespace

void EndlessKernel::preload() const {
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, spin);
}

void EndlessKernel::launch(void* cuda_stream) const { spin<<<1, 1, 0, static_cast<cudaStream_t>(cuda_stream)>>>(end_); }

}  // namespace xferbench::test
