// Links of a simulated machine: those of single GPUs and those shared by several.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "device/sim/event_simulator.hpp"
#include "device/sim/profile.hpp"

namespace xferbench::sim {

/// Traffic between a GPU and the host at full rate, in bytes per second; 0: none.
struct HostTraffic {
  double h2d = 0;
  double d2h = 0;
};

/// Determines over which links a payload moves. GPUs are given by their index among the opened ones. Each GPU has a
/// link to its socket and a port to the other GPUs; the port is shared by the traffic with all peers. Host traffic also
/// uses the link of a socket's memory. Another link connects the sockets.
class Wiring {
 public:
  /// Adds the links to `events`. `gpus` are the numbers of the opened GPUs in the profile.
  Wiring(const Profile& profile, std::span<const int> gpus, EventSimulator& events);

  static std::size_t socket_of(const Profile& profile, int gpu);
  /// Returns the CPU socket of the opened GPU with index `gpu`.
  [[nodiscard]] std::size_t socket_of(std::size_t gpu) const { return gpus_[gpu].socket; }

  /// Returns the links that traffic between a GPU and the memory of a socket uses.
  [[nodiscard]] std::vector<Use> to_host(std::size_t gpu, std::size_t socket, const HostTraffic& traffic) const;
  /// Returns the links that traffic from one GPU to another uses. `duplex` becomes Use::duplex, a factor on the rate.
  [[nodiscard]] std::vector<Use> between(std::size_t from, std::size_t to, double rate, double duplex = 1) const;
  /// Returns the links from one GPU to another if copies are staged through the memory of the sending GPU's socket.
  [[nodiscard]] std::vector<Use> through_host(std::size_t from, std::size_t to, double rate) const;

 private:
  struct Gpu {
    std::size_t socket;
    LinkId pcie;
    LinkId port;
  };
  std::vector<Gpu> gpus_;
  std::vector<LinkId> memories_;  // indexed by socket
  LinkId between_sockets_;        // in direction "in", traffic goes to the second socket
  LinkId staging_;                // the driver's staging buffers; all traffic counts as "in"
};

}  // namespace xferbench::sim
