// How far apart processes lie that measure the same thing: estimated where there are several, remembered in a file for
// where there is one.
#pragma once

#include <span>
#include <string>

#include "results/result.hpp"
#include "results/spread_file.hpp"

namespace xferbench::compare {

/// The variance of the logarithms of these numbers, of which there are at least two, all above 0.
double log_variance(std::span<const double> numbers);

/// Of the cases that at least two of the processes have sampled; those of a median of 0 are left out. The processes are
/// of one machine, and there is at least one.
SpreadFile spread_between(std::span<const Report> processes);

/// What is known of a machine after `newer` was measured there, too: its cases replace those of the same key and
/// measurement, all others stay.
SpreadFile merged(SpreadFile known, SpreadFile newer);

/// Whether a file is of the same kind of GPU, and whether it is of this very one, as far as both say.
bool of_same_kind(const SpreadFile& known, const Environment& environment);
bool of_same_gpu(const SpreadFile& known, const Environment& environment);

/// "NVIDIA H200", "simulated by profile h200".
std::string kind_of(const SpreadFile& known);
std::string kind_of(const Environment& environment);

}  // namespace xferbench::compare
