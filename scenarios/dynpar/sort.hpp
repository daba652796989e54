// A quicksort driven by the GPU or by the host, for dynpar: input keys, both drivers, and verification.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/non_copyable.hpp"
#include "kernels/dynpar/device_sort.hpp"
#include "measure/region.hpp"
#include "scenarios/dynpar/children.hpp"

namespace xferbench {

enum class SortKeys { random, sorted, reversed, equal };
inline constexpr std::array<std::string_view, 4> kSortKeysNames{"random", "sorted", "reversed", "equal"};

/// Returns key number `index` of `count` keys. Keys are below 2^31, so that none equals the poison pattern.
std::uint32_t sort_key(SortKeys kind, std::uint64_t seed, std::uint32_t index, std::uint32_t count);

/// Returns the segments of the level after `level`. splits[n] is the result of the n-th partition in `level`. Segments
/// that are sorted or filled have no segments in the next level.
std::vector<kernels::SortSegment> next_level(std::span<const kernels::SortSegment> level,
                                             std::span<const kernels::SortSplit> splits);

/// Layout of the lists for the grids of one level: the level's segments, grouped by step, followed by one SortWork per
/// block of each grid.
struct LevelLists {
  struct Grid {
    kernels::SortSegment::Step step;
    std::size_t segments = 0;
    std::uint32_t blocks = 0;
    std::size_t work = 0;  ///< byte offset of the SortWork of the grid's first block
  };
  std::array<Grid, 3> grids;  ///< for partitions, sorts and fills; 0 blocks if the level has none
  std::size_t bytes = 0;
};
/// Writes the lists of `level` to `memory`, which must be 4-byte aligned and have level_lists_room() bytes.
LevelLists write_lists(std::span<const kernels::SortSegment> level, std::span<std::byte> memory);
/// Returns an upper bound of LevelLists::bytes for any level of a sort of `count` keys.
std::size_t level_lists_room(std::uint32_t count);
/// Returns an upper bound of the number of partitions, and so of splits, in one level; at least one.
std::size_t most_splits(std::uint32_t count);

/// Returns the limit of pending launches for a sort of `count` keys. A grid is pending until all grids that it launched
/// have ended, so nearly all segments can be pending. The limit is at least twice the number of grids of a sort whose
/// partitions are even and whose smallest segments have three quarters of kBlockSort keys.
std::size_t sort_launches(std::uint32_t count);

class Sorter : NonCopyable {
 public:
  Sorter(Device& device, std::uint32_t count, SortKeys kind, std::uint64_t seed);
  ~Sorter() { wait_for_all(device_); }

  Region by_device(std::string name);
  /// Launches at most three grids per level, then reads back the sizes of all partitions in one round trip.
  Region by_host(std::string name);

  /// Runs one pass on poisoned memory, then compares all keys. Throws DeviceError if launches failed, else
  /// VerificationError if a key is wrong.
  void verify(const Region& region);
  /// Throws DeviceError if any launch has failed since the last verify() began.
  void check_launches() const;

  /// Number of round trips, and of launches by the host, in the last pass of by_host().
  [[nodiscard]] std::size_t round_trips() const { return round_trips_; }
  [[nodiscard]] std::size_t host_launches() const { return host_launches_; }

 private:
  /// Lists of one level in device memory. There are several, because sorts and fills may run levels behind partitions.
  struct Lists {
    DeviceBuffer memory;
    Event copied;
    Event used;           ///< recorded after the sorts and fills that read the lists
    bool in_use = false;  ///< whether `used` has been recorded in this pass
  };

  /// Returns a region timed by the host's clock, because by_host() waits for the device within a pass.
  [[nodiscard]] Region region(std::string name, std::function<void()> submit);
  void poison();
  void check(const std::string& what) const;
  void sort_by_host();
  /// Launches the steps of one level. Returns the number of splits that are in host memory once root_ is synchronized.
  std::size_t submit_level(std::span<const kernels::SortSegment> level, Lists& lists);
  void submit_grid(const LevelLists::Grid& grid, const Lists& lists, std::uint32_t depth, const Stream& stream);

  Device& device_;
  std::uint32_t count_;
  LaunchRoom room_;
  std::vector<std::uint32_t> sorted_;  ///< the expected result
  DeviceBuffer input_;
  DeviceBuffer keys_;
  DeviceBuffer scratch_;
  DeviceBuffer counters_;
  DeviceBuffer splits_;
  HostBuffer splits_on_host_;
  HostBuffer lists_on_host_;
  std::array<Lists, 4> lists_;
  LaunchLog log_;
  kernels::SortArgs args_;
  Stream root_;         ///< work that the next level waits for: partition kernels, copies of lists
  Stream leaf_stream_;  ///< sorts and fills, on which no other step depends
  std::size_t round_trips_ = 0;
  std::size_t host_launches_ = 0;
};

}  // namespace xferbench
