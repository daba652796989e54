// Writes timelines: as a file for trace viewers, and as charts on a terminal. Pure functions from records to text.
#pragma once

#include "paper/style.hpp"
#include "results/result.hpp"

namespace xferbench {

/// Returns a trace in Chrome's trace-event format, for ui.perfetto.dev and chrome://tracing: a process for each traced
/// case, with a thread for each of its rows. A run on several GPUs has a process for each GPU and one for the host's
/// calls; `args` name case and GPU. Overlapping activities of a row are spread over several threads ("kernel", "kernel
/// 2"), because viewers draw them wrongly unless they are nested. Times are microseconds, with nanosecond precision.
std::string to_chrome_trace(const Report& report);

/// The characters with which charts are drawn.
enum class Glyphs {
  ascii,   ///< for terminals with any encoding
  blocks,  ///< UTF-8 block elements in eight heights
};

/// Returns the names of a run's GPUs in charts, by index: "GPU 0"; none for a single GPU.
std::vector<std::string> gpu_names(const Environment& environment);

/// Returns a Gantt chart of at most `width` columns, with a row for each engine and one for the host's calls. With
/// several GPUs, named by `gpus`, each GPU has only rows with activities. The height or glyph of a character shows for
/// which share of its period the engine was busy. Neighbouring activities differ in shade. Activities are numbered,
/// where there is room. Below the rows are the time axis, the source of the times, and figures about overlap.
std::string to_gantt(const Trace& trace, std::size_t width, const Style& style, Glyphs glyphs = Glyphs::blocks,
                     const std::vector<std::string>& gpus = {});

/// Returns the charts of the traced cases, or of the first few if there are many. Empty if no case was traced.
std::string to_gantts(const Report& report, const Style& style, Glyphs glyphs);

}  // namespace xferbench
