// Not a scenario: a payload between the host and one GPU, and the ways it may take: through that GPU's own link, and
// through other GPUs, which pass it on.
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

/// The payload's memory on the host and on the target, and the GPUs at its service, which reach the target's memory as
/// long as it lives.
class MultipathPayload {
 public:
  MultipathPayload(Machine& machine, const MultipathCase& c, std::uint64_t seed);

  [[nodiscard]] Direction direction() const { return direction_; }
  [[nodiscard]] std::uint64_t bytes() const { return host_.bytes; }
  [[nodiscard]] Device& target() const { return *devices_.front(); }
  [[nodiscard]] std::span<Device* const> helpers() const { return std::span(devices_).subspan(1); }

  /// Bytes from `offset` on, to or from where they belong on the target.
  [[nodiscard]] Copy directly(std::uint64_t offset, std::uint64_t bytes) const {
    return over_link(at(offset), offset, bytes);
  }
  /// The same, between the host and memory of any of the GPUs.
  [[nodiscard]] Copy over_link(std::byte* on_gpu, std::uint64_t offset, std::uint64_t bytes) const;
  /// The same between the target's memory and a helper's.
  [[nodiscard]] Copy between_gpus(std::byte* on_helper, std::uint64_t offset, std::uint64_t bytes) const;
  /// On the target.
  [[nodiscard]] std::byte* at(std::uint64_t offset) const { return on_target_.data + offset; }

  /// Real data where the payload comes from.
  void prepare();
  /// Where it goes to.
  void poison();
  /// Throws VerificationError unless it has arrived. Leaves the source as it was.
  void check();

  // Of a part that stays on a GPU, in its memory `on_gpu`: H2D it goes there, D2H it comes from there.
  void prepare_part(Device& device, const DeviceView& on_gpu, std::uint64_t offset);
  void poison_part(Device& device, const DeviceView& on_gpu);
  /// Brings it back to the host's buffer, which is to be poisoned before and checked when all parts are there. Nothing
  /// for D2H.
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

/// As much as can reach all GPUs at once: each takes its part over its own link, and keeps it.
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
    DeviceView on_gpu;  // of the target: a part of the payload's own memory
    std::uint64_t offset;
    Stream stream;
    DeviceBuffer own;
  };
  MultipathPayload& payload_;
  std::vector<Part> parts_;
};

/// A part directly, the rest through the helpers, chunk after chunk.
class Relay {
 public:
  /// All of it directly.
  explicit Relay(MultipathPayload& payload) : Relay(payload, {}, {.direct = payload.bytes(), .through = {}}) {}
  Relay(MultipathPayload& payload, const model::RelayShape& shape, const model::RelaySplit& split);
  [[nodiscard]] Region region(std::string name);
  /// That the busiest stream of a helper gets, for so many chunks.
  static constexpr std::size_t operations(std::size_t chunks) { return 3 * chunks; }
  /// Where the payload goes to, and what it goes through.
  void poison();

 private:
  struct Helper {
    std::uint64_t offset;               // of its part of the payload
    std::vector<std::uint64_t> chunks;  // their bytes
    RelaySlots slots;
  };
  void submit();

  MultipathPayload& payload_;
  std::uint64_t direct_;  // bytes of the payload's begin
  Stream stream_;
  std::vector<Helper> helpers_;
};

}  // namespace xferbench
