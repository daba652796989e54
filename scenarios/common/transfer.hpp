// The ways to move data in one direction that scenarios time. Each owns its buffers and can be verified.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "core/non_copyable.hpp"
#include "device/device.hpp"
#include "measure/region.hpp"

namespace xferbench {

/// Words of axis `dir`, indexed by Direction.
inline constexpr std::array<std::string_view, 3> kDirections{"h2d", "d2h", "d2d"};

enum class Engine {
  copy_engine,      ///< cudaMemcpy and cudaMemcpyAsync
  multiprocessors,  ///< a kernel that accesses host or peer memory directly
  prefetch,         ///< managed memory, migrated by cudaMemPrefetchAsync
  page_faults,      ///< managed memory, migrated page by page when the other side accesses it
};

/// State of the host buffer in the CPU caches at the start of a pass.
enum class Touch { as_it_is, warm, cold };

struct TransferSpec {
  Direction direction = Direction::h2d;
  HostMemory memory = HostMemory::pinned;  ///< between devices ignored: pageable memory is used to prepare and check
  Engine engine = Engine::copy_engine;
  bool blocking_api = false;  ///< cudaMemcpy instead of cudaMemcpyAsync; only with Engine::copy_engine
  Touch touch = Touch::as_it_is;
  std::size_t bytes = 0;
  std::uint64_t seed = 0;

  /// Whether host memory is neither source nor destination.
  [[nodiscard]] bool between_devices() const { return direction == Direction::d2d || direction == Direction::p2p; }
  /// Whether the call of a copy between buffers returns only after the data, or nearly all of it, has been moved.
  [[nodiscard]] bool blocks_host() const {
    if (engine == Engine::multiprocessors) return false;
    return blocking_api || (is_pageable(memory) && !between_devices());
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
  /// Whether submit() returns only after the data, or nearly all of it, has been moved. Hazard: then it must not be
  /// called behind a closed gate, as that would deadlock.
  [[nodiscard]] virtual bool blocks_host() const = 0;
  /// Whether the transfer is stream-ordered, so that events can time it.
  [[nodiscard]] virtual bool in_stream() const { return true; }

  /// Throws VerificationError if any byte is wrong. Keeps the source data for the next pass.
  virtual void check() = 0;
};

/// Allocates all buffers. Preconditions: managed memory with Engine::prefetch or page_faults, not for d2d; blocking_api
/// with Engine::copy_engine only, not for d2d.
std::unique_ptr<Transfer> make_transfer(Device& device, const TransferSpec& spec);

/// Copy from the memory of one GPU to another (p2p), submitted to a stream of `worker`, which is one of the two. Direct
/// if the worker has peer access to the other GPU (see PeerAccess), which a kernel requires; otherwise the copy engine
/// goes through the host.
std::unique_ptr<Transfer> make_peer_transfer(Device& from, Device& to, Device& worker, const TransferSpec& spec);

/// Poisons the destinations, runs the region, which consists of these transfers, and checks them. Throws
/// VerificationError if any byte is wrong.
void verify(std::span<const std::unique_ptr<Transfer>> transfers, Machine& machine, const Region& region,
            VerifiedRun run);

}  // namespace xferbench
