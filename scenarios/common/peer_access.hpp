// Not a scenario: GPUs that reach each other's memory, for as long as a case needs it.
#pragma once

#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "device/device.hpp"

namespace xferbench {

/// While it lives, each of the devices reaches the memory of every other. Throws DeviceError where a link does not
/// permit it.
class PeerAccess {
 public:
  explicit PeerAccess(std::span<Device* const> devices) {
    for (Device* device : devices) {
      for (Device* peer : devices) {
        if (device == peer) continue;
        device->set_peer_access(*peer, true);
        opened_.emplace_back(device, peer);
      }
    }
  }
  PeerAccess(const PeerAccess&) = delete;
  PeerAccess& operator=(const PeerAccess&) = delete;
  ~PeerAccess() {
    for (const auto& [device, peer] : opened_) {
      try {
        device->set_peer_access(*peer, false);
      } catch (const std::exception&) {  // the device is lost, which whoever uses it next is told
      }
    }
  }

 private:
  std::vector<std::pair<Device*, Device*>> opened_;
};

}  // namespace xferbench
