// A payload that reaches one GPU over several links: a part directly, the rest through other GPUs, which pass it on
// chunk by chunk. How long that takes, and how to share the payload out. Pure functions; times in seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace xferbench::model {

/// One GPU that passes chunks on. It holds a few of them at once, each in a slot, and takes the next one over its first
/// link while the last one leaves over its second.
struct RelayCosts {
  double first_rate = 0;   ///< bytes per second, while all other GPUs move theirs, too
  double second_rate = 0;  ///< the same of the link on which it passes them on
  double first_copy = 0;   ///< seconds that each copy takes beside its bytes
  double second_copy = 0;
  double hand_over = 0;  ///< from the end of one copy to the start of the next one that waits for it
};

/// All ways to the GPU in question.
struct RelayPaths {
  double direct_rate = 0;  ///< bytes per second of its own link, while the helpers move theirs, too
  double direct_copy = 0;  ///< seconds beside the bytes
  double far_end = 0;      ///< from a helper's end to the target's knowing of it
  double joining = 0;  ///< seconds that it takes all to begin and end together, where there is next to nothing to do
  std::vector<RelayCosts> helpers{};
};

/// How chunks are passed on.
struct RelayShape {
  std::uint64_t chunk = 0;       ///< bytes of the longest at most
  std::size_t slots = 1;         ///< chunks that a helper holds at once
  bool last_leg_is_fast = true;  ///< else the first: where the short chunks are
};

/// The chunks that so many bytes are passed on in. While the slower link carries them, the faster one waits for the
/// first or is behind with the last: so chunks get shorter towards that end, down to two mebibytes.
[[nodiscard]] std::vector<std::uint64_t> relay_chunks(const RelayShape& shape, std::uint64_t bytes);

/// Bytes of each slot that so many bytes are passed on through: of the longest chunk that takes its turn there. A slot
/// that nothing would go through is none.
[[nodiscard]] std::vector<std::uint64_t> relay_slots(const RelayShape& shape, std::uint64_t bytes);

/// Who carries how many bytes.
struct RelaySplit {
  std::uint64_t direct = 0;
  std::vector<std::uint64_t> through;  ///< each helper

  [[nodiscard]] std::uint64_t relayed() const;
};

/// From the first byte's start to the last one's arrival, of `bytes` through one helper; far_end is not part of it.
[[nodiscard]] double relay_time(const RelayCosts& helper, const RelayShape& shape, std::uint64_t bytes);

/// Of the whole payload: the slowest of all ways.
[[nodiscard]] double relay_makespan(const RelayPaths& paths, const RelayShape& shape, const RelaySplit& split);

/// The split in which all ways end together, as far as that goes: parts of helpers are whole multiples of `alignment`.
/// All of it goes directly where that would not save a fifth, joining counted in full: little does not hide any of it.
[[nodiscard]] RelaySplit best_relay_split(const RelayPaths& paths, const RelayShape& shape, std::uint64_t bytes,
                                          std::uint64_t alignment);

/// The longest chunk that best_relay_chunk() chooses.
inline constexpr std::uint64_t kLongestRelayChunk = std::uint64_t{64} << 20;

/// The chunk, of those from 2 MiB to the longest, with which the split that `split_for` returns for a shape takes
/// least; the shortest of those that are as good.
[[nodiscard]] std::uint64_t best_relay_chunk(const RelayPaths& paths, const RelayShape& shape,
                                             const std::function<RelaySplit(const RelayShape&)>& split_for);

/// The split that gives the helpers `share` of the payload (0 to 1), each as much as its neighbour.
[[nodiscard]] RelaySplit even_relay_split(std::size_t helpers, double share, std::uint64_t bytes,
                                          std::uint64_t alignment);

}  // namespace xferbench::model
