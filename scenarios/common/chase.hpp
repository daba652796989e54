// Measures the latency of single loads by a pointer chase through memory of the GPU, another GPU or the host.
#pragma once

#include <cstddef>

#include "device/device.hpp"
#include "kernels/chase.hpp"
#include "measure/region.hpp"
#include "run/scenario.hpp"

namespace xferbench {

/// Returns the successor of each of `count` elements (1 to 2^32), which form a single cycle through all of them, chosen
/// uniformly at random (Sattolo's algorithm).
std::vector<std::uint32_t> random_cycle(std::size_t count, std::uint64_t seed);

/// Returns the element that is reached from `from` after `hops` hops.
std::size_t walk(std::span<const std::uint32_t> next, std::size_t from, std::size_t hops);

enum class ChaseMemory { device, host };

/// Memory filled with pointers in a random cycle, which a GPU kernel follows.
class PointerChase {
 public:
  /// `bytes` is rounded down to whole lines of 128 bytes; must be at least one line.
  PointerChase(Device& device, ChaseMemory where, std::size_t bytes, std::uint64_t seed);
  /// Uses memory of `owner`, another GPU, to which `device` must have peer access while this object lives. With
  /// `cached`, `owner` reads the same lines before each pass, so that the L2 of `owner` contains them; reads by peers
  /// are not cached in that L2.
  PointerChase(Device& device, Device& owner, std::size_t bytes, std::uint64_t seed, bool cached);

  /// Follows kernels::kChaseHops pointers and waits. A pass starts where the previous one ended, so it reads uncached
  /// lines as long as the memory is larger than the caches. Throws VerificationError if the kernel ends at the wrong
  /// line.
  const kernels::ChaseLog& pass(kernels::ChaseTimes times = kernels::ChaseTimes::each_hop,
                                kernels::ChaseBlock block = {});
  /// A region that runs one pass; each hop is one sample of the region part kLatency, in seconds.
  [[nodiscard]] Region region();
  /// A region that runs one pass on each multiprocessor in turn, because latency depends on the reader's location on
  /// the chip. Samples of kLatency are the mean time per hop on all multiprocessors; samples of kNearest and kFarthest
  /// are the mean time per hop on the fastest and on the slowest one. Hops are not timed one by one, because reading
  /// the clock would add some percent to a read over a link.
  [[nodiscard]] Region region_of_all_multiprocessors();
  static constexpr const char* kNearest = "nearest";
  static constexpr const char* kFarthest = "farthest";
  /// Returns the number of distinct multiprocessors in the last pass of region_of_all_multiprocessors(), as reported by
  /// the kernel; 0 before the first pass.
  [[nodiscard]] std::size_t multiprocessors() const { return multiprocessors_; }
  /// Returns the clock rate of the multiprocessor in the last pass, in Hz; 0 before the first pass.
  [[nodiscard]] double clock_rate() const { return clock_rate_; }

  /// Returns the memory that the constructor needs at its peak.
  static MemoryNeeds needs(ChaseMemory where, std::size_t bytes);

 private:
  PointerChase(Device& device, std::size_t lines, std::uint64_t seed);
  void build_in(Device& owner);
  void build(std::byte* memory) const;
  [[nodiscard]] const kernels::ChaseLine* line(std::size_t index) const { return lines_ + index; }

  Device& device_;
  std::vector<std::uint32_t> next_;
  DeviceBuffer on_device_;  // memory of `device_` or of the other GPU that owns it; unused if `on_host_` is used
  HostBuffer on_host_;
  const kernels::ChaseLine* lines_ = nullptr;  // device address of the first line
  HostBuffer log_memory_;
  kernels::ChaseLog* log_ = nullptr;
  Stream stream_;
  std::size_t at_ = 0;  // index of the line at which the next pass starts
  double clock_rate_ = 0;
  std::size_t multiprocessors_ = 0;
  Stream owner_walks_;  // with `cached`: stream in which the other GPU reads the lines to load them into its own L2
};

}  // namespace xferbench
