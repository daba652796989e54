#include "device/load.cuh"
#include "device/timer.cuh"
#include "kernels/chase.hpp"

namespace xferbench::kernels {

namespace {

/// Uses a volatile load to bypass L1: L1 is not coherent with the host, and a small buffer would fit in it.
__device__ const ChaseLine* follow(const ChaseLine* line) {
  return *const_cast<const ChaseLine* const volatile*>(&line->next);
}

/// Index of the multiprocessor that executes this thread. (PTX ISA, "Special Registers: %smid".)
__device__ std::uint32_t multiprocessor() {
  std::uint32_t number;
  asm volatile("mov.u32 %0, %smid;" : "=r"(number));
  return number;
}

__global__ void chase_at_once(const ChaseLine* at, ChaseLog* log, unsigned block) {
  if (blockIdx.x != block) return;
  const std::uint64_t before_tick = global_nanoseconds();
  std::uint64_t begun = before_tick;
  while (begun == before_tick) begun = global_nanoseconds();
  const long long first_cycle = clock64();
  for (unsigned i = 0; i < kChaseHops; ++i) at = follow(at);
  if (at == nullptr) return;  // forces the thread to wait for the last load before it reads the clock
  log->cycles = static_cast<std::uint64_t>(clock64() - first_cycle);
  log->nanoseconds = global_nanoseconds() - begun;
  log->multiprocessor = multiprocessor();
  log->last = at;
  __threadfence_system();
}

__global__ void chase(const ChaseLine* at, ChaseLog* log, unsigned block) {
  if (blockIdx.x != block) return;
  __shared__ std::uint32_t cycles[kChaseHops];
  // The global timer has a coarse resolution on some GPUs, so the measurement starts right after a tick of the timer.
  const std::uint64_t before_tick = global_nanoseconds();
  std::uint64_t begun = before_tick;
  while (begun == before_tick) begun = global_nanoseconds();
  const long long first_cycle = clock64();
  long long before = first_cycle;
  for (unsigned i = 0; i < kChaseHops; ++i) {
    at = follow(at);
    // Hazard: a load is asynchronous, so the clock could be read while it is in flight. The comparison forces the
    // thread to wait for the loaded value; no pointer is null.
    if (at == nullptr) return;
    const long long now = clock64();
    cycles[i] = static_cast<std::uint32_t>(now - before);
    before = now;
  }
  log->nanoseconds = global_nanoseconds() - begun;
  log->multiprocessor = multiprocessor();
  log->cycles = static_cast<std::uint64_t>(before - first_cycle);
  log->last = at;
  for (unsigned i = 0; i < kChaseHops; ++i) log->hops[i] = cycles[i];
  __threadfence_system();
}

}  // namespace

void Chase::preload() const { load(chase, chase_at_once); }

void Chase::launch(void* cuda_stream) const {
  const auto walk = times_ == ChaseTimes::each_hop ? chase : chase_at_once;
  walk<<<block_.of, 1, 0, static_cast<cudaStream_t>(cuda_stream)>>>(first_, log_, block_.index);
}

}  // namespace xferbench::kernels
