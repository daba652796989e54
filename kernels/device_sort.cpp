// The host side of the quicksort: what its kernels leave behind.
#include "kernels/device_sort.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace xferbench::kernels {

namespace {

std::vector<std::uint32_t> copy_of(const std::uint32_t* keys, std::uint32_t count) { return {keys, keys + count}; }

}  // namespace

std::uint32_t* SortStep::destination() const {
  const bool to_other = segment_.step == SortSegment::Step::partition && segment_.depth % 2 == 0;
  return to_other ? args_.scratch : args_.keys;
}

KernelCost SortStep::cost() const { return {.bytes = 2ULL * segment_.count * sizeof(std::uint32_t)}; }

std::span<std::byte> SortStep::output() const {
  return std::as_writable_bytes(std::span(destination() + segment_.first, segment_.count));
}

void SortStep::compute(std::span<std::byte> result) const {
  std::vector<std::uint32_t> keys = copy_of(source() + segment_.first, segment_.count);
  if (segment_.step == SortSegment::Step::fill) std::ranges::fill(keys, segment_.key);
  if (segment_.step == SortSegment::Step::sort) std::ranges::sort(keys);
  if (segment_.step == SortSegment::Step::partition) {
    const std::uint32_t pivot = sort_pivot(keys.data(), segment_.count);
    std::vector<std::uint32_t> parted = copy_of(destination() + segment_.first, segment_.count);
    const auto less = [pivot](std::uint32_t key) { return key < pivot; };
    const auto greater = [pivot](std::uint32_t key) { return key > pivot; };
    std::ranges::copy_if(keys, parted.begin(), less);
    std::copy_if(keys.begin(), keys.end(), parted.rbegin(), greater);
    keys = std::move(parted);
  }
  std::memcpy(result.data(), keys.data(), result.size());
}

KernelCost DeviceSort::cost() const { return {.bytes = 2ULL * count_ * sizeof(std::uint32_t)}; }

void DeviceSort::compute(std::span<std::byte> result) const {
  std::vector<std::uint32_t> keys = copy_of(args_.keys, count_);
  std::ranges::sort(keys);
  std::memcpy(result.data(), keys.data(), result.size());
}

}  // namespace xferbench::kernels
