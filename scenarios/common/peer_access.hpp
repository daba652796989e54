// Not a scenario: GPUs that reach each other's memory, for as long as a case needs it.
#pragma once

#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "core/non_copyable.hpp"
#include "device/device.hpp"

namespace xferbench {

/// While it lives, GPUs reach the memory of others. Throws DeviceError where a link does not permit it.
class PeerAccess {
 public:
  /// Each of the first reaches each of the second.
  PeerAccess(std::span<Device* const> devices, std::span<Device* const> peers) {
    for (Device* device : devices) {
      for (Device* peer : peers) {
        if (device != peer) open_.push_back(std::make_unique<OneWay>(*device, *peer));
      }
    }
  }
  /// Each reaches every other.
  explicit PeerAccess(std::span<Device* const> devices) : PeerAccess(devices, devices) {}

 private:
  class OneWay : NonCopyable {
   public:
    OneWay(Device& device, Device& peer) : device_(device), peer_(peer) { device_.set_peer_access(peer_, true); }
    ~OneWay() {
      try {
        device_.set_peer_access(peer_, false);
      } catch (const std::exception&) {  // the device is lost, which whoever uses it next is told
      }
    }

   private:
    Device& device_;
    Device& peer_;
  };
  std::vector<std::unique_ptr<OneWay>> open_;
};

}  // namespace xferbench
