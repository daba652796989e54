#include "device/cuda/stamp.hpp"
#include "kernels/timer.cuh"

namespace xferbench::kernels {

namespace {

__global__ void stamp(std::uint64_t* slot) {
  *slot = global_nanoseconds();
  __threadfence_system();
}

__global__ void answer(volatile ClockExchange* exchange, std::uint32_t first, std::uint32_t rounds,
                       std::uint64_t timeout_ns) {
  std::uint64_t last = global_nanoseconds();
  for (std::uint32_t i = 0; i < rounds; ++i) {
    while (exchange->asked != first + i) {
      if (global_nanoseconds() - last > timeout_ns) return;  // the host has gone away
    }
    last = global_nanoseconds();
    exchange->nanoseconds = last;
    __threadfence_system();  // the time must be there before the answer says so
    exchange->answered = first + i;
  }
}

}  // namespace

void preload_stamp() {
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, stamp);
  cudaFuncGetAttributes(&attributes, answer);
}

void launch_stamp(std::uint64_t* slot, void* cuda_stream) {
  stamp<<<1, 1, 0, static_cast<cudaStream_t>(cuda_stream)>>>(slot);
}

void launch_clock_exchange(ClockExchange* exchange, std::uint32_t first, std::uint32_t rounds, std::uint64_t timeout_ns,
                           void* cuda_stream) {
  answer<<<1, 1, 0, static_cast<cudaStream_t>(cuda_stream)>>>(exchange, first, rounds, timeout_ns);
}

}  // namespace xferbench::kernels
