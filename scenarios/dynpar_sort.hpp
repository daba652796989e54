// A quicksort driven by the GPU or by the host, for dynpar: its data, both drivers, and the check.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device_sort.hpp"
#include "measure/region.hpp"
#include "scenarios/dynpar_children.hpp"

namespace xferbench {

enum class SortKeys { random, sorted, reversed, equal };
inline constexpr std::array<std::string_view, 4> kSortKeysNames{"random", "sorted", "reversed", "equal"};

/// The closed form of key `index` of `count`.
std::uint32_t sort_key(SortKeys kind, std::uint64_t seed, std::uint32_t index, std::uint32_t count);

/// What is to be done after the partitions among `level`, whose counters are given; the other segments are done.
std::vector<kernels::SortSegment> next_level(std::span<const kernels::SortSegment> level,
                                             std::span<const kernels::SortCounters> counters);

/// Room for launches that a sort of so many keys may have pending at once: a grid is pending until all that it launched
/// have ended, so nearly all segments can be. Twice as many as even partitions to three quarters of a block would give.
std::size_t sort_launches(std::uint32_t count);

class Sorter {
 public:
  Sorter(Device& device, std::uint32_t count, SortKeys kind, std::uint64_t seed);

  Region by_device(std::string name);
  /// Reads the sizes back after each level of partitions. Launches the steps one by one, over many streams.
  Region by_host(std::string name);

  /// One pass; all keys must be there, in order. Throws DeviceError where launches failed, else VerificationError.
  void verify(const Region& region);
  /// Throws DeviceError if any launch has failed since the last verify() began.
  void check_launches() const;

  /// Of the last pass by the host.
  [[nodiscard]] std::size_t round_trips() const { return round_trips_; }
  [[nodiscard]] std::size_t host_launches() const { return host_launches_; }

 private:
  /// By the host's clock: the host-driven way waits within.
  [[nodiscard]] Region region(std::string name, std::function<void()> submit);
  void restore();
  void sort_by_host();
  void read_counters(std::size_t partitions);

  Device& device_;
  std::uint32_t count_;
  LaunchRoom room_;
  std::vector<std::uint32_t> sorted_;  ///< what must come out
  DeviceBuffer input_;
  DeviceBuffer keys_;
  DeviceBuffer scratch_;
  DeviceBuffer counters_;
  HostBuffer counters_on_host_;
  LaunchLog log_;
  kernels::SortArgs args_;
  std::vector<Stream> partition_streams_;  // the root first
  std::vector<Stream> leaf_streams_;
  std::vector<Event> joined_;
  std::size_t round_trips_ = 0;
  std::size_t host_launches_ = 0;
};

}  // namespace xferbench
