// Heat maps of metrics over two axes, and matrices of findings about pairs of GPUs. Pure functions of the records.
#pragma once

#include "paper/matrix.hpp"
#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench {

struct HeatMaps {
  std::vector<Matrix> over_counts{};  ///< maps over axes that are not GPUs; an asterisk marks the best cell
  std::vector<Matrix> over_gpus{};  ///< maps from GPU to GPU; an asterisk marks cells that differ from comparable pairs
  std::vector<std::string> notes_over_counts{};  ///< reasons why maps are left out of `over_counts`
  std::vector<std::string> notes_over_gpus{};
  std::vector<const Result*> in_over_gpus{};
};

/// Returns the heat maps that the scenario declares. Each declaration gives a map for each combination of the other
/// axes that vary, up to six over counts and twelve over GPUs, and none if the cases do not vary both of its axes. A
/// case that was not measured has no cell. All results must be of that scenario.
HeatMaps heat_maps(const ScenarioDescriptor& scenario, std::span<const Result* const> results,
                   const Environment& environment);

/// Whether a finding is about an unordered pair of GPUs, which its labels `a` and `b` name.
bool is_of_pair(const Finding& finding);

/// Returns matrices of findings of one kind, which must be about pairs of GPUs (is_of_pair()). Findings with the same
/// first metric and the same labels, apart from `a`, `b` and `outcome`, share a matrix, which shows that metric.
std::vector<Matrix> pair_matrices(std::span<const Finding* const> findings, const std::string& title);

}  // namespace xferbench
