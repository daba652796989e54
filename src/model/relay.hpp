// Model of a transfer to one GPU over several links: a part goes directly, the rest in chunks through other GPUs
// (helpers). Predicts the duration and finds the best split. Pure functions; times in seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace xferbench::model {

/// Costs of one helper GPU. The helper holds a few chunks at once, one per slot. It receives a chunk over its first
/// link while it sends the previous chunk over its second link.
struct RelayCosts {
  double first_rate = 0;   ///< bytes per second to the helper, while all other GPUs transfer as well
  double second_rate = 0;  ///< bytes per second from the helper to the target, while all other GPUs transfer as well
  double first_copy = 0;   ///< fixed cost of a copy over the first link, in seconds
  double second_copy = 0;
  double hand_over = 0;  ///< seconds from the end of a copy to the start of a copy that waits for it
};

/// Costs of all paths to the target GPU: its own link, and the helpers.
struct RelayPaths {
  double direct_rate = 0;  ///< bytes per second of the target's own link, while the helpers transfer as well
  double direct_copy = 0;  ///< fixed cost of a copy over the target's own link, in seconds
  double far_end = 0;      ///< seconds from the end of a helper's last copy until the target GPU sees that end
  double joining = 0;      ///< seconds to start and join all GPUs, measured with almost no data
  std::vector<RelayCosts> helpers{};
};

/// How the helpers cut the bytes that they relay into chunks.
struct RelayShape {
  std::uint64_t chunk = 0;       ///< maximum bytes per chunk
  std::size_t slots = 1;         ///< number of chunks that a helper holds at once
  bool last_leg_is_fast = true;  ///< whether the second link is faster; if so, short chunks come last, otherwise first
};

/// Returns the chunk sizes for relaying `bytes`. At the beginning only the first link transfers, at the end only the
/// second. Chunks shrink to 2 MiB toward the beginning or the end, whichever uses only the faster link.
[[nodiscard]] std::vector<std::uint64_t> relay_chunks(const RelayShape& shape, std::uint64_t bytes);

/// Returns the bytes of each slot for relaying `bytes`: the longest chunk that uses the slot. Unused slots are omitted.
[[nodiscard]] std::vector<std::uint64_t> relay_slots(const RelayShape& shape, std::uint64_t bytes);

/// Number of bytes that take each path.
struct RelaySplit {
  std::uint64_t direct = 0;
  std::vector<std::uint64_t> through;  ///< bytes through each helper

  [[nodiscard]] std::uint64_t relayed() const;
};

/// Returns the seconds from the first byte's start to the last byte's arrival through one helper; excludes far_end.
[[nodiscard]] double relay_time(const RelayCosts& helper, const RelayShape& shape, std::uint64_t bytes);

/// Returns the seconds until the slowest path has moved its part of the payload.
[[nodiscard]] double relay_makespan(const RelayPaths& paths, const RelayShape& shape, const RelaySplit& split);

/// Returns the split with which all paths end as nearly as possible at the same time. Helpers get multiples of
/// `alignment` bytes. All bytes go directly unless relaying saves a fifth of the time. `joining` is added in full to
/// the time of relaying, although a large transfer hides a part of it.
[[nodiscard]] RelaySplit best_relay_split(const RelayPaths& paths, const RelayShape& shape, std::uint64_t bytes,
                                          std::uint64_t alignment);

/// Largest value that best_relay_chunk() returns, in bytes.
inline constexpr std::uint64_t kLongestRelayChunk = std::uint64_t{64} << 20;

/// Returns the chunk size, from 2 MiB to kLongestRelayChunk, with which the split returned by `split_for` takes the
/// least time. If several chunk sizes are equally fast, returns the smallest.
[[nodiscard]] std::uint64_t best_relay_chunk(const RelayPaths& paths, const RelayShape& shape,
                                             const std::function<RelaySplit(const RelayShape&)>& split_for);

/// Returns the split in which helpers get the fraction `share` (0 to 1) of the payload, each an equal part.
[[nodiscard]] RelaySplit even_relay_split(std::size_t helpers, double share, std::uint64_t bytes,
                                          std::uint64_t alignment);

}  // namespace xferbench::model
