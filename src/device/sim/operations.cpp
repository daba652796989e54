#include "device/sim/operations.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace xferbench::sim {

namespace {

/// Of the multiprocessors, that a kernel occupies. Blocks of 256 threads: eight fill a multiprocessor.
double share_of(const KernelCost& cost, const Profile& p) {
  constexpr double kBlocksPerMultiprocessor = 8;
  if (cost.blocks == 0) return 1;
  return std::min(1.0, cost.blocks / (p.multiprocessors * kBlocksPerMultiprocessor));
}

/// The slowest of what a kernel does. A rough model of a kernel that occupies a share of the multiprocessors: it has
/// that share of the arithmetic, and a quarter of them saturates the memory.
double time_of(const KernelCost& cost, const Profile& p) {
  const double share = share_of(cost, p);
  const double traffic = static_cast<double>(cost.bytes) / (p.kernel_traffic_rate * std::min(1.0, 4 * share));
  const double arithmetic = cost.fma / (p.fma_rate * share);
  // Both directions at once take what two copies of these times take on such a link.
  const double in = static_cast<double>(cost.h2d_bytes) / p.kernel_h2d_rate;
  const double out = static_cast<double>(cost.d2h_bytes) / p.kernel_d2h_rate;
  const double link = std::max(in, out) + std::min(in, out) * (1 / p.kernel_duplex_ratio - 1);
  return std::max({traffic, arithmetic, cost.seconds, link});
}

Way way_of(const KernelCost& cost) {
  if (cost.h2d_bytes == 0) return cost.d2h_bytes == 0 ? Way::none : Way::d2h;
  return cost.d2h_bytes == 0 ? Way::h2d : Way::both;
}

Duplex duplex_of(const Profile& p) {
  return {p.h2d_duplex_rate, p.d2h_duplex_rate, p.h2d_duplex_overhead, p.d2h_duplex_overhead};
}

}  // namespace

Operations::Operations(const Profile& profile, EventSimulator& events, DataMovement& data)
    : profile_(profile),
      events_(events),
      data_(data),
      h2d_(events.add_engine(EventSimulator::Sharing::one_at_a_time)),
      d2h_(profile.copy_engines < 2 ? h2d_ : events.add_engine(EventSimulator::Sharing::one_at_a_time)),
      compute_(events.add_engine(EventSimulator::Sharing::by_share)),
      internal_(events.add_engine(EventSimulator::Sharing::one_at_a_time)),
      peer_(events.add_engine(EventSimulator::Sharing::one_at_a_time)),
      link_(events.add_link(duplex_of(profile))) {}

void Operations::let_reach(std::size_t device, bool on) {
  on ? static_cast<void>(reached_.insert(device)) : static_cast<void>(reached_.erase(device));
}

bool Operations::reaches_both_ends(const Copy& c) const {
  const auto reaches = [this](const std::byte* end) {
    const auto owner = data_.memory.device_of(end);
    return !owner || reached_.contains(*owner);
  };
  return reaches(c.source) && reaches(c.destination);
}

Operation Operations::copy(const Copy& c) const {
  Operation o;
  o.link = link_;
  const auto takes = [&o, &c](EngineId engine, Way way, double overhead, double rate) {
    o.engine = engine;
    o.way = way;
    o.overhead = overhead;
    o.payload = static_cast<double>(c.bytes) / rate;
  };
  switch (c.direction) {
    case Direction::h2d: takes(h2d_, Way::h2d, profile_.h2d_overhead, profile_.h2d_rate); break;
    case Direction::d2h: takes(d2h_, Way::d2h, profile_.d2h_overhead, profile_.d2h_rate); break;
    case Direction::d2d: takes(internal_, Way::none, profile_.copy_overhead, profile_.d2d_rate); break;
    case Direction::p2p:
      if (reaches_both_ends(c)) {
        takes(peer_, Way::none, profile_.peer_overhead, profile_.peer_write_rate);
      } else {
        takes(peer_, Way::none, profile_.staged_peer_overhead, profile_.staged_peer_rate);
      }
      break;
  }
  if (data_.on) {
    auto held = std::make_shared<InFlight>(data_.pages);
    o.on_start = [&memory = data_.memory, c, held] { memory.read(c, *held); };
    o.on_finish = [&memory = data_.memory, held] { memory.write(*held); };
  }
  return o;
}

Operation Operations::batch(std::span<const Copy> copies) const {
  Operation batch = copy(copies.front());
  std::vector<std::function<void()>> starts{batch.on_start};
  std::vector<std::function<void()>> finishes{batch.on_finish};
  for (const Copy& c : copies.subspan(1)) {
    Operation o = copy(c);
    batch.payload += o.payload;
    starts.push_back(std::move(o.on_start));
    finishes.push_back(std::move(o.on_finish));
  }
  if (data_.on) {
    batch.on_start = [starts] { std::ranges::for_each(starts, [](const auto& start) { start(); }); };
    batch.on_finish = [finishes] { std::ranges::for_each(finishes, [](const auto& finish) { finish(); }); };
  }
  return batch;
}

// Staging is far slower than the link, so the opposite direction does not slow it further.
Operation Operations::staged(const Copy& c) const {
  Operation o = copy(c);
  o.way = Way::none;
  o.overhead = profile_.pageable_overhead;
  o.payload = static_cast<double>(c.bytes) /
              (c.direction == Direction::h2d ? profile_.pageable_h2d_rate : profile_.pageable_d2h_rate);
  return o;
}

Operation Operations::inlined(const Copy& c) const {
  Operation o = copy(c);
  if (data_.on) std::exchange(o.on_start, nullptr)();
  return o;
}

Operation Operations::fill(const DeviceView& range, std::byte value) const {
  Operation o;
  o.engine = internal_;
  o.overhead = profile_.copy_overhead;
  o.payload = static_cast<double>(range.bytes) / profile_.fill_rate;
  if (data_.on) {
    o.on_finish = [&memory = data_.memory, range, value] { memory.fill(range.data, range.bytes, value); };
  }
  return o;
}

Operation Operations::kernel(const Kernel& kernel, double overhead) const {
  const KernelCost cost = kernel.cost();
  Operation o;
  o.engine = compute_;
  o.share = share_of(cost, profile_);
  o.link = link_;
  o.way = way_of(cost);
  o.overhead = overhead;
  o.payload = time_of(cost, profile_);
  if (data_.on && !kernel.output().empty()) {
    const std::shared_ptr<const Kernel> copy = kernel.clone();
    auto held = std::make_shared<InFlight>(data_.pages);
    o.on_start = [&memory = data_.memory, copy, held] { memory.compute(*copy, *held); };
    o.on_finish = [&memory = data_.memory, held] { memory.write(*held); };
  }
  return o;
}

Operation Operations::stamp(std::uint64_t* slot) const {
  Operation o;  // no engine: a kernel of one thread finds room beside others
  o.overhead = profile_.stamp_cost;
  o.on_finish = [&events = events_, slot] { *slot = static_cast<std::uint64_t>(std::llround(events.now() * 1e9)); };
  return o;
}

}  // namespace xferbench::sim
