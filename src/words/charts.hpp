// The charts that scenarios declare, for the results of a run.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "paper/bars.hpp"
#include "paper/chart.hpp"
#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench {

/// Charts with enough data: at least three values of the axis, and not more lines than can be told apart. All `results`
/// must be of that scenario.
std::vector<Chart> charts_of(const ScenarioDescriptor& scenario, std::span<const Result* const> results);

/// Bars in the place of charts whose axis has only one value; at least three lines are needed.
std::vector<Bars> bars_of(const ScenarioDescriptor& scenario, std::span<const Result* const> results);

/// Compares the number of each GPU alone with its number when all GPUs work. Only for three GPUs and more: a table
/// shows fewer better.
std::vector<Bars> gpu_bars_of(const ScenarioDescriptor& scenario, std::span<const Result* const> results);

/// The samples of the headline in the order in which they were taken, with their median; of more than `most`, every
/// n-th. nullopt for fewer than ten samples, and if only a file holds them.
std::optional<Chart> samples_of(const Result& result, const ScenarioDescriptor& scenario, std::size_t most);

}  // namespace xferbench
