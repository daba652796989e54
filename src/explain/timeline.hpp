// A recording as lines of a timeline.
#pragma once

#include <cstddef>
#include <functional>

#include "explain/explanation.hpp"
#include "explain/program.hpp"
#include "results/recording_file.hpp"

namespace xferbench::explain {

/// Takes the next span; false: no more are wanted.
using SpanVisit = std::function<bool(const TimelineSpan&)>;

/// Goes by begin through what ran on devices, calls that the program made itself, and ranges, as far as they lie in the
/// window. A few bytes of memory are needed for each record, so that a file of very many can be written as they come.
void each_span(const Recording& recording, const Window& window, const SpanVisit& visit);

/// The line that copies of a kind stand on.
Track track_of(recording::CopyKind kind);

/// The first so many of them.
Timeline timeline_of(const Recording& recording, const Window& window, std::size_t most);

}  // namespace xferbench::explain
