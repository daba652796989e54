// Code that kernels launching kernels (CUDA dynamic parallelism) share with the host: launch trees, closed forms,
// references, the sort's pivots and work lists, and messages about failed launches.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <set>
#include <vector>

#include "scenarios/dynpar/children.hpp"
#include "scenarios/dynpar/sort.hpp"

namespace xferbench {
namespace {

using kernels::LaunchTree;
using kernels::SortSegment;

// --- Trees -----------------------------------------------------------------------------------------------------------

std::vector<std::uint32_t> widths(const LaunchTree& tree) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t level = 0; level < tree.levels(); ++level) all.push_back(tree.width(level));
  return all;
}

TEST(LaunchTree, HasTheLeastFanOutThatHoldsAllChildrenAndOneForEachLevelBelow) {
  using Widths = std::vector<std::uint32_t>;
  EXPECT_EQ(widths({14, 3}), (Widths{2, 4, 8}));
  EXPECT_EQ(widths({15, 3}), (Widths{3, 9, 3}));
  EXPECT_EQ(widths({2048, 1}), (Widths{2048}));
  EXPECT_EQ(widths({4, 4}), (Widths{1, 1, 1, 1}));
  EXPECT_EQ(widths({4, 3}), (Widths{2, 1, 1}));
}

TEST(LaunchTree, PlacesEveryChildOnceOnEveryLevelAskedFor) {
  for (std::uint32_t children : {1U, 2U, 3U, 7U, 16U, 100U, 2048U, 4095U, 1U << 20}) {
    for (std::uint32_t levels = 1; levels <= std::min(children, LaunchTree::kMaxLevels); ++levels) {
      const LaunchTree tree(children, levels);
      ASSERT_EQ(tree.levels(), levels);
      ASSERT_EQ(tree.children(), children) << levels;
      ASSERT_TRUE(std::ranges::all_of(widths(tree), [](std::uint32_t w) { return w > 0; }))
          << children << " " << levels;
    }
  }
}

TEST(LaunchTree, TheChildrenOfALevelAreTheNextLevel) {
  for (std::uint32_t children : {7U, 15U, 100U, 2047U}) {
    const LaunchTree tree(children, 4);
    for (std::uint32_t level = 0; level + 1 < tree.levels(); ++level) {
      std::uint32_t next = tree.first(level + 1);
      for (std::uint32_t i = tree.first(level); i < tree.first(level + 1); ++i) {
        EXPECT_EQ(tree.first_child(level, i), next) << children << " " << level << " " << i;
        next = tree.first_child(level, i + 1);
      }
      EXPECT_EQ(next, tree.first(level + 2)) << children << " " << level;
    }
  }
}

// --- Children --------------------------------------------------------------------------------------------------------

std::uint32_t step_by_step(std::uint32_t seed, std::uint32_t index, std::uint32_t work) {
  std::uint32_t value = kernels::child_seed(seed, index);
  for (std::uint32_t i = 0; i < work; ++i) value = value * kernels::kStepFactor + kernels::kStepAddend;
  return value;
}

TEST(ChildResult, IsWhatTheStepsGive) {
  for (const std::uint32_t work : {0U, 1U, 2U, 3U, 7U, 64U, 1000U, 65'537U}) {
    EXPECT_EQ(kernels::child_result(5, 3, work), step_by_step(5, 3, work)) << work;
  }
}

TEST(ChildResult, DiffersFromChildToChildAndFromSeedToSeed) {
  std::set<std::uint32_t> seen;
  for (std::uint32_t i = 0; i < 10'000; ++i) seen.insert(kernels::child_result(1, i, 10));
  EXPECT_EQ(seen.size(), 10'000U);
  EXPECT_NE(kernels::child_result(1, 0, 10), kernels::child_result(2, 0, 10));
}

TEST(ChildrenReference, WritesEverySlotAndNoneWithoutChildren) {
  std::array<std::uint32_t, 7> slots{};
  const kernels::ChildrenArgs args{.tree = LaunchTree(7, 2), .slots = slots.data(), .work = 9, .seed = 4};
  EXPECT_EQ(kernels::Children(kernels::LaunchMode::none, args).output().size(), 0U);
  const kernels::Children all(kernels::LaunchMode::tail, args);
  ASSERT_EQ(all.output().size(), sizeof(slots));
  all.compute(all.output());
  for (std::uint32_t i = 0; i < slots.size(); ++i) {
    EXPECT_EQ(slots[i], step_by_step(4, i, 9));
    std::uint32_t alone = 0;
    const kernels::Child child(args, i);
    EXPECT_EQ(child.output().data(), std::as_writable_bytes(std::span(slots)).data() + i * sizeof(alone));
    child.compute(std::as_writable_bytes(std::span(&alone, 1)));
    EXPECT_EQ(alone, slots[i]);
  }
}

TEST(FailedLaunches, AreDescribedWithWhatToDo) {
  const std::string many = describe({.failed = 2048, .error = kernels::kLaunchPendingCountExceeded}, 2048, "do this");
  EXPECT_EQ(many,
            "2048 launches failed because more launches were pending than the limit of 2048 "
            "(cudaErrorLaunchPendingCountExceeded); do this");
  EXPECT_EQ(describe({.failed = 1, .error = kernels::kLaunchMaxDepthExceeded}, 1, ""),
            "1 launch failed because grids were nested too deeply (cudaErrorLaunchMaxDepthExceeded)");
  EXPECT_EQ(describe({.failed = 1, .error = 719}, 1, ""), "1 launch failed with CUDA error 719");
}

// --- The quicksort ---------------------------------------------------------------------------------------------------

TEST(SortPivot, IsTheMedianOfSortedKeysAndOneOfTheKeys) {
  std::vector<std::uint32_t> keys(1001);
  std::iota(keys.begin(), keys.end(), 0U);
  EXPECT_EQ(kernels::sort_pivot(keys.data(), 1001), 500U);
  std::ranges::reverse(keys);
  EXPECT_EQ(kernels::sort_pivot(keys.data(), 1001), 500U);
  const std::uint32_t one = 42;
  EXPECT_EQ(kernels::sort_pivot(&one, 1), 42U);
}

TEST(SortSegments, SmallOnesAndDeepOnesAreSortedByOneBlock) {
  using kernels::sort_segment;
  EXPECT_EQ(sort_segment(0, 0, 0).step, SortSegment::Step::nothing);
  EXPECT_EQ(sort_segment(0, kernels::kBlockSort, 0).step, SortSegment::Step::sort);
  EXPECT_EQ(sort_segment(0, kernels::kBlockSort + 1, 0).step, SortSegment::Step::partition);
  EXPECT_EQ(sort_segment(0, 1U << 20, kernels::kMostPartitions).step, SortSegment::Step::sort);
}

TEST(SortSegments, SidesAndMiddleMakeUpTheWhole) {
  const SortSegment whole = kernels::sort_segment(100, 20'000, 3);
  const kernels::SortSplit split{.less = 5000, .greater = 9000, .pivot = 7};
  const SortSegment left = left_side(whole, split);
  const SortSegment equal = middle(whole, split);
  const SortSegment right = right_side(whole, split);
  EXPECT_EQ(left.first, 100U);
  EXPECT_EQ(equal.first, left.first + left.count);
  EXPECT_EQ(right.first, equal.first + equal.count);
  EXPECT_EQ(right.first + right.count, 20'100U);
  EXPECT_EQ(equal.count, 6000U);
  EXPECT_EQ(equal.key, 7U);
  EXPECT_EQ(left.depth, 4U);
}

TEST(SortKeys, AreNeverWhatMemoryIsPoisonedWith) {
  for (const SortKeys kind : {SortKeys::random, SortKeys::sorted, SortKeys::reversed, SortKeys::equal}) {
    for (std::uint64_t seed = 0; seed < 1000; ++seed) EXPECT_LT(sort_key(kind, seed, 12, 1000), 1U << 31);
  }
}

// --- Work lists of a level of the sort -------------------------------------------------------------------------------

TEST(LevelLists, NameEachBlockOfEachSegmentOnceWithPartitionsFirst) {
  using kernels::SortWork;
  const SortSegment fill{30'000, 5000, 1, 7, SortSegment::Step::fill};
  const std::vector<SortSegment> level{kernels::sort_segment(0, 100, 1), kernels::sort_segment(100, 9000, 1), fill,
                                       kernels::sort_segment(40'000, 4097, 1), kernels::sort_segment(50'000, 4096, 1)};
  std::vector<std::uint32_t> memory(1000);
  const LevelLists lists = write_lists(level, std::as_writable_bytes(std::span(memory)));
  const auto* segments = reinterpret_cast<const SortSegment*>(memory.data());
  std::vector<std::vector<std::uint32_t>> seen;  // [segment] = blocks; a segment is named by its first key
  for (const LevelLists::Grid& grid : lists.grids) {
    const auto* work = reinterpret_cast<const SortWork*>(reinterpret_cast<const std::byte*>(memory.data()) + grid.work);
    for (const SortWork& w : std::span(work, grid.blocks)) {
      EXPECT_EQ(segments[w.segment].step, grid.step);
      seen.push_back({segments[w.segment].first, w.block});
    }
  }
  EXPECT_EQ(
      seen,
      (std::vector<std::vector<std::uint32_t>>{
          {100, 0}, {100, 1}, {100, 2}, {40'000, 0}, {40'000, 1}, {0, 0}, {50'000, 0}, {30'000, 0}, {30'000, 1}}));
  EXPECT_EQ(lists.grids[0].segments, 2U);
  EXPECT_EQ(lists.bytes, 5 * sizeof(SortSegment) + 9 * sizeof(SortWork));
}

/// Runs the sort's host code with the host references of the kernels in place of the GPU.
class SortOnHost {
 public:
  SortOnHost(SortKeys kind, std::uint32_t count)
      : input_(count), keys_(count, 0xFFFFFFFF), scratch_(count, 0xFFFFFFFF), lists_(level_lists_room(count)) {
    for (std::uint32_t i = 0; i < count; ++i) input_[i] = sort_key(kind, 3, i, count);
  }

  void sort() {
    std::vector<SortSegment> level{kernels::sort_segment(0, static_cast<std::uint32_t>(keys_.size()), 0)};
    while (!level.empty()) {
      expect_own_counters(level);
      const LevelLists lists = write_lists(level, lists_);
      ASSERT_LE(lists.bytes, lists_.size());
      ASSERT_LE(lists.grids.front().segments, most_splits(static_cast<std::uint32_t>(keys_.size())));
      std::vector<kernels::SortSplit> splits;
      for (const SortSegment& s : level) {
        if (s.step == SortSegment::Step::partition) splits.push_back(split(s));
      }
      for (const LevelLists::Grid& grid : lists.grids) run(grid, level.front().depth);
      fill_narrow_middles(level, splits);
      level = next_level(level, splits);
    }
  }

  [[nodiscard]] const std::vector<std::uint32_t>& input() const { return input_; }
  [[nodiscard]] const std::vector<std::uint32_t>& keys() const { return keys_; }
  [[nodiscard]] kernels::SortArgs args() {
    return {.input = input_.data(), .keys = keys_.data(), .scratch = scratch_.data()};
  }

 private:
  void run(const LevelLists::Grid& of, std::uint32_t depth) {
    const kernels::SortBatch batch{.step = of.step,
                                   .depth = depth,
                                   .segments = reinterpret_cast<const SortSegment*>(lists_.data()),
                                   .work = reinterpret_cast<const kernels::SortWork*>(lists_.data() + of.work),
                                   .blocks = of.blocks};
    const kernels::SortGrid grid(args(), batch, static_cast<std::uint32_t>(keys_.size()));
    std::vector<std::byte> result(grid.output().size());
    grid.compute(result);
    std::memcpy(grid.output().data(), result.data(), result.size());
  }

  kernels::SortSplit split(const SortSegment& segment) {
    const std::uint32_t* from = keys_before(args(), segment.depth) + segment.first;
    kernels::SortSplit s{.pivot = kernels::sort_pivot(from, segment.count)};
    for (std::uint32_t i = 0; i < segment.count; ++i) {
      s.less += from[i] < s.pivot ? 1U : 0U;
      s.greater += from[i] > s.pivot ? 1U : 0U;
    }
    return s;
  }

  void fill_narrow_middles(const std::vector<SortSegment>& level, const std::vector<kernels::SortSplit>& splits) {
    auto split = splits.begin();
    for (const SortSegment& s : level) {
      if (s.step != SortSegment::Step::partition) continue;
      const SortSegment equal = middle(s, *split++);
      if (!kernels::is_wide(equal)) std::fill_n(keys_.begin() + equal.first, equal.count, equal.key);
    }
  }

  static void expect_own_counters(const std::vector<SortSegment>& level) {
    std::set<std::uint32_t> seen;
    for (const SortSegment& s : level) {
      if (s.step != SortSegment::Step::partition) continue;
      EXPECT_TRUE(seen.insert(kernels::counters_of(s.first)).second);
    }
  }

  std::vector<std::uint32_t> input_;
  std::vector<std::uint32_t> keys_;
  std::vector<std::uint32_t> scratch_;
  std::vector<std::byte> lists_;
};

std::vector<std::uint32_t> sorted(std::vector<std::uint32_t> keys) {
  std::ranges::sort(keys);
  return keys;
}

TEST(SortOnReferences, SortsEveryKindOfKeys) {
  for (const SortKeys kind : {SortKeys::random, SortKeys::sorted, SortKeys::reversed, SortKeys::equal}) {
    for (const std::uint32_t count : {1U, 2U, 1000U, 4096U, 4097U, 100'003U}) {
      SortOnHost data(kind, count);
      data.sort();
      EXPECT_EQ(data.keys(), sorted(data.input())) << kSortKeysNames[static_cast<std::size_t>(kind)] << " " << count;
    }
  }
}

TEST(SortOnReferences, TheWholeSortIsOneKernelToTheHost) {
  SortOnHost data(SortKeys::random, 10'000);
  const kernels::DeviceSort sort(data.args(), 10'000);
  std::vector<std::byte> result(sort.output().size());
  sort.compute(result);
  const std::vector<std::uint32_t> expected = sorted(data.input());
  EXPECT_TRUE(std::ranges::equal(result, std::as_bytes(std::span(expected))));
}

TEST(SortLaunches, HaveRoomForMoreThanTwiceTheEvenPartitions) {
  EXPECT_EQ(sort_launches(1), kernels::kDefaultPendingLaunches);
  EXPECT_GE(sort_launches(16U << 20), 4U * (16U << 20) / kernels::kBlockSort);
}

}  // namespace
}  // namespace xferbench
