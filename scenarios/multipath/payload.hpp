// A payload between the host and one GPU, and its paths: through that GPU's own link, and through other GPUs that relay
// it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device/machine.hpp"
#include "measure/region.hpp"
#include "model/relay.hpp"
#include "scenarios/common/peer_access.hpp"
#include "scenarios/common/relay_slots.hpp"
#include "scenarios/multipath/case.hpp"

namespace xferbench {

/// The payload's buffers on host and target, the target and its helper GPUs. Enables peer access from the helpers to
/// the target for its lifetime.
class MultipathPayload {
 public:
  MultipathPayload(Machine& machine, const MultipathCase& c, std::uint64_t seed);

  [[nodiscard]] Direction direction() const { return direction_; }
  [[nodiscard]] std::uint64_t bytes() const { return host_.bytes; }
  [[nodiscard]] Device& target() const { return *devices_.front(); }
  [[nodiscard]] std::span<Device* const> helpers() const { return std::span(devices_).subspan(1); }

  /// A copy of `bytes` bytes of the payload from `offset` on, between the host and the target's memory.
  [[nodiscard]] Copy directly(std::uint64_t offset, std::uint64_t bytes) const {
    return over_link(at(offset), offset, bytes);
  }
  /// Like directly(), but between the host and memory `on_gpu` of any GPU.
  [[nodiscard]] Copy over_link(std::byte* on_gpu, std::uint64_t offset, std::uint64_t bytes) const;
  /// Like directly(), but between the target's memory and memory `on_helper` of a helper.
  [[nodiscard]] Copy between_gpus(std::byte* on_helper, std::uint64_t offset, std::uint64_t bytes) const;
  /// Address in the target's memory of byte `offset` of the payload.
  [[nodiscard]] std::byte* at(std::uint64_t offset) const { return on_target_.data + offset; }

  /// Fills the source.
  void prepare();
  /// Overwrites the destination.
  void poison();
  /// Throws VerificationError if the data has not arrived. Keeps the source.
  void check();

  // For a part that is kept in memory `on_gpu` of `device` without relaying: fills it if it is a source (D2H), poisons
  // it if it is a destination (H2D).
  void prepare_part(Device& device, const DeviceView& on_gpu, std::uint64_t offset);
  void poison_part(Device& device, const DeviceView& on_gpu);
  /// H2D: copies the part back to the host buffer, which must be poisoned before, and checked after all parts are back.
  /// D2H: no effect.
  void fetch_part(Device& device, const DeviceView& on_gpu, std::uint64_t offset);
  void poison_host();
  void check_host() const;

 private:
  [[nodiscard]] std::span<std::byte> host_bytes() const { return {host_.data, host_.bytes}; }

  Direction direction_;
  std::uint64_t seed_;
  std::vector<Device*> devices_;  // the target, then its helpers
  PeerAccess access_;
  HostBuffer host_;
  PayloadPart part_;
  DeviceBuffer on_target_;
};

/// The upper limit of multipath: each GPU copies its part over its own link and keeps it, without relaying.
class OwnLinks {
 public:
  OwnLinks(MultipathPayload& payload, const model::RelaySplit& split);
  [[nodiscard]] Region region();
  void prepare();
  void poison();
  void check();

 private:
  struct Part {
    Device* device;
    DeviceView on_gpu;  // for the target a range of the payload's own memory, else all of `own`
    std::uint64_t offset;
    Stream stream;
    DeviceBuffer own;
  };
  MultipathPayload& payload_;
  std::vector<Part> parts_;
};

/// Copies a part of the payload over the target's own link, and the rest in chunks through the helpers.
class Relay {
 public:
  /// The whole payload over the target's own link.
  explicit Relay(MultipathPayload& payload) : Relay(payload, {}, {.direct = payload.bytes(), .through = {}}) {}
  Relay(MultipathPayload& payload, const model::RelayShape& shape, const model::RelaySplit& split);
  [[nodiscard]] Region region(std::string name);
  /// Number of operations in the busiest stream of a helper that relays `chunks` chunks.
  static constexpr std::size_t operations(std::size_t chunks) { return 3 * chunks; }
  /// Overwrites the destination and the slots.
  void poison();

 private:
  struct Helper {
    std::uint64_t offset;               // byte offset of the helper's part in the payload
    std::vector<std::uint64_t> chunks;  // bytes of each chunk
    RelaySlots slots;
  };
  void submit();

  MultipathPayload& payload_;
  std::uint64_t direct_;  // bytes at the start of the payload that use the own link
  Stream stream_;
  std::vector<Helper> helpers_;
};

}  // namespace xferbench
