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
#include "scenarios/common/relay_slots.hpp"
#include "scenarios/overlap/case.hpp"
#include "scenarios/overlap/pipelines.hpp"

namespace xferbench {

/// One GPU works on all chunks. They take turns on the ways to it and back: its own link, in streams of its own, and
/// the links of its helpers, which pass them on. What must be waited for before what, by events:
///   the kernel for its chunk, which has come by whatever way; the copy out, or a helper's copy to itself, for the
///   kernel; on a helper, as RelaySlots say.
/// The working GPU has a place for every chunk.
class ThroughNeighbours final : public Pipeline {
 public:
  /// Throws std::logic_error where the work has fewer places than chunks: a mistake in the scenario.
  ThroughNeighbours(Device& device, ChunkedWork& work, const PipelineShape& shape, std::span<Device* const> helpers);

  void submit() override;
  [[nodiscard]] std::vector<StreamView> streams() const override;
  void poison() override;

 private:
  struct Helper {
    RelaySlots in;
    RelaySlots out;
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
