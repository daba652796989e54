// Timelines: as a file for trace viewers, and as charts on a terminal. Pure functions from records to text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "paper/style.hpp"
#include "results/result.hpp"

namespace xferbench {

/// Chrome's trace-event format (ui.perfetto.dev and chrome://tracing read it): one process for each case that was
/// traced, one thread for each of its rows; in a run on several GPUs a process for each of them and one for the host's
/// calls, which say in `args` of which case and GPU they are. What overlaps within a row is spread over several threads
/// ("kernel", "kernel 2"), because such viewers show only what nests. Times are microseconds, to the nanosecond.
std::string to_chrome_trace(const Report& report);

/// What a chart is drawn with.
enum class Glyphs {
  ascii,   ///< for terminals of any encoding
  blocks,  ///< block elements, in UTF-8: eight heights
};

/// What charts call the GPUs of a run by their places: "GPU 0"; empty where there is one.
std::vector<std::string> gpu_names(const Environment& environment);

/// A Gantt chart of at most `width` columns, a row for each engine and one for the host's calls; of several GPUs, which
/// `gpus` names, those rows that each has. Height or glyph says
/// how much of a cell's time was busy; neighbours differ in shade and carry their number in the row, from 1, where it
/// fits. Below it stands the time, who measured it, and what it says of overlap. With a final newline.
std::string to_gantt(const Trace& trace, std::size_t width, const Style& style, Glyphs glyphs = Glyphs::blocks,
                     const std::vector<std::string>& gpus = {});

/// The charts of the cases that were traced, those of the first few if there are many; empty if there are none.
std::string to_gantts(const Report& report, const Style& style, Glyphs glyphs);

}  // namespace xferbench
