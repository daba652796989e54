// Peer access between GPUs, for as long as a case needs it.
#pragma once

#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "core/non_copyable.hpp"
#include "device/device.hpp"

namespace xferbench {

/// Enables peer access between GPUs; the destructor disables it. The constructors throw DeviceError if a link does not
/// support peer access.
class PeerAccess {
 public:
  /// Gives each of `devices` access to the memory of each of `peers`.
  PeerAccess(std::span<Device* const> devices, std::span<Device* const> peers) {
    for (Device* device : devices) {
      for (Device* peer : peers) {
        if (device != peer) open_.push_back(std::make_unique<OneWay>(*device, *peer));
      }
    }
  }
  /// Gives each of `devices` access to the memory of all the others.
  explicit PeerAccess(std::span<Device* const> devices) : PeerAccess(devices, devices) {}

 private:
  class OneWay : NonCopyable {
   public:
    OneWay(Device& device, Device& peer) : device_(device), peer_(peer) { device_.set_peer_access(peer_, true); }
    ~OneWay() {
      try {
        device_.set_peer_access(peer_, false);
      } catch (const std::exception&) {  // the device is lost; the next call to it reports the error
      }
    }

   private:
    Device& device_;
    Device& peer_;
  };
  std::vector<std::unique_ptr<OneWay>> open_;
};

}  // namespace xferbench
