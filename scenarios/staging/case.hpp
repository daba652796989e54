// The cases of scenario staging: parsing, derived sizes and skip reasons.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/units.hpp"
#include "device/types.hpp"
#include "measure/worker.hpp"
#include "model/partition.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/slot_workers.hpp"

namespace xferbench {

enum class StagingMethod {
  direct,           ///< a plain copy
  in_place,         ///< register the whole buffer, copy it, unregister it
  threads,          ///< threads copy the data through pinned slots
  register_chunks,  ///< threads register, copy and unregister the buffer chunk by chunk
};
inline constexpr std::array<std::string_view, 4> kStagingMethods{"direct", "register", "threads", "register-chunks"};

/// How chunk sizes change over the payload: equal, small at its start, small at its end, small at both ends.
enum class ChunkSizes { equal, growing, shrinking, tapered };
inline constexpr std::array<std::string_view, 4> kChunkSizes{"equal", "growing", "shrinking", "tapered"};

/// How threads write to memory: normal stores, or non-temporal stores that bypass the caches.
enum class StagingStores { cached, streaming };
inline constexpr std::array<std::string_view, 2> kStagingStores{"cached", "streaming"};

/// Whether threads sleep or poll while they wait for the next payload, indexed by Worker::Idle.
inline constexpr std::array<std::string_view, 2> kStagingIdle{"sleep", "poll"};

inline constexpr std::array<std::string_view, 3> kSlotMemory{"pinned", "write-combined", "registered-huge"};
inline constexpr std::array<std::string_view, 3> kStagingPages{"pageable", "pageable-small", "pageable-huge"};

inline constexpr std::size_t kStagingPage = 4 * KiB;
constexpr std::size_t in_whole_pages(std::size_t bytes) {
  return (bytes + kStagingPage - 1) / kStagingPage * kStagingPage;
}

struct StagingCase {
  std::string dir;
  std::string host;
  Direction direction = Direction::h2d;
  HostMemory memory = HostMemory::pageable;
  StagingMethod method = StagingMethod::direct;
  std::size_t size = 0;
  // The following members are for methods threads and register_chunks only (slot_memory and stores: threads only). If a
  // case lacks the axis, the member keeps its default.
  std::size_t threads = 0;
  std::size_t slot = 0;   ///< requested bytes of a slot
  std::size_t slots = 0;  ///< slots of each thread or, with SlotCrew::together, of all threads
  SlotCrew crew = SlotCrew::apart;
  ChunkSizes sizes = ChunkSizes::equal;
  StagingStores stores = StagingStores::cached;
  HostMemory slot_memory = HostMemory::pinned;
  Worker::Idle idle = Worker::Idle::sleep;

  [[nodiscard]] bool has_workers() const {
    return method == StagingMethod::threads || method == StagingMethod::register_chunks;
  }
  [[nodiscard]] bool works_together() const { return crew == SlotCrew::together; }
  /// Returns the number of chunks that threads fill or empty at the same time.
  [[nodiscard]] std::size_t abreast() const { return works_together() ? 1 : threads; }
  /// Returns the bytes of a chunk: the size of a slot, or less if the payload is too small to give every thread two
  /// chunks. A chunk is not reduced below 64 KiB, because then the fixed cost per copy would dominate.
  [[nodiscard]] std::size_t chunk_bytes() const;
  /// Returns the chunks; their offsets and lengths are in bytes.
  [[nodiscard]] std::vector<model::Chunk> chunks() const;
  /// Returns the bytes of all slots together.
  [[nodiscard]] std::uint64_t ring_bytes() const;
  /// Returns for example "8 threads, 3 slots of 2 MiB", with the chunk size that is really used.
  [[nodiscard]] std::string describe_method() const;
};
StagingCase staging_case(const Case& c);

std::vector<Axis> staging_axes();

/// Returns why the case cannot run on any machine; nothing if it can.
std::optional<SkipReason> reason_against(const StagingCase& c);

/// Returns why a simulated device cannot time this case; nothing if it can. Axes whose effect the simulation does not
/// model would look as fast as their defaults, and findings would be wrong.
std::optional<SkipReason> reason_not_to_simulate(const StagingCase& c);

}  // namespace xferbench
