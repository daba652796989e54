// The links of a simulated machine: what each GPU has of its own, and what they share.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "device/sim/event_simulator.hpp"
#include "device/sim/profile.hpp"

namespace xferbench::sim {

/// Bytes per second that an operation moves between a GPU and the host at full rate; 0: nothing.
struct HostTraffic {
  double h2d = 0;
  double d2h = 0;
};

/// Which links an operation's payload moves over. GPUs are meant by their place among those that were opened. A GPU has
/// a link to its socket and a port to the other GPUs, whose two directions all of them share; a socket has memory that
/// all traffic of it goes through, and a link to the other socket.
class Wiring {
 public:
  /// `gpus`: of the profile, those that were opened. Adds the links to `events`.
  Wiring(const Profile& profile, std::span<const int> gpus, EventSimulator& events);

  /// That a GPU of the profile is attached to.
  static std::size_t socket_of(const Profile& profile, int gpu);
  /// That a GPU is attached to.
  [[nodiscard]] std::size_t socket_of(std::size_t gpu) const { return gpus_[gpu].socket; }

  /// Between a GPU and memory of a socket.
  [[nodiscard]] std::vector<Use> to_host(std::size_t gpu, std::size_t socket, const HostTraffic& traffic) const;
  /// From one GPU to another. `duplex`: as of Use.
  [[nodiscard]] std::vector<Use> between(std::size_t from, std::size_t to, double rate, double duplex = 1) const;
  /// From one GPU to another by way of buffers in the memory of the first one's socket.
  [[nodiscard]] std::vector<Use> through_host(std::size_t from, std::size_t to, double rate) const;

 private:
  struct Gpu {
    std::size_t socket;
    LinkId pcie;
    LinkId port;
  };
  std::vector<Gpu> gpus_;
  std::vector<LinkId> memories_;  // by socket
  LinkId between_sockets_;        // "in" is to the second
  LinkId staging_;                // what the driver can carry through its buffers, all "in"
};

}  // namespace xferbench::sim
