// Compares the GPUs of a machine that did the same work, one after the other, or one GPU's work on the memory of
// several NUMA nodes: are they alike, and if not, which one differs? Pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/relation.hpp"
#include "results/result.hpp"

namespace xferbench {

/// The time that the work took on one GPU, or on the memory of one NUMA node.
struct Rival {
  int number = 0;  ///< number of the GPU or of the NUMA node
  model::Estimate time{};
};

/// The same work on several GPUs, or on the memory of several NUMA nodes.
struct SameWork {
  std::string words{};  ///< what was done, as the subject of a sentence: "h2d, pinned"
  Labels labels{};
  double bytes = 0;  ///< payload that each GPU copied, in Rival::time
  std::vector<Rival> rivals{};
};

/// Returns findings of kind "gpus", one for each work (label "outcome": "alike", "different" or "undecided"). If the
/// GPUs are alike in some works, the first finding summarizes these works, and their own findings are details.
std::vector<Finding> compare_gpus(std::span<const SameWork> all);

/// Returns findings of kind "numa": first the largest loss from memory on the wrong NUMA node, then, as details, the
/// lowest and the highest rate of each work.
std::vector<Finding> compare_nodes(std::span<const SameWork> all);

}  // namespace xferbench
