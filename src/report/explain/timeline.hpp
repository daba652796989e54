// Writes recordings of programs as timelines for trace viewers.
#pragma once

#include <span>

#include "explain/program.hpp"
#include "results/recording_file.hpp"
#include "results/sink.hpp"

namespace xferbench {

/// The recording of one process of a program, and the period that is written to the timeline.
struct RecordedWindow {
  const Recording& recording;
  explain::Window window{};
};

/// Writes Chrome's trace-event format. For each recorded process, the viewer shows one process for each GPU that was
/// used, and one for the host, with tracks for the CUDA calls and NVTX ranges of each thread. Time 0 is the begin of
/// the earliest window.
void write_chrome_trace(std::span<const RecordedWindow> processes, const Sink& sink);

}  // namespace xferbench
