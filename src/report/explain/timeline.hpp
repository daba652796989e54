// Recordings for trace viewers.
#pragma once

#include <span>

#include "explain/program.hpp"
#include "results/recording_file.hpp"
#include "results/sink.hpp"

namespace xferbench {

/// A process of a program, and the part of its time that is wanted.
struct RecordedStretch {
  const Recording& recording;
  explain::Window window{};
};

/// Chrome's trace-event format, as timelines of cases have it (report/trace/timeline.hpp): for each process a process
/// of the viewer for each GPU that it used, and one for its calls and ranges, by thread. All begin at the time of the
/// window that begins first.
void write_chrome_trace(std::span<const RecordedStretch> processes, const Sink& sink);

}  // namespace xferbench
