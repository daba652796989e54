// Clocks of the GPU: its multiprocessors' rate, and its timer against the host's clock, by question and answer through
// pinned memory.
#include <atomic>
#include <cstdint>
#include <limits>
#include <new>

#include "core/error.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/cuda_stream.hpp"
#include "device/cuda/gate.hpp"
#include "device/cuda/stamp.hpp"
#include "device/machine.hpp"

namespace xferbench::cuda {

namespace {

cudaStream_t native(StreamView stream) { return static_cast<const CudaStream&>(stream.impl()).native(); }

}  // namespace

std::optional<double> CudaDevice::sm_clock_hz() {
  constexpr std::uint64_t kDurationNs = 100'000;
  const HostBuffer buffer = allocate_host(2 * sizeof(std::uint64_t), HostMemory::pinned);
  auto* sample = reinterpret_cast<std::uint64_t*>(buffer.data);
  const Stream stream = make_stream(StreamKind::nonblocking);
  kernels::launch_clock_probe(sample, kDurationNs, native(stream));
  check(cudaGetLastError(), "launching the clock probe");
  stream.synchronize();
  if (sample[1] == 0) return std::nullopt;
  return static_cast<double>(sample[0]) / static_cast<double>(sample[1]) * 1e9;
}

ClockRelation CudaDevice::relate_clocks() {
  constexpr std::uint32_t kRounds = 32;
  constexpr std::uint64_t kTimeoutNs = 100'000'000;
  const HostBuffer memory = allocate_host(sizeof(kernels::ClockExchange), HostMemory::mapped);
  auto* exchange = new (memory.data) kernels::ClockExchange();
  const Stream stream = make_stream(StreamKind::nonblocking);
  kernels::launch_clock_exchange(exchange, 1, kRounds, kTimeoutNs, native(stream));
  check(cudaGetLastError(), "launching the clock exchange");

  // The timer was read between question and answer; the quickest round pins it down best.
  ClockRelation best;
  best.uncertainty = std::numeric_limits<double>::infinity();
  for (std::uint32_t round = 1; round <= kRounds; ++round) {
    const double asked = host().now();
    std::atomic_ref(exchange->asked).store(round, std::memory_order_release);
    while (std::atomic_ref(exchange->answered).load(std::memory_order_acquire) != round) {
      if (host().now() - asked > 1e-9 * kTimeoutNs) throw DeviceError("relating the clocks", "the GPU does not answer");
    }
    const double answered = host().now();
    if ((answered - asked) / 2 >= best.uncertainty) continue;
    best = {std::atomic_ref(exchange->nanoseconds).load(), (asked + answered) / 2, (answered - asked) / 2};
  }
  stream.synchronize();
  return best;
}

}  // namespace xferbench::cuda
