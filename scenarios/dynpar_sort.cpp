#include "scenarios/dynpar_sort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "measure/pattern.hpp"

namespace xferbench {

namespace {

// Kernels of different streams may run side by side. Partitions fill the GPU, the steps of small segments take one
// block each: those get most of the 32 queues that the hardware has.
constexpr std::size_t kPartitionStreams = 8;
constexpr std::size_t kLeafStreams = 24;

using Step = kernels::SortSegment::Step;

std::size_t bytes_of(std::uint32_t count) { return std::size_t{count} * sizeof(std::uint32_t); }

std::uint32_t* words(const DeviceBuffer& buffer) { return reinterpret_cast<std::uint32_t*>(buffer->data); }

}  // namespace

std::uint32_t sort_key(SortKeys kind, std::uint64_t seed, std::uint32_t index, std::uint32_t count) {
  switch (kind) {
    case SortKeys::random: return pattern::noise(seed, index);
    case SortKeys::sorted: return index;
    case SortKeys::reversed: return count - 1 - index;
    case SortKeys::equal: return pattern::noise(seed, 0);
  }
  return 0;
}

std::vector<kernels::SortSegment> next_level(std::span<const kernels::SortSegment> level,
                                             std::span<const kernels::SortCounters> counters) {
  std::vector<kernels::SortSegment> next;
  for (const kernels::SortSegment& whole : level) {
    if (whole.step != Step::partition) continue;
    const kernels::SortSplit& split = counters[kernels::counters_of(whole.first)].split;
    for (const auto& side : {kernels::left_side(whole, split), kernels::right_side(whole, split)}) {
      if (side.step != Step::nothing) next.push_back(side);
    }
    if (const auto equal = kernels::middle(whole, split); kernels::is_wide(equal)) next.push_back(equal);
  }
  return next;
}

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
      counters_on_host_(device.allocate_host(counters_->bytes, HostMemory::pinned)),
      log_(device),
      args_{words(keys_), words(scratch_), reinterpret_cast<kernels::SortCounters*>(counters_->data), log_.get()} {
  const auto streams = [&](std::size_t n, std::vector<Stream>& all) {
    for (std::size_t i = 0; i < n; ++i) all.push_back(device_.make_stream(StreamKind::nonblocking));
  };
  streams(kPartitionStreams, partition_streams_);
  streams(kLeafStreams, leaf_streams_);
  for (std::size_t i = 0; i < kPartitionStreams; ++i) joined_.push_back(device_.make_event(EventKind::ordering));
  device_.preload(kernels::DeviceSort(args_, count));

  for (std::uint32_t i = 0; i < count; ++i) sorted_[i] = sort_key(kind, seed, i, count);
  const HostBuffer host = device_.allocate_host(input_->bytes, HostMemory::pageable);
  std::memcpy(host->data, sorted_.data(), host->bytes);
  device_.copy_blocking({input_->data, host->data, host->bytes, Direction::h2d});
  std::ranges::sort(sorted_);
  device_.fill(counters_, std::byte{0}, partition_streams_.front());
  device_.synchronize(partition_streams_.front().get());
}

Region Sorter::region(std::string name, std::function<void()> submit) {
  Region r;
  r.name = std::move(name);
  r.clock = Clock::host;
  r.reset = [this] { restore(); };
  r.submit = std::move(submit);
  return r;
}

Region Sorter::by_device(std::string name) {
  return region(std::move(name), [this] {
    const Stream& root = partition_streams_.front();
    device_.launch(kernels::DeviceSort(args_, count_), root);
    device_.synchronize(root.get());
  });
}

Region Sorter::by_host(std::string name) {
  return region(std::move(name), [this] { sort_by_host(); });
}

void Sorter::restore() {
  const Stream& root = partition_streams_.front();
  device_.copy({keys_->data, input_->data, input_->bytes, Direction::d2d}, root);
  device_.fill(scratch_, pattern::kPoison, root);
  device_.synchronize(root.get());
}

/// Hazard: what a step reads must have been written. The partitions above it have ended, because the host has read
/// their sizes; so steps of one level may go to any stream without waiting for each other.
void Sorter::sort_by_host() {
  round_trips_ = host_launches_ = 0;
  std::vector<kernels::SortSegment> level{kernels::sort_segment(0, count_, 0)};
  while (!level.empty()) {
    std::size_t partitions = 0;
    std::size_t leaves = 0;
    for (const kernels::SortSegment& segment : level) {
      const bool partition = segment.step == Step::partition;
      const Stream& stream =
          partition ? partition_streams_[partitions++ % kPartitionStreams] : leaf_streams_[leaves++ % kLeafStreams];
      device_.launch(kernels::SortStep(args_, segment), stream);
    }
    host_launches_ += level.size();
    if (partitions == 0) break;
    read_counters(partitions);
    const auto* counters = reinterpret_cast<const kernels::SortCounters*>(counters_on_host_->data);
    level = next_level(level, {counters, kernels::counters_needed(count_)});
  }
  for (const Stream& stream : leaf_streams_) device_.synchronize(stream.get());
}

/// The round trip: waits for this level's partitions, not for smaller segments that are being sorted meanwhile.
void Sorter::read_counters(std::size_t partitions) {
  const Stream& root = partition_streams_.front();
  for (std::size_t i = 1; i < std::min(partitions, kPartitionStreams); ++i) {
    device_.record(joined_[i], partition_streams_[i]);
    device_.wait(root, joined_[i]);
  }
  device_.copy({counters_on_host_->data, counters_->data, counters_->bytes, Direction::d2h}, root);
  device_.synchronize(root.get());
  ++round_trips_;
}

void Sorter::verify(const Region& region) {
  log_.clear(partition_streams_.front());
  run_once(device_, region);
  const HostBuffer host = device_.allocate_host(keys_->bytes, HostMemory::pageable);
  device_.copy_blocking({host->data, keys_->data, keys_->bytes, Direction::d2h});
  check_launches();
  if (std::memcmp(host->data, sorted_.data(), host->bytes) == 0) return;
  const auto* found = reinterpret_cast<const std::uint32_t*>(host->data);
  const auto wrong = pattern::first_wrong(count_, [&](std::size_t i) { return found[i] == sorted_[i]; });
  const std::size_t i = wrong.value_or(0);
  throw VerificationError(
      fmt::format("{}: key {} of the sorted array should be {}, but is {}", region.name, i, sorted_[i], found[i]));
}

void Sorter::check_launches() const {
  const kernels::LaunchStatus status = log_.read();
  if (status.failed == 0) return;
  throw DeviceError("launching the steps of a sort from the device",
                    describe(status, room_.granted(), "choose a smaller --size"));
}

}  // namespace xferbench
