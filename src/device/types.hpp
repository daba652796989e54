// The device's plain types: no behaviour, no backend. Any module may use them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/result.hpp"

namespace xferbench {

/// Where host memory comes from. The next kinds (registered, mapped, write-combined, managed) join here.
enum class HostMemory {
  pageable,  ///< ordinary memory: the driver stages it through its own pinned buffers
  pinned,    ///< page-locked (cudaMallocHost): the copy engines read and write it directly
};

enum class Direction { h2d, d2h, d2d };

/// How a stream relates to the legacy default stream.
enum class StreamKind {
  nonblocking,     ///< cudaStreamNonBlocking: independent of it
  blocking,        ///< cudaStreamDefault: waits for it, and it waits for this one
  legacy_default,  ///< the legacy default stream itself
};

enum class EventKind {
  timing,
  ordering,  ///< created with timing disabled: cheaper, and cannot be asked for a time by mistake
};

/// One copy. The caller owns both ranges and keeps them alive until the copy has finished.
struct Copy {
  std::byte* destination = nullptr;
  const std::byte* source = nullptr;
  std::size_t bytes = 0;
  Direction direction = Direction::h2d;
};

struct MemoryInfo {
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
};

/// What a device is and can do. `environment` is what reports say of it.
struct Capabilities {
  Environment environment;
  bool one_host_thread = false;  ///< the simulated host: work cannot be submitted from two threads
  /// Whether timed passes move real bytes, so that what they left behind can be checked.
  bool moves_data_when_timed = true;
};

}  // namespace xferbench
