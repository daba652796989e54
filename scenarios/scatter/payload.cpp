#include "scenarios/scatter/payload.hpp"

#include <cstring>

#include "measure/pattern.hpp"

namespace xferbench {

ScatteredPayload::ScatteredPayload(Device& device, const ScatterCase& c, Direction direction, std::uint64_t seed)
    : device_(device), direction_(direction), seed_(seed), bytes_(c.size) {
  const bool sends = direction != Direction::d2h;  // for d2d, the source counts as the host side
  const std::vector<std::size_t> sizes = c.sizes();
  const Places from = c.places(sends, sizes);
  const Places to = c.places(!sends, sizes);
  const auto pinned = [&](std::size_t bytes) { return device.allocate_host(bytes, HostMemory::pinned); };
  const auto ordinary = [&](std::size_t bytes) { return device.allocate_host(bytes, HostMemory::pageable); };
  if (source_on_host()) {
    host_ = device.allocate_host(from.bytes, c.memory);
  } else {
    source_ = device.allocate_device(from.bytes);
    image_ = ordinary(from.bytes);
  }
  if (destination_on_host()) {
    host_ = device.allocate_host(to.bytes, c.memory);
  } else {
    destination_ = device.allocate_device(to.bytes);
    arrived_ = ordinary(to.bytes);
  }
  expected_ = ordinary(to.bytes);
  if (direction != Direction::d2d) whole_host_ = pinned(bytes_);
  whole_device_ = device.allocate_device(bytes_);
  if (direction == Direction::d2d) whole_other_ = device.allocate_device(bytes_);
  const std::byte* const source = source_on_host() ? host_.data : source_.data;
  std::byte* const destination = destination_on_host() ? host_.data : destination_.data;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    copies_.push_back({destination + to.offsets[i], source + from.offsets[i], sizes[i], direction});
  }
}

Copy ScatteredPayload::whole() const {
  switch (direction_) {
    case Direction::h2d: return {whole_device_.data, whole_host_.data, bytes_, direction_};
    case Direction::d2h: return {whole_host_.data, whole_device_.data, bytes_, direction_};
    case Direction::p2p:
    case Direction::d2d: break;
  }
  return {whole_other_.data, whole_device_.data, bytes_, direction_};
}

std::span<std::byte> ScatteredPayload::source_image() {
  const HostView& image = source_on_host() ? host_ : image_;
  return {image.data, image.bytes};
}

void ScatteredPayload::prepare() {
  const std::span<std::byte> image = source_image();
  pattern::fill_bytes(image, seed_);
  if (!source_on_host()) device_.copy_and_wait({source_.data, image_.data, image_.bytes, Direction::h2d});
  if (whole_host_) pattern::fill_bytes({whole_host_.data, whole_host_.bytes}, seed_);
  pattern::poison({expected_.data, expected_.bytes});
  const std::byte* const source = source_on_host() ? host_.data : source_.data;
  const std::byte* const destination = destination_on_host() ? host_.data : destination_.data;
  for (const Copy& copy : copies_) {
    std::memcpy(expected_.data + (copy.destination - destination), image.data() + (copy.source - source), copy.bytes);
  }
  poison();
}

void ScatteredPayload::poison() {
  if (destination_on_host()) return pattern::poison({host_.data, host_.bytes});
  device_.fill_and_wait(destination_, pattern::kPoison);
}

void ScatteredPayload::check(std::string_view what) {
  const HostView& found = destination_on_host() ? host_ : arrived_;
  if (!destination_on_host()) {
    device_.copy_and_wait({arrived_.data, destination_.data, destination_.bytes, Direction::d2h});
  }
  pattern::require(pattern::compare_bytes({found.data, found.bytes}, expected_.data), what);
}

MemoryNeeds needs_of(const ScatterCase& c) {
  const std::vector<std::size_t> sizes = c.sizes();
  const std::size_t host = c.places(true, sizes).bytes;
  const std::size_t gpu = c.places(false, sizes).bytes;
  const std::size_t list = c.by_kernel() ? 24 * sizes.size() : 0;
  const std::size_t staging = c.way == ScatterWay::staged || c.way == ScatterWay::packed ? c.size : 0;
  const std::size_t slots = c.way == ScatterWay::packed ? c.size : 0;  // upper bound of the bytes in slots
  MemoryNeeds all;
  for (const Direction direction : c.directions) {
    // Host memory: payload, expected contents, images of GPU buffers, and the contiguous copy.
    all.host += host + 2 * gpu + c.size + list + slots + (direction == Direction::d2d ? host : 0);
    all.device += gpu + c.size + list + staging + (direction == Direction::d2d ? host + c.size : 0);
  }
  if (c.beside != Beside::none) all.device += kBusyBytes;
  return all;
}

}  // namespace xferbench
