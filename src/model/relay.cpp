#include "model/relay.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace xferbench::model {

namespace {

constexpr int kHalvings = 60;  // of the time that is searched for: more than a double has digits

double seconds(std::uint64_t bytes, double rate) { return static_cast<double>(bytes) / rate; }

/// The most bytes that a helper passes on within `time`, a multiple of `alignment`.
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

/// What fits into `time`: helpers first, the rest directly, whether that fits or not.
RelaySplit split_within(const RelayPaths& paths, const RelayShape& shape, double time, std::uint64_t bytes,
                        std::uint64_t alignment) {
  RelaySplit split{bytes, {}};
  for (const RelayCosts& helper : paths.helpers) {
    const std::uint64_t part = bytes_within(helper, shape, time, split.direct, alignment);
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

/// Two stages in turn. With enough slots the slower one never waits; with few of them a chunk's slot is free only when
/// the chunk has gone, and so many chunks take as long as one chunk's whole way.
double relay_time(const RelayCosts& helper, const RelayShape& shape, std::uint64_t bytes) {
  if (bytes == 0) return 0;
  const std::uint64_t chunks = (bytes + shape.chunk - 1) / shape.chunk;
  const auto of_chunk = [&](std::uint64_t size) {
    return std::pair(helper.first_copy + seconds(size, helper.first_rate),
                     helper.second_copy + seconds(size, helper.second_rate) + helper.hand_over);
  };
  const std::uint64_t last = bytes - (chunks - 1) * shape.chunk;
  const auto [first, second] = of_chunk(std::min(shape.chunk, bytes));
  const auto [last_first, last_second] = of_chunk(last);
  if (chunks == 1) return last_first + last_second;
  const double whole_way = first + second + helper.hand_over;  // until its slot may be filled again
  const double step = std::max({first, second, whole_way / static_cast<double>(shape.slots)});
  // All but the last at their pace; the last one, which may be short, has its own way.
  const double before_last = static_cast<double>(chunks - 1) * step;
  const double behind_the_slower = first + static_cast<double>(chunks - 1) * step + last_second;
  return std::max(before_last + last_first + last_second, behind_the_slower);
}

double relay_makespan(const RelayPaths& paths, const RelayShape& shape, const RelaySplit& split) {
  double longest = direct_time(paths, split.direct);
  for (std::size_t i = 0; i < split.through.size(); ++i) {
    longest = std::max(longest, relay_time(paths.helpers[i], shape, split.through[i]));
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
  return split_within(paths, shape, high, bytes, alignment);
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
