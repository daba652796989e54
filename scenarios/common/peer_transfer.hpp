// Not a scenario: a copy from the memory of one GPU to that of another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/device.hpp"
#include "scenarios/common/transfer.hpp"

namespace xferbench {

struct PeerTransferSpec {
  Device& from;
  Device& to;
  bool fetched = false;  ///< by the GPU that gets it, instead of sent by the one that has it
  /// copy_engine, or multiprocessors, which need access to the other GPU's memory.
  Engine engine = Engine::copy_engine;
  std::size_t bytes = 0;
  std::uint64_t seed = 0;

  /// The GPU that does it, in a stream of which it is to be submitted.
  [[nodiscard]] Device& worker() const { return fetched ? to : from; }
};

/// Goes directly where the worker reaches the other GPU's memory (PeerAccess), else a copy engine goes through the
/// host.
class PeerTransfer final : public Transfer {
 public:
  explicit PeerTransfer(const PeerTransferSpec& spec);

  void prepare() override;
  void poison() override;
  void submit(StreamView stream) override;
  [[nodiscard]] bool blocks_host() const override { return false; }
  void check() override;

 private:
  [[nodiscard]] Copy copy() const { return {destination_.data, source_.data, spec_.bytes, Direction::p2p}; }

  PeerTransferSpec spec_;
  HostBuffer host_;  // which the source is filled from, and the destination checked in
  PayloadPart part_;
  DeviceBuffer source_;
  DeviceBuffer destination_;
};

}  // namespace xferbench
