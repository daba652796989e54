#include "scenarios/together/copies.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "core/error.hpp"
#include "measure/pattern.hpp"

namespace xferbench {

GroupCopies::GroupCopies(const TogetherCase& c, std::vector<Device*> group, std::uint64_t seed)
    : case_(c), group_(std::move(group)), plan_(copies_of(c.pattern, group_.size())) {
  between_gpus(c.pattern) ? place_peer_copies(seed) : place_host_copies(seed);
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    placed_[i].stream = group_[plan_[i].owner]->make_stream(StreamKind::nonblocking);
  }
  find_members();
}

std::size_t GroupCopies::add_payload(Device& device, std::size_t bytes, HostMemory kind, std::uint64_t seed) {
  Payload payload{.host = device.allocate_host(bytes, kind), .seed = seed};
  payload.part = device.payload_part(payload.host);
  payloads_.push_back(std::move(payload));
  return payloads_.size() - 1;
}

/// Assigns host memory to each copy: a buffer of its own or, with shared memory, its GPU's part of one buffer per
/// direction.
void GroupCopies::place_host_copies(std::uint64_t seed) {
  std::vector<Direction> directions;
  for (const GroupCopy& planned : plan_) {
    Device& device = *group_[planned.owner];
    Placed placed{.device = &device};
    if (!case_.shared) {
      placed.payload = add_payload(device, case_.bytes, HostMemory::pinned, seed + payloads_.size());
    } else {
      const auto known = std::ranges::find(directions, planned.direction);
      placed.payload = static_cast<std::size_t>(known - directions.begin());
      placed.offset = planned.owner * case_.bytes;
      if (known == directions.end()) {
        directions.push_back(planned.direction);
        add_payload(*group_.front(), group_.size() * case_.bytes, HostMemory::portable, seed + payloads_.size());
      }
    }
    memory_.push_back(device.allocate_device(case_.bytes));
    placed.on_device = memory_.back();
    std::byte* const host = on_host(placed);
    const bool in = planned.direction == Direction::h2d;
    placed.copy = {in ? placed.on_device.data : host, in ? host : placed.on_device.data, case_.bytes,
                   planned.direction};
    placed_.push_back(std::move(placed));
  }
}

/// Allocates the buffers of copies between GPUs. Each GPU sends the same data to all others. One host buffer serves to
/// fill the sources and to check what has arrived.
void GroupCopies::place_peer_copies(std::uint64_t seed) {
  const std::size_t looked_at = add_payload(*group_.front(), case_.bytes, HostMemory::pageable, seed);
  sources_.resize(group_.size());
  for (const GroupCopy& planned : plan_) {
    DeviceBuffer& source = sources_[planned.from];
    if (!source) source = group_[planned.from]->allocate_device(case_.bytes);
    Device& receiver = *group_[planned.to];
    memory_.push_back(receiver.allocate_device(case_.bytes));
    Placed placed{.device = &receiver, .payload = looked_at, .seed = seed + planned.from};
    placed.on_device = memory_.back();
    placed.copy = {placed.on_device.data, source.data, case_.bytes, Direction::p2p};
    placed_.push_back(std::move(placed));
  }
}

void GroupCopies::find_members() {
  for (std::size_t owner = 0; owner < group_.size(); ++owner) {
    Member member{.gpu = case_.gpus[owner], .copies = {}};
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (plan_[i].owner == owner) member.copies.push_back(i);
    }
    if (!member.copies.empty()) members_.push_back(std::move(member));
  }
}

void GroupCopies::Payload::poison(std::size_t offset, std::size_t bytes) const {
  pattern::poison_range({host.data, host.bytes}, offset, bytes, part);
}

void GroupCopies::prepare() {
  for (const Payload& payload : payloads_) {
    pattern::fill_bytes({payload.host.data, payload.host.bytes}, payload.seed, payload.part);
  }
  for (const Placed& placed : placed_) {
    if (placed.copy.direction != Direction::d2h) continue;
    placed.device->copy_and_wait({placed.on_device.data, on_host(placed), case_.bytes, Direction::h2d});
  }
  std::set<const std::byte*> filled;  // sources on GPUs that are already filled
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    const Placed& placed = placed_[i];
    if (plan_[i].direction != Direction::p2p || !filled.insert(placed.copy.source).second) continue;
    const Payload& payload = payloads_[placed.payload];
    pattern::fill_bytes({payload.host.data, payload.host.bytes}, placed.seed, payload.part);
    const DeviceView& source = sources_[plan_[i].from];
    group_[plan_[i].from]->copy_and_wait({source.data, payload.host.data, case_.bytes, Direction::h2d});
  }
}

void GroupCopies::poison() {
  for (const Placed& placed : placed_) {
    if (placed.copy.direction == Direction::d2h) {
      payloads_[placed.payload].poison(placed.offset, case_.bytes);
    } else {
      placed.device->fill_and_wait(placed.on_device, pattern::kPoison);
    }
  }
}

void GroupCopies::verify(Machine& machine, const Region& region, VerifiedRun run) {
  run(machine, region, [this] { poison(); });
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < placed_.size(); ++i) all.push_back(i);
  check(all);
}

/// Checks the output of the given copies. Checks all of a shared buffer, because no copy may touch another copy's part.
void GroupCopies::check(std::span<const std::size_t> copies) {
  std::set<std::size_t> looked_at;
  for (const std::size_t i : copies) {
    const Placed& placed = placed_[i];
    if (plan_[i].direction == Direction::p2p) {
      check_peer_copy(i);
      continue;
    }
    looked_at.insert(placed.payload);
    if (plan_[i].direction != Direction::h2d) continue;
    // The host buffer still holds the source data, so poison it before the result is copied back into it.
    payloads_[placed.payload].poison(placed.offset, case_.bytes);
    placed.device->copy_and_wait({on_host(placed), placed.on_device.data, case_.bytes, Direction::d2h});
  }
  for (const std::size_t which : looked_at) {
    const Payload& payload = payloads_[which];
    const auto wrong = pattern::check_bytes({payload.host.data, payload.host.bytes}, payload.seed, payload.part);
    if (!wrong) continue;
    const auto holds_it = [&](const Placed& p) {
      return p.payload == which && p.offset <= wrong->offset && wrong->offset - p.offset < case_.bytes;
    };
    const auto place = std::ranges::find_if(placed_, holds_it) - placed_.begin();
    const GroupCopy& copy = plan_.at(static_cast<std::size_t>(place));
    throw VerificationError(fmt::format("{} copy of GPU {}: {}", copy.direction == Direction::h2d ? "H2D" : "D2H",
                                        case_.gpus[copy.owner], wrong->describe()));
  }
}

void GroupCopies::check_peer_copy(std::size_t copy) {
  const Placed& placed = placed_[copy];
  const Payload& payload = payloads_[placed.payload];
  payloads_[placed.payload].poison(0, case_.bytes);
  placed.device->copy_and_wait({payload.host.data, placed.on_device.data, case_.bytes, Direction::d2h});
  pattern::require(pattern::check_bytes({payload.host.data, payload.host.bytes}, placed.seed, payload.part),
                   fmt::format("copy from GPU {} to GPU {}", case_.gpus[plan_[copy].from], case_.gpus[plan_[copy].to]));
}

Region GroupCopies::region_of(const char* name, std::vector<std::size_t> copies) {
  Region r{.name = name, .clock = Clock::event_gated};
  for (const std::size_t i : copies) r.streams.push_back(placed_[i].stream);
  r.batchable = false;  // in a batch, only the first pass would start on all GPUs at the same time
  r.submit = [this, copies] {
    for (const std::size_t i : copies) placed_[i].stream.copy(placed_[i].copy);
  };
  r.check = [this, copies] { check(copies); };
  return r;
}

Region GroupCopies::at_once() {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < placed_.size(); ++i) all.push_back(i);
  Region r = region_of("together", std::move(all));
  r.per_stream = case_.pattern == GroupPattern::both;
  return r;
}

Region GroupCopies::alone(const Member& member) {
  Region r = region_of("alone", member.copies);
  r.gpu = member.gpu;
  return r;
}

}  // namespace xferbench
