// Metrics over two axes, and what findings say of pairs of GPUs, as matrices. Pure functions from records to matrices.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "paper/matrix.hpp"
#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench {

struct HeatMaps {
  std::vector<Matrix> over_counts{};             ///< the best cell has an asterisk
  std::vector<Matrix> over_gpus{};               ///< from GPU to GPU: what differs from its like has one
  std::vector<std::string> notes_over_counts{};  ///< why there is none, or not all
  std::vector<std::string> notes_over_gpus{};
  std::vector<const Result*> in_over_gpus{};  ///< whose numbers stand in one of those
};

/// The scenario's heat maps of its results, which must be all of that scenario: of each that it declares one for each
/// combination of the other axes that vary, up to six over counts and twelve over GPUs. None if the scenario does not
/// vary both axes. A case that was not measured has no cell.
HeatMaps heat_maps(const ScenarioDescriptor& scenario, std::span<const Result* const> results,
                   const Environment& environment);

/// Whether a finding says numbers of two GPUs, whichever is first: its labels `a` and `b`.
bool is_of_pair(const Finding& finding);

/// Such findings, which are all of one kind, details too: a matrix of their first metric for each combination of their
/// other labels but `outcome`.
std::vector<Matrix> pair_matrices(std::span<const Finding* const> findings);

}  // namespace xferbench
