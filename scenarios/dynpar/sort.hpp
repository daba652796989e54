// A quicksort driven by the GPU or by the host, for dynpar: its data, both drivers, and the check.
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

/// The closed form of key `index` of `count`. Below 2^31, so that none is what memory is poisoned with.
std::uint32_t sort_key(SortKeys kind, std::uint64_t seed, std::uint32_t index, std::uint32_t count);

/// What is to be done after the partitions among `level`, of which the n-th has splits[n]; the other segments are done.
std::vector<kernels::SortSegment> next_level(std::span<const kernels::SortSegment> level,
                                             std::span<const kernels::SortSplit> splits);

/// What the grids for a level look up: its segments, partitions first and each kind in the order it came in, and behind
/// them for each block of each grid which block of which segment it is.
struct LevelLists {
  struct Grid {
    kernels::SortSegment::Step step;
    std::size_t segments = 0;
    std::uint32_t blocks = 0;
    std::size_t work = 0;  ///< offset of its first block's, in bytes
  };
  std::array<Grid, 3> grids;  ///< of partitions, sorts and fills; without blocks where the level has none
  std::size_t bytes = 0;
};
/// Writes them to `memory`, which is aligned for words and has room for level_lists_room().
LevelLists write_lists(std::span<const kernels::SortSegment> level, std::span<std::byte> memory);
/// Bytes that the lists of any level of a sort of so many keys fit into.
std::size_t level_lists_room(std::uint32_t count);
/// Splits that a level can have, one at least.
std::size_t most_splits(std::uint32_t count);

/// Room for launches that a sort of so many keys may have pending at once: a grid is pending until all that it launched
/// have ended, so nearly all segments can be. Twice as many as even partitions to three quarters of a block would give.
std::size_t sort_launches(std::uint32_t count);

class Sorter : NonCopyable {
 public:
  Sorter(Device& device, std::uint32_t count, SortKeys kind, std::uint64_t seed);
  ~Sorter() { wait_for_all(device_); }

  Region by_device(std::string name);
  /// At most three grids for each level, and one round trip: the sizes of all its partitions are read back together.
  Region by_host(std::string name);

  /// One pass on poisoned memory; all keys must be there, in order. Throws DeviceError where launches failed, else
  /// VerificationError.
  void verify(const Region& region);
  /// Throws DeviceError if any launch has failed since the last verify() began.
  void check_launches() const;

  /// Of the last pass by the host.
  [[nodiscard]] std::size_t round_trips() const { return round_trips_; }
  [[nodiscard]] std::size_t host_launches() const { return host_launches_; }

 private:
  /// The lists of one level on the device. They take turns, since the grids for small segments may be levels behind.
  struct Lists {
    DeviceBuffer memory;
    Event copied;
    Event used;           ///< by the grids for small segments
    bool in_use = false;  ///< `used` has been recorded in this pass
  };

  /// By the host's clock: the host-driven way waits within.
  [[nodiscard]] Region region(std::string name, std::function<void()> submit);
  void poison();
  void check(const std::string& what) const;
  void sort_by_host();
  /// Returns how many splits there will be on the host when the root stream is done.
  std::size_t submit_level(std::span<const kernels::SortSegment> level, Lists& lists);
  void submit_grid(const LevelLists::Grid& grid, const Lists& lists, std::uint32_t depth, const Stream& stream);

  Device& device_;
  std::uint32_t count_;
  LaunchRoom room_;
  std::vector<std::uint32_t> sorted_;  ///< what must come out
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
  Stream root_;         ///< all that the next level waits for: partitions, and the copies of lists and splits
  Stream leaf_stream_;  ///< what no other step waits for: sorts and fills
  std::size_t round_trips_ = 0;
  std::size_t host_launches_ = 0;
};

}  // namespace xferbench
