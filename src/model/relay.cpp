#include "model/relay.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace xferbench::model {

namespace {

constexpr int kHalvings = 60;  // number of steps of the binary search over time; enough for a double's precision

/// Minimum bytes per chunk, unless fewer are left. A fast link moves them in about twice the fixed cost of a copy.
constexpr std::uint64_t kShortest = std::uint64_t{2} << 20;

/// A split must take at most this fraction of the direct time, because the model is not accurate enough for small
/// gains.
constexpr double kWorthwhile = 0.8;

double seconds(std::uint64_t bytes, double rate) { return static_cast<double>(bytes) / rate; }

/// Returns the most bytes, up to `most`, that a helper GPU relays within `time` seconds, as a multiple of `alignment`.
std::uint64_t bytes_within(const RelayCosts& helper, const RelayShape& shape, double time, std::uint64_t most,
                           std::uint64_t alignment) {
  std::uint64_t low = 0;
  std::uint64_t high = most / alignment;
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    if (relay_time(helper, shape, middle * alignment) <= time) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low * alignment;
}

/// Gives each helper GPU the bytes that it relays within `time` seconds. The remaining bytes go directly.
RelaySplit split_within(const RelayPaths& paths, const RelayShape& shape, double time, std::uint64_t bytes,
                        std::uint64_t alignment) {
  RelaySplit split{bytes, {}};
  for (const RelayCosts& helper : paths.helpers) {
    const std::uint64_t part = bytes_within(helper, shape, time - paths.far_end, split.direct, alignment);
    split.through.push_back(part);
    split.direct -= part;
  }
  return split;
}

double direct_time(const RelayPaths& paths, std::uint64_t bytes) {
  return bytes == 0 ? 0 : paths.direct_copy + seconds(bytes, paths.direct_rate);
}

}  // namespace

std::uint64_t RelaySplit::relayed() const { return std::accumulate(through.begin(), through.end(), std::uint64_t{0}); }

std::vector<std::uint64_t> relay_chunks(const RelayShape& shape, std::uint64_t bytes) {
  std::vector<std::uint64_t> chunks;
  while (bytes > 0) {
    // The last chunk should be short, because nothing overlaps its copy over the faster link. So each chunk leaves at
    // least an eighth of the remaining bytes. This suits a link that is seven times as fast, such as NVLink compared
    // with PCIe. For other links shape.chunk is the limit.
    const std::uint64_t most = std::max(kShortest, bytes / 8 * 7 / kShortest * kShortest);
    chunks.push_back(std::min({shape.chunk, most, bytes}));
    bytes -= chunks.back();
  }
  if (!shape.last_leg_is_fast) std::ranges::reverse(chunks);
  return chunks;
}

std::vector<std::uint64_t> relay_slots(const RelayShape& shape, std::uint64_t bytes) {
  const std::vector<std::uint64_t> chunks = relay_chunks(shape, bytes);
  std::vector<std::uint64_t> slots(std::min(shape.slots, chunks.size()));
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    std::uint64_t& slot = slots[i % slots.size()];
    slot = std::max(slot, chunks[i]);
  }
  return slots;
}

/// Each link copies one chunk at a time. A copy over the first link needs a free slot. A copy over the second link
/// starts only after the chunk has arrived in the helper.
double relay_time(const RelayCosts& helper, const RelayShape& shape, std::uint64_t bytes) {
  double arrived = 0;  // end of the latest copy over the first link
  double gone = 0;     // end of the latest copy over the second link
  std::vector<double> slot_free(shape.slots);
  std::size_t slot = 0;
  for (const std::uint64_t chunk : relay_chunks(shape, bytes)) {
    arrived = std::max(arrived, slot_free[slot]) + helper.first_copy + seconds(chunk, helper.first_rate);
    gone = std::max(gone, arrived + helper.hand_over) + helper.second_copy + seconds(chunk, helper.second_rate);
    slot_free[slot] = gone + helper.hand_over;
    slot = (slot + 1) % shape.slots;
  }
  return gone;
}

double relay_makespan(const RelayPaths& paths, const RelayShape& shape, const RelaySplit& split) {
  double longest = direct_time(paths, split.direct);
  for (std::size_t i = 0; i < split.through.size(); ++i) {
    if (split.through[i] == 0) continue;
    longest = std::max(longest, relay_time(paths.helpers[i], shape, split.through[i]) + paths.far_end);
  }
  return longest;
}

RelaySplit best_relay_split(const RelayPaths& paths, const RelayShape& shape, std::uint64_t bytes,
                            std::uint64_t alignment) {
  double low = 0;
  double high = direct_time(paths, bytes);
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    const RelaySplit split = split_within(paths, shape, middle, bytes, alignment);
    (direct_time(paths, split.direct) <= middle ? high : low) = middle;
  }
  const double unhidden = std::max(0.0, paths.joining - paths.far_end);
  if (high + unhidden > kWorthwhile * direct_time(paths, bytes)) {
    return even_relay_split(paths.helpers.size(), 0, bytes, alignment);
  }
  return split_within(paths, shape, high, bytes, alignment);
}

std::uint64_t best_relay_chunk(const RelayPaths& paths, const RelayShape& shape,
                               const std::function<RelaySplit(const RelayShape&)>& split_for) {
  constexpr double kAsGood = 1.001;
  double least = std::numeric_limits<double>::infinity();
  RelayShape best = shape;
  for (std::uint64_t chunk = kLongestRelayChunk; chunk >= kShortest; chunk /= 2) {
    const RelayShape tried{chunk, shape.slots, shape.last_leg_is_fast};
    const double time = relay_makespan(paths, tried, split_for(tried));
    if (time <= least * kAsGood) best = tried;
    least = std::min(least, time);
  }
  return best.chunk;
}

RelaySplit even_relay_split(std::size_t helpers, double share, std::uint64_t bytes, std::uint64_t alignment) {
  RelaySplit split{bytes, std::vector<std::uint64_t>(helpers)};
  if (helpers == 0) return split;
  const double each = static_cast<double>(bytes) * share / static_cast<double>(helpers);
  const std::uint64_t part = static_cast<std::uint64_t>(std::round(each / static_cast<double>(alignment))) * alignment;
  for (std::uint64_t& through : split.through) {
    through = std::min(part, split.direct);
    split.direct -= through;
  }
  return split;
}

}  // namespace xferbench::model
