// A quicksort whose recursion depends on the data, driven by the GPU or by the host. Both ways run the same kernels on
// the same segments of the array; they differ only in who looks at the sizes that a partition came out with, and
// launches what is to be done with the two sides: the kernel that partitioned, or the host, which must read the sizes
// back first.
//
// Keys go from one of two arrays to the other by partitions and end in the first: the left side holds what is less than
// the pivot, the right side what is greater, and all that equals it is done. Segments of at most kBlockSort keys are
// sorted by one block in shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/kernel.hpp"
#include "kernels/device_launch.hpp"

namespace xferbench::kernels {

inline constexpr std::uint32_t kBlockSort = 4096;      ///< keys that one block sorts in shared memory
inline constexpr std::uint32_t kPartitionTile = 4096;  ///< keys that one block partitions
/// Partitions that may follow from one another; a segment that is large even then is sorted by one block, slowly. CUDA
/// lets grids nest 24 deep.
inline constexpr std::uint32_t kMostPartitions = 20;

/// A part of the array, and what is to be done with it.
struct SortSegment {
  enum class Step : std::uint32_t {
    nothing,    ///< no keys
    partition,  ///< from the array it is in to the other
    sort,       ///< by one block, to where the result is wanted
    fill,       ///< with one key: the middle of a partition
  };
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t depth = 0;  ///< partitions that it went through; after an even number its keys are in the first array
  std::uint32_t key = 0;    ///< of Step::fill
  Step step = Step::nothing;
};

/// What a partition found.
struct SortSplit {
  std::uint32_t less = 0;
  std::uint32_t greater = 0;
  std::uint32_t pivot = 0;
};

/// The segment of `count` keys, with its step.
constexpr SortSegment sort_segment(std::uint32_t first, std::uint32_t count, std::uint32_t depth) {
  if (count == 0) return {first, count, depth, 0, SortSegment::Step::nothing};
  const bool large = count > kBlockSort && depth < kMostPartitions;
  return {first, count, depth, 0, large ? SortSegment::Step::partition : SortSegment::Step::sort};
}

/// What is left to do of a segment that was partitioned.
constexpr SortSegment left_side(const SortSegment& whole, const SortSplit& split) {
  return sort_segment(whole.first, split.less, whole.depth + 1);
}
constexpr SortSegment right_side(const SortSegment& whole, const SortSplit& split) {
  return sort_segment(whole.first + whole.count - split.greater, split.greater, whole.depth + 1);
}
constexpr SortSegment middle(const SortSegment& whole, const SortSplit& split) {
  const std::uint32_t count = whole.count - split.less - split.greater;
  return {whole.first + split.less, count, whole.depth + 1, split.pivot, SortSegment::Step::fill};
}

/// Whether a middle is worth a launch of its own; the last block of the partition fills a narrow one by itself.
constexpr bool is_wide(const SortSegment& middle) { return middle.count > kPartitionTile; }

constexpr std::uint32_t partition_blocks(std::uint32_t count) { return (count + kPartitionTile - 1) / kPartitionTile; }

/// What the blocks that partition one segment share, in device memory; zero before the first launch. The last of them
/// leaves zeros in all but `split`.
struct SortCounters {
  std::uint32_t less = 0;
  std::uint32_t greater = 0;
  std::uint32_t done = 0;  ///< blocks
  SortSplit split;
};

/// Segments that are partitioned at the same time begin more than kBlockSort keys apart, so each has counters of its
/// own; a left side has those of the segment that it comes from, which has ended with them.
constexpr std::uint32_t counters_of(std::uint32_t first) { return first / kBlockSort; }
constexpr std::size_t counters_needed(std::uint32_t count) { return count / kBlockSort + 1; }

/// Device memory; all but `status` is shared by all segments.
struct SortArgs {
  std::uint32_t* keys = nullptr;     ///< what is sorted, in place
  std::uint32_t* scratch = nullptr;  ///< as many
  SortCounters* counters = nullptr;  ///< counters_needed()
  LaunchStatus* status = nullptr;    ///< of launches from the device
};

/// One step for one segment, launched by the host.
class SortStep final : public Kernel {
 public:
  SortStep(const SortArgs& args, const SortSegment& segment) : args_(args), segment_(segment) {}

  [[nodiscard]] std::string_view name() const override { return "sort-step"; }
  [[nodiscard]] KernelCost cost() const override;
  /// Of a partition the array that it writes to, else the keys.
  [[nodiscard]] std::span<std::byte> output() const override;
  /// Of the two sides of a partition only which keys they hold is specified, in no order, and nothing of its middle,
  /// which is filled in where the result is wanted.
  void compute(std::span<std::byte> result) const override;
  [[nodiscard]] std::unique_ptr<Kernel> clone() const override { return std::make_unique<SortStep>(*this); }
#if XFERBENCH_WITH_CUDA
  void preload() const override;
  void launch(void* cuda_stream) const override;
#endif

 private:
  [[nodiscard]] std::uint32_t* source() const { return segment_.depth % 2 == 0 ? args_.keys : args_.scratch; }
  [[nodiscard]] std::uint32_t* destination() const;

  SortArgs args_;
  SortSegment segment_;
};

/// The whole sort of `count` keys, driven by the device: the host launches one kernel.
class DeviceSort final : public Kernel {
 public:
  DeviceSort(const SortArgs& args, std::uint32_t count) : args_(args), count_(count) {}

  [[nodiscard]] std::string_view name() const override { return "device-sort"; }
  [[nodiscard]] KernelCost cost() const override;
  [[nodiscard]] std::span<std::byte> output() const override {
    return std::as_writable_bytes(std::span(args_.keys, count_));
  }
  void compute(std::span<std::byte> result) const override;
  [[nodiscard]] std::unique_ptr<Kernel> clone() const override { return std::make_unique<DeviceSort>(*this); }
#if XFERBENCH_WITH_CUDA
  void preload() const override;
  void launch(void* cuda_stream) const override;
#endif

 private:
  SortArgs args_;
  std::uint32_t count_;
};

/// The pivot of a segment: the median of nine keys that lie evenly spread over it, which is the true median of sorted
/// keys. `count` is at least one.
constexpr std::uint32_t sort_pivot(const std::uint32_t* keys, std::uint32_t count) {
  constexpr std::uint32_t kSamples = 9;
  std::uint32_t sample[kSamples] = {};
  for (std::uint32_t i = 0; i < kSamples; ++i) {
    const std::uint32_t key = keys[static_cast<std::uint64_t>(count - 1) * i / (kSamples - 1)];
    std::uint32_t at = i;
    for (; at > 0 && sample[at - 1] > key; --at) sample[at] = sample[at - 1];
    sample[at] = key;
  }
  return sample[kSamples / 2];
}

}  // namespace xferbench::kernels
