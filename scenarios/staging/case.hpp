// Not a scenario: what a case of staging means.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/axis.hpp"
#include "core/units.hpp"
#include "device/types.hpp"
#include "measure/worker.hpp"
#include "model/partition.hpp"
#include "run/scenario.hpp"

namespace xferbench {

enum class StagingMethod {
  direct,           ///< the plain copy
  in_place,         ///< all of it is pinned, copied and unpinned
  threads,          ///< carried through pinned slots
  register_chunks,  ///< pinned, copied and unpinned chunk by chunk
};
inline constexpr std::array<std::string_view, 4> kStagingMethods{"direct", "register", "threads", "register-chunks"};

/// How threads that carry share their slots.
enum class StagingCrew {
  apart,       ///< each has slots and a stream of its own
  one_stream,  ///< each has slots of its own, and the copies of all go into one stream
  together,    ///< all fill or empty one slot after the other, whose copies go into one stream
};
inline constexpr std::array<std::string_view, 3> kStagingCrews{"apart", "one-stream", "together"};

/// In which sizes they cut the payload.
enum class ChunkSizes { equal, growing, shrinking, tapered };
inline constexpr std::array<std::string_view, 4> kChunkSizes{"equal", "growing", "shrinking", "tapered"};

/// How threads write what they carry.
enum class StagingStores { cached, streaming };
inline constexpr std::array<std::string_view, 2> kStagingStores{"cached", "streaming"};

/// What they do between payloads, in the order of Worker::Idle.
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
  // The rest is of threads and, but for what slots are, of register_chunks. What a case does not name is the first.
  std::size_t threads = 0;
  std::size_t slot = 0;   ///< bytes, as asked for
  std::size_t slots = 0;  ///< of each thread; together: of all
  StagingCrew crew = StagingCrew::apart;
  ChunkSizes sizes = ChunkSizes::equal;
  StagingStores stores = StagingStores::cached;
  HostMemory slot_memory = HostMemory::pinned;
  Worker::Idle idle = Worker::Idle::sleep;

  [[nodiscard]] bool has_crew() const {
    return method == StagingMethod::threads || method == StagingMethod::register_chunks;
  }
  [[nodiscard]] bool works_together() const { return crew == StagingCrew::together; }
  /// Chunks that are worked on at once.
  [[nodiscard]] std::size_t abreast() const { return works_together() ? 1 : threads; }
  /// A slot's worth, or less of a payload too small to give every thread two, but not so little that the calls cost
  /// more than the bytes.
  [[nodiscard]] std::size_t chunk_bytes() const;
  /// In bytes.
  [[nodiscard]] std::vector<model::Chunk> chunks() const;
  /// Of all slots.
  [[nodiscard]] std::uint64_t ring_bytes() const;
  /// "8 threads, 3 slots of 2 MiB", with the slots as they are used
  [[nodiscard]] std::string describe_method() const;
};
StagingCase staging_case(const Case& c);

std::vector<Axis> staging_axes();

/// Why a case cannot run, or not on this machine; nothing if it can.
std::optional<SkipReason> reason_against(const StagingCase& c);

/// Why a simulated device does not tell how long it takes: what it does not model would be as fast as its usual way,
/// and findings would say so. Nothing where it does.
std::optional<SkipReason> reason_not_to_simulate(const StagingCase& c);

}  // namespace xferbench
