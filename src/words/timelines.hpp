// What ran when, as pages draw it. Pure functions from records to timelines.
#pragma once

#include <vector>

#include <cstddef>
#include <string_view>

#include "explain/explanation.hpp"
#include "paper/document.hpp"
#include "results/result.hpp"
#include "results/trace_file.hpp"

namespace xferbench {

/// The colour of copies of that direction ("H2D") and of other things that take time, of eight, wherever they stand.
std::size_t colour_of(std::string_view category);

/// Those of the cases that were watched, of the first few if there are many.
void add_timelines(const Report& report, Document& document);

/// The first part of what a process did, of so many seconds in all.
Timeline timeline_of(const explain::Timeline& timeline, double whole);

/// What files of --timeline hold: of each case a timeline, whose GPUs are parts of it.
void add_timelines(const TraceFile& file, Document& document);

/// How far its numbers may be trusted.
Trust trust_of(const TraceFile& file);

}  // namespace xferbench
