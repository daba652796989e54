// The multipath strategy: one GPU computes, and chunks also use the links of other GPUs. Pipeline and measurement.
#pragma once

#include <cstddef>

#include "run/scenario.hpp"
#include "scenarios/common/relay_slots.hpp"
#include "scenarios/overlap/case.hpp"
#include "scenarios/overlap/pipelines.hpp"

namespace xferbench {

/// A pipeline in which one GPU computes all chunks. The chunks rotate over the paths to that GPU and back: its own
/// link, and the links of helper GPUs, which relay them. Events order the operations:
///   a kernel waits for the arrival of its chunk; a copy out, or a helper's copy out, waits for the kernel;
///   the copies through a helper wait for each other as RelaySlots describes.
/// The GPU that computes has a buffer for every chunk.
class PeerRelay final : public Pipeline {
 public:
  /// Throws std::logic_error if `work` has fewer slots than chunks, which is a programming error.
  PeerRelay(Device& device, ChunkedWork& work, const PipelineShape& shape, std::span<Device* const> helpers);

  void submit() override;
  [[nodiscard]] std::vector<StreamView> streams() const override;
  void poison() override;

 private:
  struct Helper {
    RelaySlots in;
    RelaySlots out;
  };

  void submit_directly(std::size_t chunk);
  void submit_by_helper(Helper& helper, std::size_t chunk, std::size_t turn);

  Tracer& tracer_;
  ChunkedWork& work_;
  Stream h2d_;
  Stream kernel_;
  Stream d2h_;
  Event hand_over_;
  std::vector<Helper> helpers_;
};

/// Implements Scenario::run() for cases of Strategy::multipath.
void measure_peer_relay(const OverlapCase& c, const RunContext& bench, Result& result);

/// Returns the device memory of the GPU that computes or of a helper, whichever needs more, and the host memory.
MemoryNeeds peer_relay_needs(const OverlapCase& c);

/// Returns why the case is impossible on any machine (`can` is null) or on this one; nothing if it is possible.
std::optional<SkipReason> reason_against_peer_relay(const OverlapCase& c, const Capabilities* can);

}  // namespace xferbench
