// Links of a simulated machine: those of single GPUs and those shared by several.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "device/sim/event_simulator.hpp"
#include "device/sim/profile.hpp"

namespace xferbench::sim {

/// Bytes per second between a GPU and the host at full rate; 0: none.
struct HostTraffic {
  double h2d = 0;
  double d2h = 0;
};

/// Determines the links that a payload moves over. GPUs are indexed by their order among the opened ones. Each GPU
/// has a link to its socket and a port to the other GPUs; traffic with all peers shares the port. Each socket has
/// memory that all its traffic passes through, and a link to the other socket.
class Wiring {
 public:
  /// `gpus`: profile numbers of the opened GPUs. Adds the links to `events`.
  Wiring(const Profile& profile, std::span<const int> gpus, EventSimulator& events);

  /// Socket of a GPU, by its number in the profile.
  static std::size_t socket_of(const Profile& profile, int gpu);
  /// Socket of a GPU, by its index among the opened ones.
  [[nodiscard]] std::size_t socket_of(std::size_t gpu) const { return gpus_[gpu].socket; }

  /// Links between a GPU and the memory of a socket.
  [[nodiscard]] std::vector<Use> to_host(std::size_t gpu, std::size_t socket, const HostTraffic& traffic) const;
  /// Links from one GPU to another, in that direction. `duplex`: see Use::duplex.
  [[nodiscard]] std::vector<Use> between(std::size_t from, std::size_t to, double rate, double duplex = 1) const;
  /// Links from one GPU to another, staged through memory of the sending GPU's socket.
  [[nodiscard]] std::vector<Use> through_host(std::size_t from, std::size_t to, double rate) const;

 private:
  struct Gpu {
    std::size_t socket;
    LinkId pcie;
    LinkId port;
  };
  std::vector<Gpu> gpus_;
  std::vector<LinkId> memories_;  // indexed by socket
  LinkId between_sockets_;        // "in" is toward the second socket
  LinkId staging_;                // the driver's staging buffers, all traffic "in"
};

}  // namespace xferbench::sim
