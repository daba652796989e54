// The GPU's timer against the host's clock, by question and answer through pinned memory.
#include <atomic>
#include <limits>
#include <new>

#include "core/error.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/stamp.hpp"

namespace xferbench::cuda {

void CudaDevice::stamp(std::uint64_t* slot, StreamHandle stream) {
  kernels::launch_stamp(slot, stream.native);
  check(cudaGetLastError(), "launching the stamp kernel");
}

ClockRelation CudaDevice::relate_clocks() {
  constexpr std::uint32_t kRounds = 32;
  constexpr std::uint64_t kTimeoutNs = 100'000'000;
  const HostBuffer memory = allocate_host(sizeof(kernels::ClockExchange), HostMemory::mapped);
  auto* exchange = new (memory->data) kernels::ClockExchange();
  const Stream stream = make_stream(StreamKind::nonblocking);
  kernels::launch_clock_exchange(exchange, 1, kRounds, kTimeoutNs, stream->native);
  check(cudaGetLastError(), "launching the clock exchange");

  // The timer was read between question and answer; the quickest round pins it down best.
  ClockRelation best;
  best.uncertainty = std::numeric_limits<double>::infinity();
  for (std::uint32_t round = 1; round <= kRounds; ++round) {
    const double asked = host_now();
    std::atomic_ref(exchange->asked).store(round, std::memory_order_release);
    while (std::atomic_ref(exchange->answered).load(std::memory_order_acquire) != round) {
      if (host_now() - asked > 1e-9 * kTimeoutNs) throw DeviceError("relating the clocks", "the GPU does not answer");
    }
    const double answered = host_now();
    if ((answered - asked) / 2 >= best.uncertainty) continue;
    best = {std::atomic_ref(exchange->nanoseconds).load(), (asked + answered) / 2, (answered - asked) / 2};
  }
  synchronize(stream);
  return best;
}

}  // namespace xferbench::cuda
