// The ways to move data in one direction that scenarios time. Each owns its buffers and can be verified.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/axis.hpp"
#include "core/non_copyable.hpp"
#include "device/device.hpp"
#include "measure/region.hpp"

namespace xferbench {

/// Values of axis `dir`, indexed by Direction.
inline constexpr std::array<std::string_view, 3> kDirections{"h2d", "d2h", "d2d"};

/// The axis `device-memory`, whose values are kGpuMemoryNames. Without it, GPU memory is whole.
inline Axis device_memory_axis() {
  return choice_axis(
      "device-memory", words(kGpuMemoryNames),
      {.help = "memory on the GPU: from cudaMalloc, the default; from a pool (cudaMallocAsync); or mapped "
               "by cuMemMap (vmm)"});
}

/// The axis `oversubscribe`, for managed memory.
inline Axis oversubscribe_axis() {
  return {.name = "oversubscribe",
          .kind = AxisKind::real,
          .help =
              "managed memory may be up to so many times that of the GPU, which evicts pages; default: a quarter of "
              "what is free",
          .max = 1.5};
}

enum class Engine {
  copy_engine,      ///< cudaMemcpy and cudaMemcpyAsync
  multiprocessors,  ///< a kernel that accesses host or peer memory directly
  prefetch,         ///< managed memory, migrated by cudaMemPrefetchAsync
  page_faults,      ///< managed memory, migrated page by page when the other side accesses it
};

/// The CUDA call by which a copy engine is made to copy.
enum class CopyApi {
  async,  ///< cudaMemcpyAsync
  sync,   ///< cudaMemcpy
  graph,  ///< cudaGraphLaunch, of a graph with this one copy
};
inline constexpr std::array<std::string_view, 3> kCopyApis{"async", "sync", "graph"};

/// State of the host buffer in the CPU caches at the start of a pass.
enum class Touch { as_it_is, warm, cold };

struct TransferSpec {
  Direction direction = Direction::h2d;
  HostMemory memory = HostMemory::pinned;  ///< ignored for copies between devices; their checks use pageable memory
  Engine engine = Engine::copy_engine;
  CopyApi api = CopyApi::async;             ///< another one only with Engine::copy_engine
  GpuMemory gpu_memory = GpuMemory::whole;  ///< of all buffers on GPUs
  Touch touch = Touch::as_it_is;
  std::size_t bytes = 0;
  std::size_t window = 0;  ///< managed memory: bytes that a kernel reads into the GPU's own memory; 0: all
  std::uint64_t seed = 0;

  /// Whether host memory is neither source nor destination.
  [[nodiscard]] bool between_devices() const { return direction == Direction::d2d || direction == Direction::p2p; }
  /// Whether the call of a copy between buffers returns only after the data, or nearly all of it, has been moved.
  [[nodiscard]] bool blocks_host() const {
    if (engine == Engine::multiprocessors) return false;
    return api == CopyApi::sync || (is_pageable(memory) && !between_devices());
  }
  friend bool operator==(const TransferSpec&, const TransferSpec&) = default;
};

class Transfer : NonCopyable {
 public:
  virtual ~Transfer() = default;

  /// Fills the source with data: copying zeros can be faster than copying other data.
  virtual void prepare() = 0;
  /// Overwrites the destination before a verified pass.
  virtual void poison() = 0;
  /// Prepares another pass. Called only if needs_reset() is true.
  virtual void reset() {}
  [[nodiscard]] virtual bool needs_reset() const { return false; }

  /// Moves the data once, in `stream` if the transfer is stream-ordered.
  virtual void submit(StreamView stream) = 0;
  /// Whether submit() returns only after the data, or nearly all of it, has been moved. Hazard: such a call deadlocks
  /// behind a closed gate, which the host opens only after the call has returned.
  [[nodiscard]] virtual bool blocks_host() const = 0;
  /// Whether the transfer is stream-ordered, so that events can time it.
  [[nodiscard]] virtual bool in_stream() const { return true; }

  /// Throws VerificationError if any byte is wrong. Keeps the source data for the next pass.
  virtual void check() = 0;
};

/// Allocates all buffers. Preconditions: Engine::prefetch and page_faults require managed memory and exclude d2d;
/// CopyApi::sync excludes d2d, CopyApi::graph excludes pageable memory.
std::unique_ptr<Transfer> make_transfer(Device& device, const TransferSpec& spec);

/// Returns a copy between the memories of two GPUs, for streams of `worker`, which is `from` or `to`. The copy is
/// direct if `worker` has peer access to the other GPU (PeerAccess). Otherwise it goes through the host; kernels cannot
/// do that.
std::unique_ptr<Transfer> make_peer_transfer(Device& from, Device& to, Device& worker, const TransferSpec& spec);

/// Runs the region, which submits these transfers, on poisoned destinations and checks the data that arrived. Throws
/// VerificationError if any byte is wrong.
void verify(std::span<const std::unique_ptr<Transfer>> transfers, Machine& machine, const Region& region,
            VerifiedRun run);

/// Adds the limit that a specification gives, and the share of it that the bandwidth reaches, both in GB/s. If the
/// bandwidth exceeds the limit by more than noise, the specification does not describe this link: then adds `warning`
/// instead. A limit of 0 is unknown.
void report_specified_limit(double limit, double bandwidth, std::string_view warning, Result& result);

}  // namespace xferbench
