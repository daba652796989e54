// Not a scenario: a walk of dependent reads through memory of the GPU, of another one or of the host, for what a single
// read costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "kernels/chase.hpp"
#include "measure/region.hpp"
#include "run/scenario.hpp"

namespace xferbench {

/// For each of `count` places the next one, such that from any place one comes through all of them before coming back:
/// one cycle, chosen at random among all there are (Sattolo's algorithm). `count` from 1 to 2^32.
std::vector<std::uint32_t> random_cycle(std::size_t count, std::uint64_t seed);

/// The place `hops` steps behind `from`.
std::size_t walk(std::span<const std::uint32_t> next, std::size_t from, std::size_t hops);

enum class ChaseMemory { device, host };

/// Memory full of pointers in a random cycle, which the GPU follows.
class PointerChase {
 public:
  /// `bytes` is rounded down to whole lines, of which there must be one.
  PointerChase(Device& device, ChaseMemory where, std::size_t bytes, std::uint64_t seed);
  /// Through memory of `owner`, another GPU, which `device` can reach while this lives. `cached`: the owner walks
  /// first, so that the lines of a pass lie in its second-level cache; reads by others do not bring them there.
  PointerChase(Device& device, Device& owner, std::size_t bytes, std::uint64_t seed, bool cached);

  /// Follows kernels::kChaseHops more pointers and waits. A pass begins where the one before ended, so that it comes to
  /// lines that no cache has seen while the memory is larger than the caches. Throws VerificationError unless it ends
  /// where the host's own walk does.
  const kernels::ChaseLog& pass(kernels::ChaseTimes times = kernels::ChaseTimes::each_hop,
                                kernels::ChaseBlock block = {});
  /// A pass, of which each hop is a sample of the part kLatency.
  [[nodiscard]] Region region();
  /// A pass by each multiprocessor in turn, as it matters on which of them a reader runs. Samples of the part kLatency
  /// are the mean hop of all, those of kNearest and kFarthest that of the fastest and the slowest of them. Hops are not
  /// timed one by one: reading the clock would add some percent to what a read over a link takes.
  [[nodiscard]] Region region_of_all_multiprocessors();
  static constexpr const char* kNearest = "nearest";
  static constexpr const char* kFarthest = "farthest";
  /// That walked when all did, as told by themselves; 0 before.
  [[nodiscard]] std::size_t multiprocessors() const { return multiprocessors_; }
  /// The rate by which cycles of the last pass became seconds; 0 before the first.
  [[nodiscard]] double clock_rate() const { return clock_rate_; }

  /// What the constructor holds at once.
  static MemoryNeeds needs(ChaseMemory where, std::size_t bytes);

 private:
  PointerChase(Device& device, std::size_t lines, std::uint64_t seed);
  void build_in(Device& owner);
  void build(std::byte* memory) const;
  [[nodiscard]] const kernels::ChaseLine* line(std::size_t index) const { return lines_ + index; }

  Device& device_;
  std::vector<std::uint32_t> next_;
  DeviceBuffer on_device_;  // one of the two, of whatever device
  HostBuffer on_host_;
  const kernels::ChaseLine* lines_ = nullptr;  // as the GPU knows them
  HostBuffer log_memory_;
  kernels::ChaseLog* log_ = nullptr;
  Stream stream_;
  std::size_t at_ = 0;  // where the next pass begins
  double clock_rate_ = 0;
  std::size_t multiprocessors_ = 0;
  Stream owner_walks_;  // where the owner does
};

}  // namespace xferbench
