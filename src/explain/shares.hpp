// Breaks down the wall time of the analyzed window.
#pragma once

#include <optional>

#include "explain/explanation.hpp"
#include "explain/program.hpp"
#include "explain/replay.hpp"

namespace xferbench::explain {

/// Attributes each moment to one share: to what the GPUs do, or if they are idle, to what the host does. If host
/// threads differ, waiting for the GPU takes precedence over being inside a call. `baseline`: seconds without the
/// profiler. Time beyond that is profiler overhead and is subtracted from calls first, where most of it is spent.
Shares shares_of(const Program& program, std::optional<double> baseline);

/// Breaks down the time of the program without profiler overhead (gains.hpp), from its replay. `profiled` and
/// `baseline`: seconds of the window with and without the profiler. All shares but the profiler's add up to `baseline`.
Shares shares_unprofiled(const Program& unprofiled, const Replay& replayed, double profiled, double baseline);

}  // namespace xferbench::explain
