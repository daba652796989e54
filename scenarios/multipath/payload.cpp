#include "scenarios/multipath/payload.hpp"

#include <utility>

#include "measure/pattern.hpp"

namespace xferbench {

// --- The payload ----------------------------------------------------------------------------------------------------

MultipathPayload::MultipathPayload(Machine& machine, const MultipathCase& c, std::uint64_t seed)
    : direction_(c.direction),
      seed_(seed),
      devices_(devices_of(c.gpus(), machine)),
      access_(helpers(), std::span(devices_).first(1)),
      host_(target().allocate_host(c.bytes, HostMemory::portable)),
      part_(target().payload_part(host_)),
      on_target_(target().allocate_device(c.bytes)) {}

Copy MultipathPayload::over_link(std::byte* on_gpu, std::uint64_t offset, std::uint64_t bytes) const {
  std::byte* const on_host = host_.data + offset;
  if (direction_ == Direction::h2d) return {on_gpu, on_host, bytes, direction_};
  return {on_host, on_gpu, bytes, direction_};
}

Copy MultipathPayload::between_gpus(std::byte* on_helper, std::uint64_t offset, std::uint64_t bytes) const {
  if (direction_ == Direction::h2d) return {at(offset), on_helper, bytes, Direction::p2p};
  return {on_helper, at(offset), bytes, Direction::p2p};
}

void MultipathPayload::prepare() {
  pattern::fill_bytes(host_bytes(), seed_, part_);
  if (direction_ == Direction::d2h) target().copy_and_wait({on_target_.data, host_.data, host_.bytes, Direction::h2d});
}

void MultipathPayload::poison_host() { pattern::poison(host_bytes(), part_); }

void MultipathPayload::poison() {
  if (direction_ == Direction::d2h) return poison_host();
  poison_part(target(), on_target_);
}

void MultipathPayload::check_host() const {
  pattern::require(pattern::check_bytes(host_bytes(), seed_, part_),
                   std::string(direction_ == Direction::h2d ? "H2D" : "D2H") + " over several links");
}

void MultipathPayload::check() {
  if (direction_ == Direction::h2d) {
    // The host buffer still holds the source data, so poison it before the result is copied back into it.
    poison_host();
    target().copy_and_wait({host_.data, on_target_.data, host_.bytes, Direction::d2h});
  }
  check_host();
}

void MultipathPayload::prepare_part(Device& device, const DeviceView& on_gpu, std::uint64_t offset) {
  if (direction_ == Direction::h2d || on_gpu.bytes == 0) return;
  device.copy_and_wait({on_gpu.data, host_.data + offset, on_gpu.bytes, Direction::h2d});
}

void MultipathPayload::poison_part(Device& device, const DeviceView& on_gpu) {
  if (direction_ == Direction::d2h || on_gpu.bytes == 0) return;
  device.fill_and_wait(on_gpu, pattern::kPoison);
}

void MultipathPayload::fetch_part(Device& device, const DeviceView& on_gpu, std::uint64_t offset) {
  if (direction_ == Direction::d2h || on_gpu.bytes == 0) return;
  device.copy_and_wait({host_.data + offset, on_gpu.data, on_gpu.bytes, Direction::d2h});
}

// --- Ways -----------------------------------------------------------------------------------------------------------

OwnLinks::OwnLinks(MultipathPayload& payload, const model::RelaySplit& split) : payload_(payload) {
  const auto add = [this](Device& device, std::uint64_t offset, std::uint64_t bytes, DeviceBuffer own) {
    if (bytes == 0) return;
    const DeviceView on_gpu = own ? DeviceView(own) : DeviceView{payload_.at(offset), bytes};
    parts_.push_back({&device, on_gpu, offset, device.make_stream(StreamKind::nonblocking), std::move(own)});
  };
  add(payload.target(), 0, split.direct, {});
  std::uint64_t offset = split.direct;
  for (std::size_t i = 0; i < split.through.size(); ++i) {
    Device& helper = *payload.helpers()[i];
    const std::uint64_t bytes = split.through[i];
    if (bytes > 0) add(helper, offset, bytes, helper.allocate_device(bytes));
    offset += bytes;
  }
}

Region OwnLinks::region() {
  Region region{.name = "own-links", .clock = Clock::event_gated, .submit = [this] {
                  for (const Part& p : parts_) {
                    p.stream.copy(payload_.over_link(p.on_gpu.data, p.offset, p.on_gpu.bytes));
                  }
                }};
  for (const Part& p : parts_) region.streams.emplace_back(p.stream);
  region.check = [this] { check(); };
  return region;
}

void OwnLinks::prepare() {
  for (const Part& p : parts_) payload_.prepare_part(*p.device, p.on_gpu, p.offset);
}

void OwnLinks::poison() {
  payload_.poison();
  for (const Part& p : parts_) payload_.poison_part(*p.device, p.on_gpu);
}

void OwnLinks::check() {
  if (payload_.direction() == Direction::d2h) return payload_.check();
  payload_.poison_host();
  for (const Part& p : parts_) payload_.fetch_part(*p.device, p.on_gpu, p.offset);
  payload_.check_host();
}

Relay::Relay(MultipathPayload& payload, const model::RelayShape& shape, const model::RelaySplit& split)
    : payload_(payload), direct_(split.direct), stream_(payload.target().make_stream(StreamKind::nonblocking)) {
  std::uint64_t offset = direct_;
  for (std::size_t i = 0; i < split.through.size(); ++i) {
    std::vector<std::uint64_t> chunks = model::relay_chunks(shape, split.through[i]);
    if (chunks.empty()) continue;
    RelaySlots slots(*payload.helpers()[i], model::relay_slots(shape, split.through[i]));
    helpers_.push_back({offset, std::move(chunks), std::move(slots)});
    offset += split.through[i];
  }
}

void Relay::submit() {
  if (direct_ > 0) stream_.copy(payload_.directly(0, direct_));
  for (Helper& helper : helpers_) {
    std::uint64_t offset = helper.offset;
    for (std::size_t i = 0; i < helper.chunks.size(); ++i) {
      helper.slots.pass_on(payload_.directly(offset, helper.chunks[i]), i);
      offset += helper.chunks[i];
    }
  }
}

void Relay::poison() {
  payload_.poison();
  for (Helper& helper : helpers_) helper.slots.poison();
}

Region Relay::region(std::string name) {
  Region region{.name = std::move(name),
                .clock = Clock::event_gated,
                .streams = {stream_},
                .submit = [this] { submit(); },
                .check = [this] { payload_.check(); }};
  for (const Helper& helper : helpers_) {
    region.streams.insert(region.streams.end(), {helper.slots.fill(), helper.slots.drain()});
    region.operations = std::max(region.operations, operations(helper.chunks.size()));
  }
  return region;
}

}  // namespace xferbench
