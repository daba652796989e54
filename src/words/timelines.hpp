// Timelines for HTML pages. Pure functions from records to timelines.
#pragma once

#include "explain/explanation.hpp"
#include "paper/document.hpp"
#include "results/result.hpp"
#include "results/trace_file.hpp"

namespace xferbench {

/// Returns the index of the colour, one of eight, for a category such as "H2D" (copies to the GPU). Timelines and
/// charts use the same colours.
std::size_t colour_of(std::string_view category);

/// Adds the timelines of the cases that were traced; if there are many, only the first few.
void add_timelines(const Report& report, Document& document);

/// Returns the timeline of a process. `whole`: total seconds; if the timeline covers less, a note says how much.
Timeline timeline_of(const explain::Timeline& timeline, double whole);

/// Adds the timelines of a trace file (--timeline): one for each case, with rows for each of its GPUs.
void add_timelines(const TraceFile& file, Document& document);

Trust trust_of(const TraceFile& file);

}  // namespace xferbench
