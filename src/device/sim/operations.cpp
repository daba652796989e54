#include "device/sim/operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/error.hpp"

namespace xferbench::sim {

namespace {

/// Returns the fraction of the multiprocessors that a kernel occupies, assuming that eight blocks fill a multiprocessor
/// (blocks of 256 threads).
double share_of(const KernelCost& cost, const Profile& p) {
  constexpr double kBlocksPerMultiprocessor = 8;
  if (cost.blocks == 0) return 1;
  return std::min(1.0, cost.blocks / (p.multiprocessors * kBlocksPerMultiprocessor));
}

/// Returns the seconds that a block which copies pieces needs for all its turns.
double time_of_turns(const KernelCost& cost, const Profile& p) {
  const double turn = cost.pieces.bulk ? p.bulk_turn : cost.h2d_bytes > 0 ? p.piece_read_turn : p.piece_write_turn;
  return cost.pieces.turns * turn + cost.pieces.list_reads * p.list_read;
}

/// Returns the seconds of a kernel's work: the time of its slowest resource. In this rough model, the arithmetic rate
/// is proportional to the multiprocessors that the kernel occupies, and a quarter of all multiprocessors saturates
/// device memory. `sends`: whether peer traffic goes from this GPU's memory to another GPU.
double time_of(const KernelCost& cost, bool sends, const Profile& p) {
  const double share = share_of(cost, p);
  const double traffic = static_cast<double>(cost.bytes) / (p.kernel_traffic_rate * std::min(1.0, 4 * share));
  const double arithmetic = cost.fma / (p.fma_rate * share);
  // Both directions run at the duplex rate until the shorter one ends; then the longer one continues alone.
  const double in = static_cast<double>(cost.h2d_bytes) / p.kernel_h2d_rate;
  const double out = static_cast<double>(cost.d2h_bytes) / p.kernel_d2h_rate;
  const double link = std::max(in, out) + std::min(in, out) * (1 / p.kernel_duplex_ratio - 1);
  const double peer_rate = sends ? p.kernel_peer_write_rate : p.kernel_peer_read_rate;
  return std::max({traffic, arithmetic, cost.seconds, link, time_of_turns(cost, p),
                   static_cast<double>(cost.peer_bytes) / peer_rate});
}

}  // namespace

Operations::Operations(const Profile& profile, std::size_t number, const Wiring& wiring, EventSimulator& events,
                       DataMovement& data)
    : profile_(profile),
      number_(number),
      wiring_(wiring),
      events_(events),
      data_(data),
      h2d_(events.add_engine(EventSimulator::Sharing::one_at_a_time)),
      d2h_(profile.copy_engines < 2 ? h2d_ : events.add_engine(EventSimulator::Sharing::one_at_a_time)),
      compute_(events.add_engine(EventSimulator::Sharing::by_share)),
      internal_(events.add_engine(EventSimulator::Sharing::one_at_a_time)),
      send_(events.add_engine(EventSimulator::Sharing::by_share)),
      fetch_(events.add_engine(EventSimulator::Sharing::by_share)),
      gate_(events.add_engine(EventSimulator::Sharing::by_share)),
      reached_{number} {
  set_handovers(events);
}

void Operations::set_handovers(EventSimulator& events) const {
  for (const EngineId copies : {h2d_, d2h_}) {
    events.set_handover(copies, compute_, profile_.copy_to_kernel);
    events.set_handover(compute_, copies, profile_.kernel_to_copy);
    events.set_handover(gate_, copies, profile_.gate_to_copy);
    events.set_stream_switch(copies, profile_.stream_switch);
  }
  events.set_handover(gate_, compute_, profile_.gate_to_kernel);
  if (h2d_ == d2h_) return;
  events.set_handover(h2d_, d2h_, profile_.copy_to_copy);
  events.set_handover(d2h_, h2d_, profile_.copy_to_copy);
}

void Operations::grant_access(std::size_t device, bool on) {
  on ? static_cast<void>(reached_.insert(device)) : static_cast<void>(reached_.erase(device));
}

bool Operations::has_access(const std::byte* data) const {
  const auto owner = data_.memory.device_of(data);
  return !owner || reached_.contains(*owner);
}

void Operations::require_own(const std::byte* data, const char* what) const {
  const auto owner = data_.memory.device_of(data);
  if (!owner || *owner == number_) return;
  throw DeviceError(what, fmt::format("the memory belongs to device {}, but the stream to device {}", *owner, number_));
}

void Operations::require_access(const Kernel& kernel) const {
  const KernelCost cost = kernel.cost();
  std::vector<const std::byte*> touched{kernel.output().data(), cost.peer_source, cost.peer_destination};
  for (const auto input : kernel.inputs_by_position()) touched.push_back(input.data());
  for (const Copy& move : kernel.moves()) touched.insert(touched.end(), {move.destination, move.source});
  const auto out_of_reach =
      std::ranges::find_if_not(touched, [this](const std::byte* data) { return has_access(data); });
  if (out_of_reach == touched.end()) return;
  throw DeviceError(fmt::format("launching the kernel {}", kernel.name()),
                    fmt::format("device {} has no access to the memory of device {}", number_,
                                *data_.memory.device_of(*out_of_reach)));
}

Operation Operations::copy(const Copy& c) const {
  Operation o;
  const auto takes = [&o, &c](EngineId engine, double overhead, double rate) {
    o.engine = engine;
    o.overhead = overhead;
    o.payload = static_cast<double>(c.bytes) / rate;
  };
  const std::size_t own_socket = wiring_.socket_of(number_);
  switch (c.direction) {
    case Direction::h2d:
      require_own(c.destination, "copying from the host");
      takes(h2d_, profile_.h2d_overhead, profile_.h2d_rate);
      o.uses =
          wiring_.to_host(number_, data_.memory.socket_of(c.source).value_or(own_socket), {.h2d = profile_.h2d_rate});
      break;
    case Direction::d2h:
      require_own(c.source, "copying to the host");
      takes(d2h_, profile_.d2h_overhead, profile_.d2h_rate);
      o.uses = wiring_.to_host(number_, data_.memory.socket_of(c.destination).value_or(own_socket),
                               {.d2h = profile_.d2h_rate});
      break;
    case Direction::d2d:
      require_own(c.source, "copying inside a GPU");
      require_own(c.destination, "copying inside a GPU");
      takes(internal_, profile_.copy_overhead, profile_.d2d_rate);
      break;
    case Direction::p2p: o = between_gpus(c); break;
  }
  move_data(o, {c});
  return o;
}

void Operations::move_data(Operation& o, std::vector<Copy> copies) const {
  if (!data_.on) return;
  auto held = std::make_shared<InFlight>(data_.pages);
  o.on_start = [&memory = data_.memory, all = std::move(copies), held] { memory.read(all, *held); };
  o.on_finish = [&memory = data_.memory, held] { memory.write(*held); };
}

Operation Operations::between_gpus(const Copy& c) const {
  const auto from = data_.memory.device_of(c.source);
  const auto to = data_.memory.device_of(c.destination);
  if (!from || !to) throw DeviceError("copying between GPUs", "source or destination is not GPU memory");
  const auto bytes = static_cast<double>(c.bytes);
  const bool sends = *from == number_;
  Operation o;
  o.engine = sends ? send_ : fetch_;
  o.share = 1.0 / profile_.peer_copies;
  if (!has_access(c.source) || !has_access(c.destination)) {
    o.overhead = profile_.staged_peer_overhead;
    o.payload = bytes / profile_.staged_peer_rate;
    o.uses = wiring_.through_host(*from, *to, profile_.staged_peer_rate);
    return o;
  }
  const double rate = sends ? profile_.peer_write_rate : profile_.peer_read_rate;
  o.overhead = profile_.peer_overhead;
  o.payload = bytes / rate;
  o.uses = wiring_.between(*from, *to, rate);
  return o;
}

Operation Operations::strided(const std::vector<Copy>& copies) const {
  Operation all = copy(copies.front());
  for (const Copy& c : std::span(copies).subspan(1)) {
    const Operation one = copy(c);
    if (one.engine != all.engine || one.uses != all.uses) {
      throw DeviceError("copying several ranges", "the simulated device supports only ranges of one direction");
    }
    all.payload += one.payload;
  }
  move_data(all, copies);
  return all;
}

Operation Operations::batch(const std::vector<Copy>& copies) const {
  Operation all = strided(copies);
  all.overhead += profile_.batch_copy * static_cast<double>(copies.size() - 1);
  return all;
}

// Staging is far slower than the link, so the opposite direction does not slow staged copies further.
Operation Operations::staged(const Copy& c) const {
  Operation o = copy(c);
  o.uses.clear();
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
  require_own(range.data, "filling memory");
  Operation o;
  o.engine = internal_;
  o.overhead = profile_.copy_overhead;
  o.payload = static_cast<double>(range.bytes) / profile_.fill_rate;
  if (data_.on) o.on_finish = [&memory = data_.memory, range, value] { memory.fill(range.data, range.bytes, value); };
  return o;
}

std::vector<Use> Operations::uses_of(const KernelCost& cost, double payload) const {
  std::vector<Use> uses;
  if (cost.h2d_bytes + cost.d2h_bytes > 0) {
    uses = wiring_.to_host(
        number_, wiring_.socket_of(number_),
        {.h2d = static_cast<double>(cost.h2d_bytes) / payload, .d2h = static_cast<double>(cost.d2h_bytes) / payload});
    // Opposite traffic slows a kernel more than a copy engine, for which the link's own factor was measured.
    const double by_engines = cost.h2d_bytes > 0 ? profile_.h2d_duplex_rate : profile_.d2h_duplex_rate;
    if (cost.h2d_bytes == 0 || cost.d2h_bytes == 0) uses.front().duplex = profile_.kernels_duplex_rate / by_engines;
  }
  const auto from = data_.memory.device_of(cost.peer_source);
  const auto to = data_.memory.device_of(cost.peer_destination);
  if (cost.peer_bytes > 0 && from && to) {
    const double duplex = *from == number_ ? profile_.kernel_peer_write_duplex : profile_.kernel_peer_read_duplex;
    const auto ports = wiring_.between(*from, *to, static_cast<double>(cost.peer_bytes) / payload, duplex);
    uses.insert(uses.end(), ports.begin(), ports.end());
  }
  return uses;
}

Operation Operations::kernel(const Kernel& kernel, double overhead) const {
  require_access(kernel);
  const KernelCost cost = kernel.cost();
  Operation o;
  o.engine = compute_;
  o.share = share_of(cost, profile_);
  o.overhead = overhead + (cost.h2d_bytes + cost.d2h_bytes > 0 ? profile_.kernel_link_overhead : 0);
  o.payload = time_of(cost, data_.memory.device_of(cost.peer_source) == number_, profile_);
  o.uses = uses_of(cost, o.payload);
  if (const std::span<const Copy> moves = kernel.moves(); !moves.empty()) {
    move_data(o, {moves.begin(), moves.end()});
  } else if (data_.on && !kernel.output().empty()) {
    const std::shared_ptr<const Kernel> copy = kernel.clone();
    auto held = std::make_shared<InFlight>(data_.pages);
    o.on_start = [&memory = data_.memory, copy, held] { memory.compute(*copy, *held); };
    o.on_finish = [&memory = data_.memory, held] { memory.write(*held); };
  }
  return o;
}

Operation Operations::stamp(std::uint64_t* slot) const {
  Operation o;  // no engine: a single-thread kernel always finds room
  o.overhead = profile_.stamp_cost;
  o.on_finish = [&events = events_, slot] { *slot = static_cast<std::uint64_t>(std::llround(events.now() * 1e9)); };
  return o;
}

Operation Operations::flip(std::byte* at) const {
  Operation o;
  o.overhead = profile_.stamp_cost;  // any single-thread kernel costs the same
  if (data_.on) o.on_finish = [&memory = data_.memory, at] { memory.flip(at); };
  return o;
}

Operation Operations::hold(double seconds) const {
  Operation o;
  o.overhead = seconds;
  o.stands_for = gate_;
  return o;
}

}  // namespace xferbench::sim
