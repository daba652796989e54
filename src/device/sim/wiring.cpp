#include "device/sim/wiring.hpp"

namespace xferbench::sim {

Wiring::Wiring(const Profile& p, std::span<const int> gpus, EventSimulator& events)
    : between_sockets_(events.add_shared_link(p.between_sockets)),
      staging_(events.add_shared_link(
          {p.staged_peer_rate_all, p.staged_peer_rate_all, p.staged_peer_rate_all, p.staged_peer_rate_all})) {
  for (unsigned socket = 0; socket < p.sockets; ++socket) memories_.push_back(events.add_shared_link(p.socket_memory));
  for (const int gpu : gpus) {
    gpus_.push_back(
        {.socket = socket_of(p, gpu),
         .pcie = events.add_link({p.h2d_duplex_rate, p.d2h_duplex_rate, p.h2d_duplex_overhead, p.d2h_duplex_overhead}),
         .port = events.add_link({.in_rate = p.peer_duplex_rate, .out_rate = p.peer_duplex_rate})});
  }
}

std::size_t Wiring::socket_of(const Profile& p, int gpu) { return static_cast<std::size_t>(gpu) * p.sockets / p.gpus; }

std::vector<Use> Wiring::to_host(std::size_t gpu, std::size_t socket, const HostTraffic& traffic) const {
  const Gpu& g = gpus_[gpu];
  std::vector<Use> uses{{g.pcie, traffic.h2d, traffic.d2h}, {memories_[socket], traffic.h2d, traffic.d2h}};
  if (socket < g.socket) uses.push_back({between_sockets_, traffic.h2d, traffic.d2h});
  if (socket > g.socket) uses.push_back({between_sockets_, traffic.d2h, traffic.h2d});
  return uses;
}

std::vector<Use> Wiring::between(std::size_t from, std::size_t to, double rate, double duplex) const {
  return {{.link = gpus_[from].port, .out = rate, .duplex = duplex},
          {.link = gpus_[to].port, .in = rate, .duplex = duplex}};
}

std::vector<Use> Wiring::through_host(std::size_t from, std::size_t to, double rate) const {
  const std::size_t socket = gpus_[from].socket;
  std::vector<Use> uses = to_host(to, socket, {.h2d = rate});
  uses.push_back({.link = gpus_[from].pcie, .out = rate});
  uses.push_back({.link = memories_[socket], .out = rate});
  uses.push_back({.link = staging_, .in = rate});
  return uses;
}

}  // namespace xferbench::sim
