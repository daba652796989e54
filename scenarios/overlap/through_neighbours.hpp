// Not a scenario: one payload that goes to one GPU and comes back through the links of others, too: the pipeline, and
// what it is measured beside.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "results/result.hpp"
#include "run/scenario.hpp"
#include "scenarios/overlap/case.hpp"
#include "scenarios/overlap/pipelines.hpp"

namespace xferbench {

/// One GPU works on all chunks. They take turns on the ways to it and back: its own link, in streams of its own, and
/// the links of its helpers, which pass them on. What must be waited for before what, by events:
///   the kernel for its chunk, which has come by whatever way; the copy out, or a helper's copy to itself, for the
///   kernel;
///   on a helper, the copy out of a slot for the copy into it, and the copy into a slot for the copy that emptied it.
/// The working GPU has a place for every chunk.
class ThroughNeighbours final : public Pipeline {
 public:
  /// Throws std::logic_error where the work has fewer places than chunks: a mistake in the scenario.
  ThroughNeighbours(Device& device, ChunkedWork& work, const PipelineShape& shape, std::span<Device* const> helpers);

  void submit() override;
  [[nodiscard]] std::vector<StreamView> streams() const override;
  void poison() override;

 private:
  /// Slots in a helper's memory that copies between the host and the working GPU go through, one after the other.
  class Slots {
   public:
    Slots(Device& helper, std::size_t slots, std::size_t slot_bytes);
    /// Number `turn` of all in a pass.
    void pass_on(const Copy& c, std::size_t turn);
    [[nodiscard]] EventView arrived(std::size_t turn) const { return drained_[turn % drained_.size()]; }
    /// Where copies begin.
    [[nodiscard]] StreamView fill() const { return fill_; }
    [[nodiscard]] StreamView drain() const { return drain_; }
    void poison();

   private:
    std::size_t slot_bytes_;
    DeviceBuffer memory_;
    Stream fill_;
    Stream drain_;
    std::vector<Event> filled_;  // by slot
    std::vector<Event> drained_;
  };
  struct Helper {
    Slots in;
    Slots out;
  };

  void submit_directly(std::size_t chunk);
  void submit_through(Helper& helper, std::size_t chunk, std::size_t turn);

  Tracer& tracer_;
  ChunkedWork& work_;
  Stream h2d_;
  Stream kernel_;
  Stream d2h_;
  Event hand_over_;
  std::vector<Helper> helpers_;
};

/// As Scenario::run(), for a case of Strategy::multipath.
void measure_through_neighbours(const OverlapCase& c, const RunContext& bench, Result& result);

/// What the working GPU or a helper holds, whichever is more, and the host.
MemoryNeeds needs_of_neighbours(const OverlapCase& c);

/// Why such a case cannot be, or cannot be on such a machine; nothing if it can.
std::optional<SkipReason> reason_against_neighbours(const OverlapCase& c, const Capabilities* can);

}  // namespace xferbench
