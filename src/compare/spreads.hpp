// The spread between processes that measure the same thing: estimated from several processes, and stored in a file for
// comparisons of single processes.
#pragma once

#include <span>
#include <string>

#include "results/result.hpp"
#include "results/spread_file.hpp"

namespace xferbench::compare {

/// The variance of the logarithms of at least two numbers, all above 0.
double log_variance(std::span<const double> numbers);

/// The spread of the cases that at least two of the processes have sampled; cases with a median of 0 are left out.
/// There must be at least one process, and all of one machine.
SpreadFile spread_between(std::span<const Report> processes);

/// Merges spreads of one machine: the cases of `newer` replace those of the same key and measurement, all others stay.
SpreadFile merged(SpreadFile known, SpreadFile newer);

/// Whether the spreads were measured on the same kind of GPU; on the very same GPU, as far as both UUIDs are known.
bool of_same_kind(const SpreadFile& known, const Environment& environment);
bool of_same_gpu(const SpreadFile& known, const Environment& environment);

/// Text for the kind of GPU, for example "NVIDIA H200" or "simulated by profile h200".
std::string kind_of(const SpreadFile& known);
std::string kind_of(const Environment& environment);

}  // namespace xferbench::compare
