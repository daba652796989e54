// A quicksort whose recursion depends on the data, driven by the GPU or by the host. What a block does with its part of
// a segment is the same code in both ways, on the same segments of the array. Who looks at the sizes that a partition
// came out with differs, and so does how the rest is launched, each way at its best:
//
//   by the GPU   the last block of each partition launches a grid for each side, as soon as it knows them
//   by the host  it reads the sizes of all partitions of a level back, then launches one grid for all partitions of the
//                next level, one for all segments to be sorted, and one for all to be filled
//
// The keys are read from the input by the first step, which leaves it as it is, and go from one of two arrays to the
// other by partitions, to end in the first: the left side holds what is less than the pivot, the right side what is
// greater, and all that equals it is done. Segments of at most kBlockSort keys are sorted by one block in shared
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "device/kernel.hpp"
#include "kernels/dynpar/device_launch.hpp"

namespace xferbench::kernels {

inline constexpr std::uint32_t kBlockSort = 4096;      ///< keys that one block sorts in shared memory
inline constexpr std::uint32_t kPartitionTile = 4096;  ///< keys that one block partitions
/// Partitions that may follow from one another; a segment that is large even then is sorted by one block, slowly. CUDA
/// lets grids nest 24 deep.
inline constexpr std::uint32_t kMostPartitions = 22;

/// A part of the array, and what is to be done with it.
struct SortSegment {
  enum class Step : std::uint32_t {
    nothing,    ///< no keys
    partition,  ///< from where its keys are to scratch, after an odd number of partitions to the first array
    sort,       ///< by one block, to where the result is wanted
    fill,       ///< with one key: the middle of a partition
  };
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t depth = 0;  ///< partitions that it went through: after none its keys are in the input, else, where the
                            ///< number is even, in the first array, where it is odd, in scratch
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

/// Blocks that partition, or fill, so many keys.
constexpr std::uint32_t partition_blocks(std::uint32_t count) { return (count + kPartitionTile - 1) / kPartitionTile; }

/// Blocks that a segment's step takes.
constexpr std::uint32_t step_blocks(const SortSegment& segment) {
  return segment.step == SortSegment::Step::sort ? 1 : partition_blocks(segment.count);
}

/// What the blocks that partition one segment share, in device memory; zero before the first launch. The last of them
/// leaves zeros.
struct SortCounters {
  std::uint32_t less = 0;
  std::uint32_t greater = 0;
  std::uint32_t done = 0;  ///< blocks
};

/// Segments that are partitioned at the same time begin more than kBlockSort keys apart, so each has counters of its
/// own; a left side has those of the segment that it comes from, which has ended with them.
constexpr std::uint32_t counters_of(std::uint32_t first) { return first / kBlockSort; }
constexpr std::size_t counters_needed(std::uint32_t count) { return count / kBlockSort + 1; }

/// Device memory; all but `status` is shared by all segments.
struct SortArgs {
  const std::uint32_t* input = nullptr;  ///< what is sorted; only read
  std::uint32_t* keys = nullptr;         ///< what comes out; as many
  std::uint32_t* scratch = nullptr;      ///< as many
  SortCounters* counters = nullptr;      ///< counters_needed()
  LaunchStatus* status = nullptr;        ///< of launches from the device
};

/// Where the keys of a segment are.
constexpr const std::uint32_t* keys_before(const SortArgs& args, std::uint32_t depth) {
  if (depth == 0) return args.input;
  return depth % 2 == 0 ? args.keys : args.scratch;
}

/// Where a partition writes the two sides.
constexpr std::uint32_t* keys_after(const SortArgs& args, std::uint32_t depth) {
  return depth % 2 == 0 ? args.scratch : args.keys;
}

// --- Driven by the host ----------------------------------------------------------------------------------------------

/// What one block of a grid for a whole level does.
struct SortWork {
  std::uint32_t segment = 0;  ///< in the list of the level's segments
  std::uint32_t block = 0;    ///< of that segment's step_blocks()
};

/// Those segments of a level that have the same step. Device memory.
struct SortBatch {
  SortSegment::Step step = SortSegment::Step::nothing;
  std::uint32_t depth = 0;
  const SortSegment* segments = nullptr;  ///< of the level
  const SortWork* work = nullptr;         ///< for each block of the grid
  std::uint32_t blocks = 0;
  SortSplit* splits = nullptr;  ///< of partitions: what each found, at the index of its segment
};

/// One grid for a batch, launched by the host.
class SortGrid final : public Kernel {
 public:
  /// `count`: keys in all.
  SortGrid(const SortArgs& args, const SortBatch& batch, std::uint32_t count)
      : args_(args), batch_(batch), count_(count) {}

  [[nodiscard]] std::string_view name() const override { return "sort-grid"; }
  [[nodiscard]] KernelCost cost() const override;
  /// The whole of the array in which the batch has its parts: for partitions the one that they write to, else the keys.
  [[nodiscard]] std::span<std::byte> output() const override;
  /// Of the two sides of a partition only which keys they hold is specified, in no order; nothing of its middle, which
  /// is filled in where the result is wanted; and its split is not computed.
  void compute(std::span<std::byte> result) const override;
  [[nodiscard]] std::unique_ptr<Kernel> clone() const override { return std::make_unique<SortGrid>(*this); }
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

/// Ascending, on the host, digit by digit: of millions of keys several times as fast as std::sort.
void sort_keys(std::vector<std::uint32_t>& keys);

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
