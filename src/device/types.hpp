// Value types of the device interface, which any module may use.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/environment.hpp"

namespace xferbench {

enum class HostMemory {
  pageable,            ///< ordinary memory from malloc: the driver stages copies through its own pinned buffers
  pageable_small,      ///< ordinary memory on the smallest pages, 4 KiB on x86
  pageable_huge,       ///< ordinary memory on transparent huge pages
  pinned,              ///< page-locked (cudaMallocHost): the copy engines read and write it directly
  portable,            ///< pinned for every context (cudaHostAllocPortable)
  mapped,              ///< pinned and in the GPU's address space (cudaHostAllocMapped)
  write_combined,      ///< pinned and uncached (cudaHostAllocWriteCombined): the host should never read it
  registered,          ///< ordinary memory on small pages, pinned in place (cudaHostRegister)
  registered_huge,     ///< ordinary memory on transparent huge pages, pinned in place (cudaHostRegister)
  managed,             ///< one address for host and GPU (cudaMallocManaged): pages migrate on access
  pageable_hugetlb,    ///< ordinary memory on huge pages that the system has reserved (MAP_HUGETLB)
  registered_hugetlb,  ///< the same, pinned in place (cudaHostRegister)
  numa_mapped,         ///< page-locked memory of one NUMA node, mapped by the driver (cuMemCreate, cuMemMap)
};

/// User-visible names, in the order of HostMemory.
inline constexpr std::array<std::string_view, 13> kHostMemoryNames{
    "pageable",         "pageable-small",     "pageable-huge", "pinned",          "portable",
    "mapped",           "write-combined",     "registered",    "registered-huge", "managed",
    "pageable-hugetlb", "registered-hugetlb", "numa-vmm"};

constexpr std::string_view to_text(HostMemory kind) { return kHostMemoryNames[static_cast<std::size_t>(kind)]; }
/// Returns the kind with this name. An unknown name is an error in a scenario's axis and throws std::logic_error.
inline HostMemory host_memory(std::string_view name) {
  const auto found = std::ranges::find(kHostMemoryNames, name);
  if (found == kHostMemoryNames.end()) throw std::logic_error("there is no host memory named " + std::string(name));
  return static_cast<HostMemory>(found - kHostMemoryNames.begin());
}

/// Returns the ordinary memory that is pinned in place to get memory of this kind; `kind` itself for all other kinds.
constexpr HostMemory before_registration(HostMemory kind) {
  switch (kind) {
    case HostMemory::registered: return HostMemory::pageable_small;
    case HostMemory::registered_huge: return HostMemory::pageable_huge;
    case HostMemory::registered_hugetlb: return HostMemory::pageable_hugetlb;
    default: return kind;
  }
}
constexpr bool is_registered(HostMemory kind) { return before_registration(kind) != kind; }

/// Whether the memory is on huge pages that the system has reserved, which do not count as available memory.
constexpr bool is_reserved(HostMemory kind) { return before_registration(kind) == HostMemory::pageable_hugetlb; }
constexpr bool is_on_huge_pages(HostMemory kind) {
  return is_reserved(kind) || before_registration(kind) == HostMemory::pageable_huge;
}

/// Whether the memory is ordinary: the driver stages its copies while the caller waits.
constexpr bool is_pageable(HostMemory kind) {
  return kind == HostMemory::pageable || kind == HostMemory::pageable_small || kind == HostMemory::pageable_huge ||
         kind == HostMemory::pageable_hugetlb;
}

/// How memory of a GPU is allocated.
enum class GpuMemory {
  whole,   ///< cudaMalloc: an allocation of its own
  pooled,  ///< cudaMallocAsync, from the GPU's default pool
  mapped,  ///< cuMemCreate, mapped by cuMemMap (virtual memory management)
};
/// User-visible names, in the order of GpuMemory.
inline constexpr std::array<std::string_view, 3> kGpuMemoryNames{"malloc", "pool", "vmm"};

enum class Direction {
  h2d,
  d2h,
  d2d,  ///< inside one GPU
  p2p,  ///< between the memories of two GPUs
};

/// How a stream relates to the legacy default stream.
enum class StreamKind {
  nonblocking,     ///< cudaStreamNonBlocking: not synchronized with the legacy default stream
  blocking,        ///< cudaStreamDefault: this stream and the legacy default stream wait for each other
  legacy_default,  ///< the legacy default stream itself
};

enum class EventKind {
  timing,
  ordering,  ///< without timing: cheaper, and an accidental time query fails
  blocking,  ///< like ordering, but a waiting host thread sleeps (cudaEventBlockingSync)
};

/// How a host thread waits for the GPU (cudaDeviceSchedule...).
enum class WaitPolicy {
  automatic,  ///< the driver chooses
  spin,       ///< polls without pause: fastest, burns a core
  yield,      ///< polls, and lets other threads run between polls
  blocking,   ///< sleeps until an interrupt wakes it
};

/// The CUDA function by which a stream calls a host function.
enum class CallbackApi { launch_host_func, stream_add_callback };

/// One copy. The caller owns both ranges and must keep them alive until the copy has finished.
struct Copy {
  std::byte* destination = nullptr;
  const std::byte* source = nullptr;
  std::size_t bytes = 0;
  Direction direction = Direction::h2d;
};

/// When the driver reads the sources of a batch (cudaMemcpySrcAccessOrder).
enum class SourceOrder {
  stream,       ///< in stream order, as for a single copy
  during_call,  ///< before the submitting call returns
  any,          ///< at any time, even before earlier work of the stream has ended
};

/// Copies that one call submits, with the arrays that cudaMemcpyBatchAsync takes. Making it costs host time for each
/// copy, so programs that know their copies make it once.
struct CopyBatch {
  CopyBatch(std::vector<Copy> all) : copies(std::move(all)) {  // NOLINT(google-explicit-constructor): a list is a batch
    for (const Copy& copy : copies) {
      destinations.push_back(copy.destination);
      sources.push_back(copy.source);
      sizes.push_back(copy.bytes);
    }
  }

  std::vector<Copy> copies;  ///< with the same ranges as the three arrays
  std::vector<void*> destinations{};
  std::vector<const void*> sources{};
  std::vector<std::size_t> sizes{};
  SourceOrder order = SourceOrder::stream;
  bool beside_kernels = false;  ///< cudaMemcpyFlagPreferOverlapWithCompute
  bool as_volumes = false;      ///< by cudaMemcpy3DBatchAsync, each copy as a volume of one row

  [[nodiscard]] const char* function() const { return as_volumes ? "cudaMemcpy3DBatchAsync" : "cudaMemcpyBatchAsync"; }
};

/// Copies of equally long ranges at an even distance, which one call submits (cudaMemcpy2DAsync).
struct StridedCopy {
  Copy first{};
  std::size_t rows = 0;               ///< number of ranges
  std::size_t destination_pitch = 0;  ///< bytes from one range to the next, at least first.bytes
  std::size_t source_pitch = 0;

  [[nodiscard]] std::vector<Copy> copies() const {
    std::vector<Copy> all(rows, first);
    for (std::size_t i = 0; i < rows; ++i) {
      all[i].destination += i * destination_pitch;
      all[i].source += i * source_pitch;
    }
    return all;
  }
};

/// Selects the bytes of a payload that are filled, moved and checked: the first `bytes` bytes of every `stride` bytes.
/// On a real device, these are all bytes.
struct PayloadPart {
  std::size_t bytes = 1;
  std::size_t stride = 1;

  [[nodiscard]] bool is_all() const { return bytes == stride; }
  /// Calls body(begin, end), in order, for each contiguous range of selected bytes within [begin, end).
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

/// Cost of host work on a simulated host; a real host ignores it.
struct HostCost {
  std::uint64_t bytes_copied = 0;
  std::uint64_t bytes_read = 0;
  double seconds = 0;
};

/// Relates the GPU's timer to the host's clock: the timer showed `stamp` nanoseconds when the host's clock showed
/// `host` seconds, to within `uncertainty` seconds.
struct ClockRelation {
  std::uint64_t stamp = 0;
  double host = 0;
  double uncertainty = 0;
  /// Returns the host time, in seconds, of a time stamp taken close to this measurement. Subtracts the stamps as
  /// integers, because a double cannot hold them exactly.
  [[nodiscard]] double host_time(std::uint64_t other) const {
    return host + 1e-9 * static_cast<double>(static_cast<std::int64_t>(other - stamp));
  }
};

struct MemoryInfo {
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
};

/// Limits of one multiprocessor; 0 if unknown, as on a simulated device.
struct Multiprocessor {
  unsigned compute_capability = 0;   ///< 10 * major + minor, for example 90 for 9.0
  std::size_t shared_per_block = 0;  ///< maximum shared memory of one block, in bytes
  std::size_t shared_in_all = 0;     ///< maximum shared memory of all resident blocks together, in bytes
  std::size_t shared_reserved = 0;   ///< shared memory that CUDA reserves per block, in bytes
  unsigned threads = 0;              ///< maximum number of resident threads
};

/// What a device supports. Reports contain its `environment`.
struct Capabilities {
  Environment environment;
  /// Whether timed passes move real bytes, so that their results can be checked.
  bool moves_data_when_timed = true;
  bool managed_memory = false;   ///< host and GPU may access managed memory concurrently; pages migrate
  bool pageable_access = false;  ///< kernels can access ordinary host memory
  bool batch_copies = false;     ///< many copies in one call (cudaMemcpyBatchAsync)
  Multiprocessor multiprocessor{};
};

}  // namespace xferbench
