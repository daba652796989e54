// The charts that scenarios declare, of the results of a run.
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

/// Those of which there is enough to draw: three values of the axis, and not more lines than can be told apart.
/// `results`: of that scenario.
std::vector<Chart> charts_of(const ScenarioDescriptor& scenario, std::span<const Result* const> results);

/// In the place of charts, where their axes have one value only: the numbers of three lines or more.
std::vector<Bars> bars_of(const ScenarioDescriptor& scenario, std::span<const Result* const> results);

/// What each GPU gets in company beside what it gets alone; none of fewer than three GPUs, whom a table tells better.
std::vector<Bars> gpu_bars_of(const ScenarioDescriptor& scenario, std::span<const Result* const> results);

/// The samples of what the case is about, in the order in which they were taken, with their median; of more than `most`
/// one in so many. Nothing of fewer than ten, nor
/// where a file alone has them.
std::optional<Chart> samples_of(const Result& result, const ScenarioDescriptor& scenario, std::size_t most);

}  // namespace xferbench
