// Converts a recording to the intervals of a timeline.
#pragma once

#include <cstddef>
#include <functional>

#include "explain/explanation.hpp"
#include "explain/program.hpp"
#include "results/recording_file.hpp"

namespace xferbench::explain {

/// Receives the next span; returns false to stop.
using SpanVisit = std::function<bool(const TimelineSpan&)>;

/// Visits operations, outermost CUDA calls and NVTX ranges in the window, sorted by begin. Needs only a few bytes of
/// memory for each record, so that long recordings can be written while they are visited.
void each_span(const Recording& recording, const Window& window, const SpanVisit& visit);

/// The timeline row for copies of a kind.
Track track_of(recording::CopyKind kind);

/// The timeline of the first `most` spans.
Timeline timeline_of(const Recording& recording, const Window& window, std::size_t most);

}  // namespace xferbench::explain
