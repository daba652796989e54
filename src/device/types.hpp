// The device's plain types: no behaviour, no backend. Any module may use them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/environment.hpp"

namespace xferbench {

/// Where host memory comes from.
enum class HostMemory {
  pageable,         ///< ordinary memory, as malloc gives it: the driver stages it through pinned buffers of its own
  pageable_small,   ///< ordinary memory on the system's smallest pages, 4 KiB on x86
  pageable_huge,    ///< ordinary memory on transparent huge pages
  pinned,           ///< page-locked (cudaMallocHost): the copy engines read and write it directly
  portable,         ///< pinned for every context (cudaHostAllocPortable)
  mapped,           ///< pinned and in the GPU's address space (cudaHostAllocMapped)
  write_combined,   ///< pinned, past the CPU's caches (cudaHostAllocWriteCombined): the host should never read it
  registered,       ///< ordinary memory on small pages, pinned in place (cudaHostRegister)
  registered_huge,  ///< the same on transparent huge pages
  managed,          ///< one address for host and GPU (cudaMallocManaged): pages move to where they are used
};

/// What people call the kinds, in the order of HostMemory.
inline constexpr std::array<std::string_view, 10> kHostMemoryNames{
    "pageable", "pageable-small", "pageable-huge", "pinned",          "portable",
    "mapped",   "write-combined", "registered",    "registered-huge", "managed"};

constexpr std::string_view to_text(HostMemory kind) { return kHostMemoryNames[static_cast<std::size_t>(kind)]; }
/// The kind of that name. Throws std::logic_error if there is none: a mistake in a scenario's axis.
inline HostMemory host_memory(std::string_view name) {
  const auto found = std::ranges::find(kHostMemoryNames, name);
  if (found == kHostMemoryNames.end()) throw std::logic_error("there is no host memory named " + std::string(name));
  return static_cast<HostMemory>(found - kHostMemoryNames.begin());
}

/// Ordinary memory: the driver stages copies of it, and blocks the caller meanwhile.
constexpr bool is_pageable(HostMemory kind) {
  return kind == HostMemory::pageable || kind == HostMemory::pageable_small || kind == HostMemory::pageable_huge;
}

enum class Direction {
  h2d,
  d2h,
  d2d,  ///< inside one GPU
  p2p,  ///< from one GPU's memory to another's
};

/// How a stream relates to the legacy default stream.
enum class StreamKind {
  nonblocking,     ///< cudaStreamNonBlocking: independent of it
  blocking,        ///< cudaStreamDefault: waits for it, and it waits for this one
  legacy_default,  ///< the legacy default stream itself
};

enum class EventKind {
  timing,
  ordering,  ///< created with timing disabled: cheaper, and cannot be asked for a time by mistake
  blocking,  ///< ordering, and whoever waits for it sleeps (cudaEventBlockingSync)
};

/// What a host thread does while it waits for the GPU (cudaDeviceSchedule...).
enum class WaitPolicy {
  automatic,  ///< the driver chooses
  spin,       ///< polls without pause: fastest, burns a core
  yield,      ///< polls, and lets other threads run between polls
  blocking,   ///< sleeps until an interrupt wakes it
};

/// How the GPU calls a host function from a stream.
enum class CallbackApi { launch_host_func, stream_add_callback };

/// One copy. The caller owns both ranges and keeps them alive until the copy has finished.
struct Copy {
  std::byte* destination = nullptr;
  const std::byte* source = nullptr;
  std::size_t bytes = 0;
  Direction direction = Direction::h2d;
};

/// The bytes of a payload that are filled, moved and checked: the first `bytes` of every `stride`. All of them, unless
/// a simulated device says otherwise.
struct PayloadPart {
  std::size_t bytes = 1;
  std::size_t stride = 1;

  [[nodiscard]] bool is_all() const { return bytes == stride; }
  /// Calls body(begin, end) for each stretch of [begin, end) that belongs to the part, in order.
  template <class Body>
  void for_each(std::size_t begin, std::size_t end, const Body& body) const {
    if (is_all()) return body(begin, end);
    for (std::size_t window = begin / stride * stride; window < end; window += stride) {
      const std::size_t from = std::max(begin, window);
      const std::size_t to = std::min(end, window + bytes);
      if (from < to) body(from, to);
    }
  }
};

/// What work on the host costs; only the simulated host needs to be told.
struct HostCost {
  std::uint64_t bytes_copied = 0;
  std::uint64_t bytes_read = 0;
  double seconds = 0;
};

/// How the GPU's timer and the host's clock relate: the timer read `stamp` nanoseconds at the host's time `host`,
/// within +- `uncertainty` (both in seconds).
struct ClockRelation {
  std::uint64_t stamp = 0;
  double host = 0;
  double uncertainty = 0;
  /// The host's time of a stamp taken not long before or after. (Seconds of the timer itself would not fit a double.)
  [[nodiscard]] double host_time(std::uint64_t other) const {
    return host + 1e-9 * static_cast<double>(static_cast<std::int64_t>(other - stamp));
  }
};

struct MemoryInfo {
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
};

/// What one multiprocessor offers to thread blocks. Zeros: not known, as of a simulated device.
struct Multiprocessor {
  unsigned compute_capability = 0;   ///< 90 for 9.0
  std::size_t shared_per_block = 0;  ///< most shared memory of one block, in bytes
  std::size_t shared_in_all = 0;     ///< shared memory of all blocks at once
  std::size_t shared_reserved = 0;   ///< what the system takes of it for each block
  unsigned threads = 0;              ///< most threads at once
};

/// What a device is and can do. `environment` is what reports say of it.
struct Capabilities {
  Environment environment;
  /// Whether timed passes move real bytes, so that what they left behind can be checked.
  bool moves_data_when_timed = true;
  bool managed_memory = false;   ///< host and GPU may use managed memory at once, and it migrates page by page
  bool pageable_access = false;  ///< kernels may read and write ordinary host memory
  bool memory_pools = false;     ///< allocation in stream order (cudaMallocAsync)
  bool batch_copies = false;     ///< many copies in one call (cudaMemcpyBatchAsync)
  Multiprocessor multiprocessor{};
};

}  // namespace xferbench
