#include "device/load.cuh"
#include "device/timer.cuh"
#include "kernels/delay.hpp"

namespace xferbench::kernels {

namespace {

__global__ void delay(std::uint64_t duration_ns) {
  const std::uint64_t begun = global_nanoseconds();
  while (global_nanoseconds() - begun < duration_ns) {
  }
}

}  // namespace

void Delay::preload() const { load(delay); }

void Delay::launch(void* cuda_stream) const {
  delay<<<1, 1, 0, static_cast<cudaStream_t>(cuda_stream)>>>(static_cast<std::uint64_t>(seconds_ * 1e9));
}

}  // namespace xferbench::kernels
