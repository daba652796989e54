// A payload between the host and one GPU, and its paths: through that GPU's own link, and through other GPUs that relay
// it.
#pragma once

#include "measure/region.hpp"
#include "model/relay.hpp"
#include "scenarios/common/peer_access.hpp"
#include "scenarios/common/relay_slots.hpp"
#include "scenarios/multipath/case.hpp"

namespace xferbench {

/// The payload's buffers on the host and on the target GPU, and the helper GPUs. The helpers have peer access to the
/// target during the lifetime of this object.
class MultipathPayload {
 public:
  MultipathPayload(Machine& machine, const MultipathCase& c, std::uint64_t seed);

  [[nodiscard]] Direction direction() const { return direction_; }
  [[nodiscard]] std::uint64_t bytes() const { return host_.bytes; }
  [[nodiscard]] Device& target() const { return *devices_.front(); }
  [[nodiscard]] std::span<Device* const> helpers() const { return std::span(devices_).subspan(1); }

  /// Returns a copy of `bytes` bytes of the payload from byte `offset` on, between the host and the target's memory.
  [[nodiscard]] Copy directly(std::uint64_t offset, std::uint64_t bytes) const {
    return over_link(at(offset), offset, bytes);
  }
  /// Like directly(), but between the host and address `on_gpu` in the memory of any GPU.
  [[nodiscard]] Copy over_link(std::byte* on_gpu, std::uint64_t offset, std::uint64_t bytes) const;
  /// Like directly(), but between the target's memory and address `on_helper` in a helper's memory.
  [[nodiscard]] Copy between_gpus(std::byte* on_helper, std::uint64_t offset, std::uint64_t bytes) const;
  /// Returns the address of the payload's byte `offset` in the target's memory.
  [[nodiscard]] std::byte* at(std::uint64_t offset) const { return on_target_.data + offset; }

  /// Fills the source.
  void prepare();
  /// Overwrites the destination.
  void poison();
  /// Checks the destination. Throws VerificationError if the data has not arrived. Does not change the source.
  void check();

  // These functions are for a part of the payload that stays in memory `on_gpu` of `device` without being relayed.
  // prepare_part() fills the part if it is a source (D2H); poison_part() poisons it if it is a destination (H2D).
  void prepare_part(Device& device, const DeviceView& on_gpu, std::uint64_t offset);
  void poison_part(Device& device, const DeviceView& on_gpu);
  /// For H2D, copies the part back to the host buffer, which must be poisoned before, and checked after all parts are
  /// back. For D2H, does nothing.
  void fetch_part(Device& device, const DeviceView& on_gpu, std::uint64_t offset);
  void poison_host();
  void check_host() const;

 private:
  [[nodiscard]] std::span<std::byte> host_bytes() const { return {host_.data, host_.bytes}; }

  Direction direction_;
  std::uint64_t seed_;
  std::vector<Device*> devices_;  // the target GPU, then its helpers
  PeerAccess access_;
  HostBuffer host_;
  PayloadPart part_;
  DeviceBuffer on_target_;
};

/// Copies a part of the payload over each GPU's own link and does not relay it: the upper limit of multipath.
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
    DeviceView on_gpu;  // on the target: a range of the payload; on a helper: all of `own`
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
  /// Relays nothing: copies the whole payload over the target's own link.
  explicit Relay(MultipathPayload& payload) : Relay(payload, {}, {.direct = payload.bytes(), .through = {}}) {}
  Relay(MultipathPayload& payload, const model::RelayShape& shape, const model::RelaySplit& split);
  [[nodiscard]] Region region(std::string name);
  /// Returns the number of operations in the busiest stream of a helper that relays `chunks` chunks.
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
  std::uint64_t direct_;  // number of bytes at the start of the payload that use the target's own link
  Stream stream_;
  std::vector<Helper> helpers_;
};

}  // namespace xferbench
