// Not a scenario: the ways to move bytes in one direction that scenarios time. Each owns its memory, can be verified,
// and knows which clock suits it.
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

/// What axes call them, in the order of Direction.
inline constexpr std::array<std::string_view, 3> kDirections{"h2d", "d2h", "d2d"};

enum class Engine {
  copy_engine,      ///< cudaMemcpy and its kin
  multiprocessors,  ///< a kernel that reads and writes host memory itself
  prefetch,         ///< managed memory, migrated by cudaMemPrefetchAsync
  page_faults,      ///< managed memory, migrated page by page when the other side touches it
};

/// What is in the CPU's caches of the host memory when a pass begins.
enum class Touch { as_it_is, warm, cold };

struct TransferSpec {
  Direction direction = Direction::h2d;
  HostMemory memory = HostMemory::pinned;  ///< between devices, ordinary memory serves to prepare and check
  Engine engine = Engine::copy_engine;
  bool blocking_api = false;  ///< cudaMemcpy instead of cudaMemcpyAsync; copy engine only
  Touch touch = Touch::as_it_is;
  std::size_t bytes = 0;
  std::uint64_t seed = 0;

  /// Whether the host's memory has no part in it.
  [[nodiscard]] bool between_devices() const { return direction == Direction::d2d || direction == Direction::p2p; }
  /// Whether a copy between buffers returns to its caller only when the bytes have moved, or nearly so.
  [[nodiscard]] bool blocks_host() const {
    if (engine == Engine::multiprocessors) return false;
    return blocking_api || (is_pageable(memory) && !between_devices());
  }
  friend bool operator==(const TransferSpec&, const TransferSpec&) = default;
};

class Transfer : NonCopyable {
 public:
  virtual ~Transfer() = default;

  /// Real data where the transfer reads from: moving zeros can be faster than moving data.
  virtual void prepare() = 0;
  /// Where the transfer writes to, before a verified pass.
  virtual void poison() = 0;
  /// Makes ready for one more pass; only where needs_reset().
  virtual void reset() {}
  [[nodiscard]] virtual bool needs_reset() const { return false; }

  /// Moves the bytes once, in `stream` where it uses one.
  virtual void submit(StreamView stream) = 0;
  /// Whether submit() returns only when the bytes have moved, or nearly so: then it must not be called behind a gate.
  [[nodiscard]] virtual bool blocks_host() const = 0;
  /// Whether the stream knows of the transfer, so that events can time it.
  [[nodiscard]] virtual bool in_stream() const { return true; }

  /// Throws VerificationError unless every byte arrived. Leaves what is to be moved as it was, for the next pass.
  virtual void check() = 0;
};

/// Allocates everything. The combination must make sense: managed memory with prefetch or page_faults and not d2d, the
/// blocking API with the copy engine only and not d2d.
std::unique_ptr<Transfer> make_transfer(Device& device, const TransferSpec& spec);

/// From the memory of one GPU to that of another (p2p), to be submitted to a stream of `worker`, which is one of them.
/// Goes directly where the worker reaches the other GPU's memory (PeerAccess), as a kernel has to, else a copy engine
/// goes through the host.
std::unique_ptr<Transfer> make_peer_transfer(Device& from, Device& to, Device& worker, const TransferSpec& spec);

/// One run of the region, which is these transfers, on poisoned memory. Throws VerificationError unless every byte
/// arrived.
void verify(std::span<const std::unique_ptr<Transfer>> transfers, Machine& machine, const Region& region,
            VerifiedRun run);

}  // namespace xferbench
