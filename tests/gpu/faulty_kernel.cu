#include "gpu/faulty_kernel.hpp"

namespace xferbench::test {

namespace {

__global__ void write_to(int* address) { *address = 1; }

}  // namespace

void FaultyKernel::preload() const {
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, write_to);
}

void FaultyKernel::launch(void* cuda_stream) const {
  write_to<<<1, 1, 0, static_cast<cudaStream_t>(cuda_stream)>>>(nullptr);
}

}  // namespace xferbench::test
