// The spread between processes that measure the same thing. It is estimated from several processes and stored in a
// file, so that later comparisons of single processes can use it.
#pragma once

#include "results/result.hpp"
#include "results/spread_file.hpp"

namespace xferbench::compare {

/// Returns the variance of the logarithms of at least two numbers, all above 0.
double log_variance(std::span<const double> numbers);

/// Returns the spread of each case that at least two processes have sampled, without cases whose median is 0. There
/// must be at least one process, and all must be of one machine.
SpreadFile spread_between(std::span<const Report> processes);

/// Merges spreads of one machine: a case of `newer` replaces the known one with the same key and measurement.
SpreadFile merged(SpreadFile known, SpreadFile newer);

/// of_same_kind() compares the GPU models (or simulated profiles); of_same_gpu() also the UUIDs, if both are known.
bool of_same_kind(const SpreadFile& known, const Environment& environment);
bool of_same_gpu(const SpreadFile& known, const Environment& environment);

/// Return the GPU model as text, for example "NVIDIA H200" or "simulated by profile h200".
std::string kind_of(const SpreadFile& known);
std::string kind_of(const Environment& environment);

}  // namespace xferbench::compare
