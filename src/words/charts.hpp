// Draws the charts that scenarios declare, for the results of a run.
#pragma once

#include "paper/bars.hpp"
#include "paper/chart.hpp"
#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench {

/// Returns the charts that have enough data: at least three values of the x axis, and not too many lines to
/// distinguish. All `results` must be of that scenario.
std::vector<Chart> charts_of(const ScenarioDescriptor& scenario, std::span<const Result* const> results);

/// Returns bar charts for those line charts whose x axis would have a single value, if there are at least three bars.
std::vector<Bars> bars_of(const ScenarioDescriptor& scenario, std::span<const Result* const> results);

/// Returns charts that compare the number of each GPU alone with its number while all GPUs work. Only for three and
/// more GPUs: fewer are easier to compare in a table.
std::vector<Bars> gpu_bars_of(const ScenarioDescriptor& scenario, std::span<const Result* const> results);

/// Returns a chart of the main metric's samples in the order in which they were taken, with their median. Of more than
/// `most` samples, it shows every n-th. nullopt for fewer than ten samples, or if the samples are only in another file.
std::optional<Chart> samples_of(const Result& result, const ScenarioDescriptor& scenario, std::size_t most);

}  // namespace xferbench
