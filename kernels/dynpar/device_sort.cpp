// Host side of the quicksort kernels: reference results and cost model.
#include "kernels/dynpar/device_sort.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace xferbench::kernels {

namespace {

std::vector<std::uint32_t> copy_of(const std::uint32_t* keys, std::uint32_t count) { return {keys, keys + count}; }

/// Applies the step of `segment` to `keys`, the segment's keys, and writes the result to `after`.
void step(const SortSegment& segment, std::vector<std::uint32_t> keys, std::span<std::uint32_t> after) {
  switch (segment.step) {
    case SortSegment::Step::nothing: return;
    case SortSegment::Step::fill: std::ranges::fill(after, segment.key); return;
    case SortSegment::Step::sort:
      std::ranges::sort(keys);
      std::ranges::copy(keys, after.begin());
      return;
    case SortSegment::Step::partition: break;
  }
  const std::uint32_t pivot = sort_pivot(keys.data(), segment.count);
  std::ranges::copy_if(keys, after.begin(), [pivot](std::uint32_t key) { return key < pivot; });
  std::copy_if(keys.begin(), keys.end(), after.rbegin(), [pivot](std::uint32_t key) { return key > pivot; });
}

}  // namespace

void sort_keys(std::vector<std::uint32_t>& keys) {
  constexpr int kDigit = 11;  // bits sorted per pass
  constexpr std::uint32_t kValues = 1U << kDigit;
  std::vector<std::uint32_t> other(keys.size());
  for (int shift = 0; shift < 32; shift += kDigit) {
    const auto digit = [shift](std::uint32_t key) { return key >> shift & (kValues - 1); };
    std::array<std::uint32_t, kValues + 1> begins{};
    for (const std::uint32_t key : keys) ++begins[digit(key) + 1];
    for (std::uint32_t value = 0; value < kValues; ++value) begins[value + 1] += begins[value];
    for (const std::uint32_t key : keys) other[begins[digit(key)]++] = key;
    keys.swap(other);
  }
}

std::uint32_t* SortGrid::destination() const {
  return batch_.step == SortSegment::Step::partition ? keys_after(args_, batch_.depth) : args_.keys;
}

KernelCost SortGrid::cost() const {
  return {.bytes = 2ULL * batch_.blocks * kPartitionTile * sizeof(std::uint32_t), .blocks = batch_.blocks};
}

std::span<std::byte> SortGrid::output() const { return std::as_writable_bytes(std::span(destination(), count_)); }

void SortGrid::compute(std::span<std::byte> result) const {
  std::vector<std::uint32_t> all = copy_of(destination(), count_);
  const std::uint32_t* before = keys_before(args_, batch_.depth);
  for (const SortWork& work : std::span(batch_.work, batch_.blocks)) {
    if (work.block > 0) continue;
    const SortSegment& segment = batch_.segments[work.segment];
    step(segment, copy_of(before + segment.first, segment.count), std::span(all).subspan(segment.first, segment.count));
  }
  std::memcpy(result.data(), all.data(), result.size());
}

KernelCost DeviceSort::cost() const { return {.bytes = 2ULL * count_ * sizeof(std::uint32_t)}; }

void DeviceSort::compute(std::span<std::byte> result) const {
  std::vector<std::uint32_t> keys = copy_of(args_.input, count_);
  sort_keys(keys);
  std::memcpy(result.data(), keys.data(), result.size());
}

}  // namespace xferbench::kernels
