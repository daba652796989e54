#include "device/cuda/timing_kernels.hpp"
#include "device/load.cuh"
#include "device/timer.cuh"

namespace xferbench::kernels {

namespace {

// Holds a stream until the gate opens. Hazard: a host thread that synchronizes with the stream before it opens the gate
// deadlocks. The timeout turns such a mistake into a failed sample.
__global__ void hold(volatile GateFlags* flags, unsigned slot, std::uint32_t ticket, std::uint64_t timeout_ns) {
  const std::uint64_t begun = global_nanoseconds();
  flags->arrived[slot] = ticket;
  // Ticket numbers only grow, and the signed difference is correct even after they wrap around.
  while (static_cast<std::int32_t>(flags->opened - ticket) < 0) {
    if (global_nanoseconds() - begun > timeout_ns) {
      flags->timed_out = 1;
      __threadfence_system();
      return;
    }
  }
}

__global__ void probe_clock(std::uint64_t* sample, std::uint64_t duration_ns) {
  // globaltimer may tick coarsely (32 ns on an H200, microseconds on other GPUs), so measure from tick to tick.
  const std::uint64_t before = global_nanoseconds();
  std::uint64_t begun = before;
  while (begun == before) begun = global_nanoseconds();
  const long long first_cycle = clock64();
  std::uint64_t now = begun;
  while (now - begun < duration_ns) now = global_nanoseconds();
  sample[0] = static_cast<std::uint64_t>(clock64() - first_cycle);
  sample[1] = now - begun;
}

__global__ void stamp(std::uint64_t* slot) {
  *slot = global_nanoseconds();
  __threadfence_system();
}

__global__ void flip(std::byte* at) { *at = *at ^ std::byte{1}; }

__global__ void answer(volatile ClockExchange* exchange, std::uint32_t first, std::uint32_t rounds,
                       std::uint64_t timeout_ns) {
  std::uint64_t last = global_nanoseconds();
  for (std::uint32_t i = 0; i < rounds; ++i) {
    while (exchange->asked != first + i) {
      if (global_nanoseconds() - last > timeout_ns) return;  // the host stopped asking
    }
    last = global_nanoseconds();
    exchange->nanoseconds = last;
    __threadfence_system();  // the time must be visible before the answer
    exchange->answered = first + i;
  }
}

}  // namespace

void preload_timing_kernels() { load(hold, probe_clock, stamp, flip, answer); }

void launch_gate(GateFlags* flags, unsigned slot, std::uint32_t ticket, std::uint64_t timeout_ns, void* cuda_stream) {
  hold<<<1, 1, 0, static_cast<cudaStream_t>(cuda_stream)>>>(flags, slot, ticket, timeout_ns);
}

void launch_clock_probe(std::uint64_t* sample, std::uint64_t duration_ns, void* cuda_stream) {
  probe_clock<<<1, 1, 0, static_cast<cudaStream_t>(cuda_stream)>>>(sample, duration_ns);
}

void launch_stamp(std::uint64_t* slot, void* cuda_stream) {
  stamp<<<1, 1, 0, static_cast<cudaStream_t>(cuda_stream)>>>(slot);
}

void launch_flip(std::byte* at, void* cuda_stream) { flip<<<1, 1, 0, static_cast<cudaStream_t>(cuda_stream)>>>(at); }

void launch_clock_exchange(ClockExchange* exchange, std::uint32_t first, std::uint32_t rounds, std::uint64_t timeout_ns,
                           void* cuda_stream) {
  answer<<<1, 1, 0, static_cast<cudaStream_t>(cuda_stream)>>>(exchange, first, rounds, timeout_ns);
}

}  // namespace xferbench::kernels
