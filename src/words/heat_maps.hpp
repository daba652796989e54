// Heat maps of metrics over two axes, and of findings about pairs of GPUs. Pure functions from records to matrices.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "paper/matrix.hpp"
#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench {

struct HeatMaps {
  std::vector<Matrix> over_counts{};  ///< an asterisk marks the best cell
  std::vector<Matrix> over_gpus{};    ///< from GPU to GPU; an asterisk marks cells that differ from their group
  std::vector<std::string> notes_over_counts{};  ///< why there are no maps over counts, or not all
  std::vector<std::string> notes_over_gpus{};
  std::vector<const Result*> in_over_gpus{};  ///< results that are shown in over_gpus
};

/// The heat maps that the scenario declares; all results must be of that scenario. Each declared one gives a map for
/// each combination of the other axes that vary, up to six over counts and twelve over GPUs. None if the scenario does
/// not vary both axes. A case that was not measured has no cell.
HeatMaps heat_maps(const ScenarioDescriptor& scenario, std::span<const Result* const> results,
                   const Environment& environment);

/// Whether a finding has numbers of a pair of GPUs in no order: its labels `a` and `b`.
bool is_of_pair(const Finding& finding);

/// Matrices of findings of one kind for which is_of_pair() is true, details too: one of their first metric for each
/// combination of their other labels except `outcome`.
std::vector<Matrix> pair_matrices(std::span<const Finding* const> findings, const std::string& title);

}  // namespace xferbench
