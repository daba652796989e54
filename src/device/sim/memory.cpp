#include "device/sim/memory.hpp"

#include <bit>
#include <cstring>
#include <iterator>

#include "core/error.hpp"

namespace xferbench::sim {

namespace {

constexpr std::size_t kWholePayload = std::size_t{4}
                                      << 20;  // bytes; of larger payloads only a part moves, see part_of_payload()
constexpr std::size_t kSpans = 4096;
constexpr std::size_t kWindow = 256;
constexpr std::size_t kHostPage = 4096;
constexpr std::size_t kLongestStretch = std::size_t{1} << 20;
constexpr std::byte kNan{0xFF};  // byte of a NaN, which element-wise kernels pass on

/// Returns the allocation that contains `address` and the offset in it; nullptr if there is none. Keys are start
/// addresses.
template <class Map>
auto holder_of(Map& map, const std::byte* address) {
  const auto next = map.upper_bound(address);
  if (next == map.begin()) return std::pair(static_cast<decltype(&next->second)>(nullptr), std::size_t{0});
  auto& [begin, memory] = *std::prev(next);
  const auto at = static_cast<std::size_t>(address - begin);
  return std::pair(at < memory.size() ? &memory : nullptr, at);
}

}  // namespace

PayloadPart part_of_payload(std::size_t bytes) {
  if (bytes <= kWholePayload) return {};
  return {kWindow, std::min(kLongestStretch, std::bit_ceil(bytes / kSpans))};
}

// --- Device memory --------------------------------------------------------------------------------------------------

// With huge pages, writing 256 bytes would touch 2 MiB, so large allocations use small pages.
DeviceMemory::DeviceMemory(std::size_t bytes, std::size_t device)
    : pages_(bytes, bytes <= kWholePayload ? PageSize::huge : PageSize::small),
      owner_(device),
      noted_((bytes + kPage - 1) / kPage, kUntouched) {}

void DeviceMemory::fill(std::size_t offset, std::size_t bytes, std::byte value) {
  const std::size_t end = offset + bytes;
  const std::size_t first = (offset + kPage - 1) / kPage;
  const std::size_t last = end == size() ? (end + kPage - 1) / kPage : end / kPage;
  prepare_to_write(offset, bytes);
  if (first >= last) {
    std::memset(data() + offset, std::to_integer<int>(value), bytes);
    return;
  }
  std::fill(noted_.begin() + static_cast<std::ptrdiff_t>(first), noted_.begin() + static_cast<std::ptrdiff_t>(last),
            std::to_integer<std::int16_t>(value));
  std::memset(data() + offset, std::to_integer<int>(value), first * kPage - offset);
  const std::size_t rest = std::min(end, last * kPage);
  std::memset(data() + rest, std::to_integer<int>(value), end - rest);
}

void DeviceMemory::for_each(std::size_t offset, std::size_t bytes, const SpanVisitor& body) const {
  const std::size_t end = offset + bytes;
  while (offset < end) {
    std::size_t page = offset / kPage;
    const std::int16_t noted = noted_[page];
    while (end_of(page) < end && noted_[page + 1] == noted) ++page;
    const std::size_t stop = std::min(end, end_of(page));
    const auto value = noted == kUntouched ? kNan : static_cast<std::byte>(noted);
    body(offset, stop - offset, noted == kWritten ? std::nullopt : std::optional(value));
    offset = stop;
  }
}

void DeviceMemory::write_out(std::size_t offset, std::size_t bytes) {
  if (bytes == 0) return;
  for (std::size_t page = offset / kPage; page <= (offset + bytes - 1) / kPage; ++page) {
    const std::int16_t noted = std::exchange(noted_[page], kWritten);
    if (noted >= 0) std::memset(data() + page * kPage, noted, end_of(page) - page * kPage);
  }
}

void DeviceMemory::prepare_to_write(std::size_t offset, std::size_t bytes) {
  if (bytes == 0) return;
  const std::size_t last = offset + bytes - 1;
  if (offset % kPage != 0) write_out(offset, 1);
  if (last + 1 != end_of(last / kPage)) write_out(last, 1);
  std::fill(noted_.begin() + static_cast<std::ptrdiff_t>(offset / kPage),
            noted_.begin() + static_cast<std::ptrdiff_t>(last / kPage + 1), kWritten);
}

// --- Page pool ------------------------------------------------------------------------------------------------------

Pages PagePool::take(std::size_t bytes) {
  const auto fits = std::ranges::find_if(idle_, [bytes](const Pages& p) { return p.size() >= bytes; });
  // The size is rounded up, so that operations of growing sizes can reuse the pages. Untouched pages cost nothing.
  if (fits == idle_.end()) return Pages(std::bit_ceil(bytes));
  Pages pages = std::move(*fits);
  idle_.erase(fits);
  return pages;
}

void PagePool::give_back(Pages pages) {
  // Maximum number of idle Pages: one for each of the six engines of eight GPUs. The smallest are freed first.
  constexpr std::size_t kMost = 48;
  if (pages.data() == nullptr) return;
  const auto larger = std::ranges::find_if(idle_, [&pages](const Pages& p) { return p.size() >= pages.size(); });
  idle_.insert(larger, std::move(pages));
  if (idle_.size() > kMost) idle_.erase(idle_.begin());
}

std::byte* InFlight::make_room() {
  std::size_t total = 0;
  for (const Piece& piece : pieces_) total += piece.value ? 0 : piece.bytes;
  if (pages_.size() < total) pages_ = pool_.take(total);
  return pages_.data();
}

// --- Allocations and data movement ----------------------------------------------------------------------------------

DeviceView Memory::allocate_device(std::size_t bytes, std::size_t device) {
  DeviceMemory memory(bytes, device);
  std::byte* data = memory.data();
  device_.emplace(data, std::move(memory));
  return {data, bytes};
}

std::optional<std::size_t> Memory::device_of(const std::byte* data) const {
  const auto [holder, at] = holder_of(device_, data);
  return holder == nullptr ? std::nullopt : std::optional(holder->device());
}

std::optional<std::size_t> Memory::socket_of(const std::byte* data) const {
  const auto [holder, at] = holder_of(host_, data);
  return holder == nullptr ? std::nullopt : std::optional(holder->socket);
}

bool Memory::on_huge_pages(const std::byte* data) const {
  const auto [holder, at] = holder_of(host_, data);
  return holder != nullptr && is_on_huge_pages(holder->kind);
}

HostView Memory::allocate_host(std::size_t bytes, HostMemory kind, std::size_t socket) {
  Pages pages(bytes);
  std::byte* data = pages.data();
  host_.emplace(data, Allocation{std::move(pages), kind, socket});
  return {data, bytes, kind};
}

bool Memory::Allocation::is_pinned(std::size_t begin, std::size_t end) const {
  const auto next = pinned.upper_bound(begin);
  return next != pinned.begin() && std::prev(next)->second >= end;
}

void Memory::pin(const HostView& memory) {
  const auto [holder, at] = holder_of(host_, memory.data);
  if (holder == nullptr || !is_pageable(holder->kind) || memory.bytes > holder->size() - at) {
    throw DeviceError("registering host memory", "it is not pageable memory of this device");
  }
  const std::size_t end = (at + memory.bytes + kHostPage - 1) / kHostPage * kHostPage;
  const auto next = holder->pinned.lower_bound(at);
  const bool reaches_next = next != holder->pinned.end() && next->first / kHostPage * kHostPage < end;
  const bool reached_before = next != holder->pinned.begin() && std::prev(next)->second > at / kHostPage * kHostPage;
  if (!memory.read_only && (reaches_next || reached_before)) {
    throw DeviceError("registering host memory", "a page of it is registered already");
  }
  holder->pinned.emplace(at, end);
}

void Memory::unpin(const std::byte* data) {
  const auto [holder, at] = holder_of(host_, data);
  if (holder == nullptr) return;
  const auto one = holder->pinned.find(at);
  if (one != holder->pinned.end()) holder->pinned.erase(one);
}

bool Memory::pageable(const Copy& c) const {
  if (c.direction == Direction::d2d || c.direction == Direction::p2p) return false;
  const auto [holder, at] = holder_of(host_, c.direction == Direction::h2d ? c.source : c.destination);
  return holder == nullptr || (is_pageable(holder->kind) && !holder->is_pinned(at, at + c.bytes));
}

PayloadPart Memory::move_part_of(const HostView& host) {
  const PayloadPart part = part_of_payload(host.bytes);
  const auto [holder, at] = holder_of(host_, host.data);
  if (part.is_all() || holder == nullptr) return {};
  holder->pages.prefer(PageSize::small);
  return holder->part = part;
}

void Memory::for_each(const std::byte* begin, std::size_t bytes, const SpanVisitor& body) const {
  if (const auto [device, at] = holder_of(device_, begin); device != nullptr) {
    device->for_each(at, bytes, [&, from = at](std::size_t o, std::size_t n, auto value) { body(o - from, n, value); });
  } else if (const auto [host, start] = holder_of(host_, begin); host != nullptr) {
    host->part.for_each(start, start + bytes, [&, first = start](std::size_t from, std::size_t to) {
      body(from - first, to - from, std::nullopt);
    });
  } else {
    body(0, bytes, std::nullopt);
  }
}

void Memory::for_each(const std::byte* destination, const std::byte* source, std::size_t bytes,
                      const SpanVisitor& body) const {
  const auto from = [&](std::size_t offset, std::size_t count) {
    for_each(source + offset, count, [&](std::size_t o, std::size_t n, auto value) { body(offset + o, n, value); });
  };
  if (holder_of(host_, destination).first == nullptr) return from(0, bytes);
  for_each(destination, bytes, [&](std::size_t offset, std::size_t count, auto) { from(offset, count); });
}

void Memory::write_out(std::span<const std::byte> range) {
  const auto [device, at] = holder_of(device_, range.data());
  if (device != nullptr) device->write_out(at, range.size());
}

void Memory::fill(std::byte* begin, std::size_t bytes, std::byte value) {
  if (const auto [device, at] = holder_of(device_, begin); device != nullptr) return device->fill(at, bytes, value);
  for_each(begin, bytes, [&](std::size_t offset, std::size_t count, auto) {
    std::memset(begin + offset, std::to_integer<int>(value), count);
  });
}

void Memory::read(std::span<const Copy> copies, InFlight& data) {
  std::vector<const std::byte*> sources;
  data.pieces_.clear();
  for (const Copy& copy : copies) {
    for_each(copy.destination, copy.source, copy.bytes, [&](std::size_t offset, std::size_t bytes, auto value) {
      data.pieces_.push_back({copy.destination + offset, bytes, value});
      sources.push_back(copy.source + offset);
    });
  }
  std::byte* to = data.make_room();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (data.pieces_[i].value) continue;
    std::memcpy(to, sources[i], data.pieces_[i].bytes);
    to += data.pieces_[i].bytes;
  }
}

void Memory::write_out_reads(const Kernel& kernel) {
  if (const auto ranges = kernel.reads()) {
    for (const std::span<const std::byte> range : *ranges) write_out(range);
  } else {
    for (auto& [begin, memory] : device_) memory.write_out(0, memory.size());
  }
}

void Memory::compute(const Kernel& kernel, InFlight& data) {
  const std::span<std::byte> output = kernel.output();
  const auto inputs = kernel.inputs_by_position();
  data.pieces_.clear();
  if (inputs.empty()) {
    write_out_reads(kernel);
    data.pieces_.push_back({output.data(), output.size(), std::nullopt});
  } else {
    for_each(output.data(), inputs.front().data(), output.size(),
             [&](std::size_t offset, std::size_t bytes, auto value) {
               data.pieces_.push_back({output.data() + offset, bytes, value == kNan ? value : std::nullopt});
             });
  }
  std::byte* to = data.make_room();
  for (const InFlight::Piece& piece : data.pieces_) {
    if (piece.value) continue;
    const std::span<std::byte> result(to, piece.bytes);
    const auto offset = static_cast<std::size_t>(piece.destination - output.data());
    for (const std::span<const std::byte> input : inputs) write_out(input.subspan(offset, piece.bytes));
    inputs.empty() ? kernel.compute(result) : kernel.compute_part(offset, result);
    to += piece.bytes;
  }
}

void Memory::write(const InFlight& data) {
  const std::byte* from = data.pages_.data();
  for (const InFlight::Piece& piece : data.pieces_) {
    if (piece.value) {
      fill(piece.destination, piece.bytes, *piece.value);
      continue;
    }
    const auto [device, at] = holder_of(device_, piece.destination);
    if (device != nullptr) device->prepare_to_write(at, piece.bytes);
    std::memcpy(piece.destination, from, piece.bytes);
    from += piece.bytes;
  }
}

void Memory::flip(std::byte* at) {
  const auto [device, offset] = holder_of(device_, at);
  if (device != nullptr) device->write_out(offset, 1);
  *at ^= std::byte{1};
}

}  // namespace xferbench::sim
