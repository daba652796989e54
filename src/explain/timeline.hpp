// Converts a recording to the intervals of a timeline.
#pragma once

#include <cstddef>
#include <functional>

#include "explain/explanation.hpp"
#include "explain/program.hpp"
#include "results/recording_file.hpp"

namespace xferbench::explain {

/// Callback that receives the next span. Returns false to stop.
using SpanVisit = std::function<bool(const TimelineSpan&)>;

/// Visits operations, outermost CUDA calls and NVTX ranges in the window, sorted by begin. Needs only a few bytes of
/// memory for each record, so that long recordings can be written while they are visited.
void each_span(const Recording& recording, const Window& window, const SpanVisit& visit);

Track track_of(CopyKind kind);

/// Returns the timeline of the first `most` spans of the window.
Timeline timeline_of(const Recording& recording, const Window& window, std::size_t most);

}  // namespace xferbench::explain
