#include "scenarios/dynpar/sort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "measure/pattern.hpp"

namespace xferbench {

namespace {

using Step = kernels::SortSegment::Step;

std::size_t bytes_of(std::uint32_t count) { return std::size_t{count} * sizeof(std::uint32_t); }

template <class T>
T* as(const auto& buffer) {
  return reinterpret_cast<T*>(buffer.data);
}

}  // namespace

std::uint32_t sort_key(SortKeys kind, std::uint64_t seed, std::uint32_t index, std::uint32_t count) {
  switch (kind) {
    case SortKeys::random: return pattern::noise(seed, index) >> 1;
    case SortKeys::sorted: return index;
    case SortKeys::reversed: return count - 1 - index;
    case SortKeys::equal: return pattern::noise(seed, 0) >> 1;
  }
  return 0;
}

std::vector<kernels::SortSegment> next_level(std::span<const kernels::SortSegment> level,
                                             std::span<const kernels::SortSplit> splits) {
  std::vector<kernels::SortSegment> next;
  auto split = splits.begin();
  for (const kernels::SortSegment& whole : level) {
    if (whole.step != Step::partition) continue;
    for (const auto& side : {kernels::left_side(whole, *split), kernels::right_side(whole, *split)}) {
      if (side.step != Step::nothing) next.push_back(side);
    }
    if (const auto equal = kernels::middle(whole, *split); kernels::is_wide(equal)) next.push_back(equal);
    ++split;
  }
  return next;
}

LevelLists write_lists(std::span<const kernels::SortSegment> level, std::span<std::byte> memory) {
  LevelLists lists{.grids = {{{Step::partition}, {Step::sort}, {Step::fill}}}};
  auto* segments = reinterpret_cast<kernels::SortSegment*>(memory.data());
  auto* const first_work = reinterpret_cast<kernels::SortWork*>(segments + level.size());
  auto* work = first_work;
  std::uint32_t index = 0;
  for (LevelLists::Grid& grid : lists.grids) {
    grid.work = static_cast<std::size_t>(reinterpret_cast<std::byte*>(work) - memory.data());
    for (const kernels::SortSegment& segment : level) {
      if (segment.step != grid.step) continue;
      const std::uint32_t blocks = kernels::step_blocks(segment);
      segments[index] = segment;
      for (std::uint32_t block = 0; block < blocks; ++block) *work++ = {index, block};
      ++grid.segments;
      grid.blocks += blocks;
      ++index;
    }
  }
  lists.bytes = static_cast<std::size_t>(reinterpret_cast<std::byte*>(work) - memory.data());
  return lists;
}

/// Derivation of the bound: the segments of a level are disjoint. Each segment comes from a partition of more than
/// kBlockSort keys, which leaves at most three segments. Only the last block of a segment is partly filled.
std::size_t level_lists_room(std::uint32_t count) {
  const std::size_t segments = 3 * std::size_t{count / kernels::kBlockSort} + 1;
  const std::size_t blocks = segments + count / kernels::kPartitionTile;
  return segments * sizeof(kernels::SortSegment) + blocks * sizeof(kernels::SortWork);
}

std::size_t most_splits(std::uint32_t count) { return count / kernels::kBlockSort + 1; }

std::size_t sort_launches(std::uint32_t count) {
  constexpr std::size_t kPerBlockSort = 8;
  return std::max(kernels::kDefaultPendingLaunches, kPerBlockSort * (count / kernels::kBlockSort));
}

Sorter::Sorter(Device& device, std::uint32_t count, SortKeys kind, std::uint64_t seed)
    : device_(device),
      count_(count),
      room_(device, sort_launches(count)),
      sorted_(count),
      input_(device.allocate_device(bytes_of(count))),
      keys_(device.allocate_device(bytes_of(count))),
      scratch_(device.allocate_device(bytes_of(count))),
      counters_(device.allocate_device(kernels::counters_needed(count) * sizeof(kernels::SortCounters))),
      splits_(device.allocate_device(most_splits(count) * sizeof(kernels::SortSplit))),
      splits_on_host_(device.allocate_host(splits_.bytes, HostMemory::pinned)),
      lists_on_host_(device.allocate_host(level_lists_room(count), HostMemory::pinned)),
      log_(device),
      args_{.input = as<std::uint32_t>(input_),
            .keys = as<std::uint32_t>(keys_),
            .scratch = as<std::uint32_t>(scratch_),
            .counters = as<kernels::SortCounters>(counters_),
            .status = log_.get()},
      root_(device.make_stream(StreamKind::nonblocking)),
      leaf_stream_(device.make_stream(StreamKind::nonblocking)) {
  for (Lists& lists : lists_) {
    lists.memory = device_.allocate_device(lists_on_host_.bytes);
    lists.copied = device_.make_event(EventKind::ordering);
    lists.used = device_.make_event(EventKind::ordering);
  }
  device_.preload(kernels::DeviceSort(args_, count));
  device_.preload(kernels::SortGrid(args_, {}, count));

  for (std::uint32_t i = 0; i < count; ++i) sorted_[i] = sort_key(kind, seed, i, count);
  const HostBuffer host = device_.allocate_host(input_.bytes, HostMemory::pageable);
  std::memcpy(host.data, sorted_.data(), host.bytes);
  device_.copy_and_wait({input_.data, host.data, host.bytes, Direction::h2d});
  kernels::sort_keys(sorted_);
  device_.fill_and_wait(counters_, std::byte{0});
}

Region Sorter::region(std::string name, std::function<void()> submit) {
  return {.name = std::move(name),
          .clock = Clock::host,
          .submit = std::move(submit),
          .reset = [this] { poison(); },
          .check = [this] { check("its keys"); }};
}

Region Sorter::by_device(std::string name) {
  return region(std::move(name), [this] {
    root_.launch(kernels::DeviceSort(args_, count_));
    root_.synchronize();
  });
}

Region Sorter::by_host(std::string name) {
  return region(std::move(name), [this] { sort_by_host(); });
}

/// Poisons all buffers that the sort writes, so that results of an earlier pass cannot be mistaken for new ones.
void Sorter::poison() {
  root_.fill(keys_, pattern::kPoison);
  root_.fill(scratch_, pattern::kPoison);
  root_.synchronize();
}

/// Hazard: a step must not read keys before they are written. The partitions of the levels above have ended, because
/// the host has read their sizes. Steps of one level, and sorts and fills of levels above, use disjoint keys.
void Sorter::sort_by_host() {
  round_trips_ = host_launches_ = 0;
  for (Lists& lists : lists_) lists.in_use = false;
  std::vector<kernels::SortSegment> level{kernels::sort_segment(0, count_, 0)};
  for (std::size_t depth = 0; !level.empty(); ++depth) {
    const std::size_t splits = submit_level(level, lists_[depth % lists_.size()]);
    if (splits == 0) break;
    // The round trip: the host waits for the partitions of this level, but not for sorts and fills in the other stream.
    root_.synchronize();
    ++round_trips_;
    level = next_level(level, {as<const kernels::SortSplit>(splits_on_host_), splits});
  }
  leaf_stream_.synchronize();
}

/// Hazards: the lists in host memory may be overwritten, because the host has read splits that were copied after the
/// lists. The sorts and fills of an earlier level may still use the lists in device memory, so root_ waits for `used`.
/// Fills are launched before sorts because fills are short.
std::size_t Sorter::submit_level(std::span<const kernels::SortSegment> level, Lists& lists) {
  const LevelLists here = write_lists(level, {lists_on_host_.data, lists_on_host_.bytes});
  const std::uint32_t depth = level.front().depth;
  if (lists.in_use) root_.wait(lists.used);
  root_.copy({lists.memory.data, lists_on_host_.data, here.bytes, Direction::h2d});
  root_.record(lists.copied);
  const auto& [partitions, sorts, fills] = here.grids;
  submit_grid(partitions, lists, depth, root_);
  if (partitions.segments > 0) {
    const std::size_t bytes = partitions.segments * sizeof(kernels::SortSplit);
    root_.copy({splits_on_host_.data, splits_.data, bytes, Direction::d2h});
  }
  if (sorts.segments + fills.segments == 0) return partitions.segments;
  leaf_stream_.wait(lists.copied);
  submit_grid(fills, lists, depth, leaf_stream_);
  submit_grid(sorts, lists, depth, leaf_stream_);
  leaf_stream_.record(lists.used);
  lists.in_use = true;
  return partitions.segments;
}

void Sorter::submit_grid(const LevelLists::Grid& grid, const Lists& lists, std::uint32_t depth, const Stream& stream) {
  if (grid.segments == 0) return;
  const kernels::SortBatch batch{.step = grid.step,
                                 .depth = depth,
                                 .segments = as<const kernels::SortSegment>(lists.memory),
                                 .work = reinterpret_cast<const kernels::SortWork*>(lists.memory.data + grid.work),
                                 .blocks = grid.blocks,
                                 .splits = as<kernels::SortSplit>(splits_)};
  stream.launch(kernels::SortGrid(args_, batch, count_));
  ++host_launches_;
}

void Sorter::verify(const Region& region) {
  log_.clear(root_);
  poison();
  run_once(device_.machine(), region);
  check(region.name);
}

void Sorter::check(const std::string& what) const {
  const HostBuffer host = device_.allocate_host(keys_.bytes, HostMemory::pageable);
  device_.copy_and_wait({host.data, keys_.data, keys_.bytes, Direction::d2h});
  check_launches();
  if (std::memcmp(host.data, sorted_.data(), host.bytes) == 0) return;
  const auto* found = reinterpret_cast<const std::uint32_t*>(host.data);
  const auto wrong = pattern::first_wrong(count_, [&](std::size_t i) { return found[i] == sorted_[i]; });
  const std::size_t i = wrong.value_or(0);
  throw VerificationError(
      fmt::format("{}: key {} of the sorted array should be {}, but is {}", what, i, sorted_[i], found[i]));
}

void Sorter::check_launches() const {
  const kernels::LaunchStatus status = log_.read();
  if (status.failed == 0) return;
  throw DeviceError("launching the steps of a sort from the device",
                    describe(status, room_.granted(), "choose a smaller --size"));
}

}  // namespace xferbench
