// A quicksort with data-dependent recursion, driven by the GPU or by the host. Both variants use the same device code
// on the same segments. They differ in who reads the sizes that a partition produced, and in how the next steps are
// launched:
//
//   by the GPU   the last block of each partition launches one grid per side, as soon as the sizes are known
//   by the host  the host reads back the sizes of all partitions of a level, then launches up to three grids for the
//                next level: one for all partitions, one for all sorts, one for all fills
//
// The first step reads the input and leaves it unchanged. Partitions move keys alternately to `scratch` and to `keys`,
// where the result must end: keys less than the pivot go left, greater keys go right, equal keys fill the middle.
// One block sorts a segment of at most kBlockSort keys in shared memory.
#pragma once

#include "device/kernel.hpp"
#include "kernels/dynpar/device_launch.hpp"

namespace xferbench::kernels {

inline constexpr std::uint32_t kBlockSort = 4096;      ///< keys that one block sorts in shared memory
inline constexpr std::uint32_t kPartitionTile = 4096;  ///< keys that one block partitions
/// Maximum depth of partitions. A segment that is still large at this depth is sorted by one block, slowly. CUDA allows
/// grids to nest 24 deep.
inline constexpr std::uint32_t kMostPartitions = 22;

/// A range of the array of keys, and the next step of the sort for this range.
struct SortSegment {
  enum class Step : std::uint32_t {
    nothing,    ///< no keys
    partition,  ///< moves the keys to the other array (see keys_before, keys_after)
    sort,       ///< one block sorts the keys into SortArgs::keys
    fill,       ///< writes `key` to all positions; for the middle of a partition
  };
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t depth = 0;  ///< number of partitions so far; selects the array with the keys (keys_before())
  std::uint32_t key = 0;    ///< value to write; for Step::fill only
  Step step = Step::nothing;
};

/// Result of a partition: the numbers of keys below and above the pivot, and the pivot.
struct SortSplit {
  std::uint32_t less = 0;
  std::uint32_t greater = 0;
  std::uint32_t pivot = 0;
};

constexpr SortSegment sort_segment(std::uint32_t first, std::uint32_t count, std::uint32_t depth) {
  if (count == 0) return {first, count, depth, 0, SortSegment::Step::nothing};
  const bool large = count > kBlockSort && depth < kMostPartitions;
  return {first, count, depth, 0, large ? SortSegment::Step::partition : SortSegment::Step::sort};
}

/// These functions return the three segments into which a partition divides `whole`: left side, right side and middle.
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

/// Whether a separate grid fills the middle of a partition. Otherwise the last block of the partition fills it.
constexpr bool is_wide(const SortSegment& middle) { return middle.count > kPartitionTile; }

/// Returns the number of blocks that partition or fill `count` keys.
constexpr std::uint32_t partition_blocks(std::uint32_t count) { return (count + kPartitionTile - 1) / kPartitionTile; }

constexpr std::uint32_t step_blocks(const SortSegment& segment) {
  return segment.step == SortSegment::Step::sort ? 1 : partition_blocks(segment.count);
}

/// Counters in device memory that are shared by the blocks that partition one segment. They must be zero before the
/// first launch. The last block resets them to zero.
struct SortCounters {
  std::uint32_t less = 0;
  std::uint32_t greater = 0;
  std::uint32_t done = 0;  ///< number of blocks that have finished
};

/// Returns the index of a segment's counters. Segments that are partitioned at the same time begin more than kBlockSort
/// keys apart, so each has its own counters. A left side reuses the counters of the partition that produced it.
constexpr std::uint32_t counters_of(std::uint32_t first) { return first / kBlockSort; }
constexpr std::size_t counters_needed(std::uint32_t count) { return count / kBlockSort + 1; }

/// Arguments of all steps of a sort: pointers to device memory.
struct SortArgs {
  const std::uint32_t* input = nullptr;  ///< keys to sort; only read
  std::uint32_t* keys = nullptr;         ///< the sorted keys; same size as `input`
  std::uint32_t* scratch = nullptr;      ///< second array for partitions; same size as `input`
  SortCounters* counters = nullptr;      ///< counters_needed() elements
  LaunchStatus* status = nullptr;        ///< errors of launches from the device
};

/// Returns the array that holds a segment's keys before its next step. `depth`: number of partitions so far.
constexpr const std::uint32_t* keys_before(const SortArgs& args, std::uint32_t depth) {
  if (depth == 0) return args.input;
  return depth % 2 == 0 ? args.keys : args.scratch;
}

/// Returns the array to which a partition writes its two sides.
constexpr std::uint32_t* keys_after(const SortArgs& args, std::uint32_t depth) {
  return depth % 2 == 0 ? args.scratch : args.keys;
}

// --- Driven by the host ----------------------------------------------------------------------------------------------

/// The segment on which one block of a host-launched grid works, and the block's index in this segment.
struct SortWork {
  std::uint32_t segment = 0;  ///< index in SortBatch::segments
  std::uint32_t block = 0;    ///< index of the block in the segment, less than step_blocks()
};

/// The segments of a level that have the same step. The pointers are to device memory.
struct SortBatch {
  SortSegment::Step step = SortSegment::Step::nothing;
  std::uint32_t depth = 0;
  const SortSegment* segments = nullptr;
  const SortWork* work = nullptr;  ///< one element per block of the grid
  std::uint32_t blocks = 0;
  SortSplit* splits = nullptr;  ///< for Step::partition: result of each partition, at the index of its segment
};

/// One grid that executes the step of a batch, launched by the host.
class SortGrid final : public KernelOf<SortGrid> {
 public:
  /// `count`: number of keys in the whole array.
  SortGrid(const SortArgs& args, const SortBatch& batch, std::uint32_t count)
      : args_(args), batch_(batch), count_(count) {}

  [[nodiscard]] std::string_view name() const override { return "sort-grid"; }
  [[nodiscard]] KernelCost cost() const override;
  /// The whole array that this batch writes: keys_after() for partitions, else SortArgs::keys.
  [[nodiscard]] std::span<std::byte> output() const override;
  /// Computes the reference result. After a partition, each side holds the correct keys in unspecified order, and the
  /// keys of the middle are unspecified. Does not write SortBatch::splits.
  void compute(std::span<std::byte> result) const override;
#if XFERBENCH_WITH_CUDA
  void preload() const override;
  void launch(void* cuda_stream) const override;
#endif

 private:
  [[nodiscard]] std::uint32_t* destination() const;

  SortArgs args_;
  SortBatch batch_;
  std::uint32_t count_;
};

// --- Driven by the device --------------------------------------------------------------------------------------------

/// Sorts `count` keys under control of the device: the host launches a single kernel.
class DeviceSort final : public KernelOf<DeviceSort> {
 public:
  DeviceSort(const SortArgs& args, std::uint32_t count) : args_(args), count_(count) {}

  [[nodiscard]] std::string_view name() const override { return "device-sort"; }
  [[nodiscard]] KernelCost cost() const override;
  [[nodiscard]] std::span<std::byte> output() const override {
    return std::as_writable_bytes(std::span(args_.keys, count_));
  }
  void compute(std::span<std::byte> result) const override;
#if XFERBENCH_WITH_CUDA
  void preload() const override;
  void launch(void* cuda_stream) const override;
#endif

 private:
  SortArgs args_;
  std::uint32_t count_;
};

/// Sorts on the host, ascending (radix sort): several times as fast as std::sort for millions of keys.
void sort_keys(std::vector<std::uint32_t>& keys);

/// Returns the pivot of a segment: the median of nine evenly spaced keys, which is the true median if the keys are
/// sorted. `count` must be at least 1.
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
