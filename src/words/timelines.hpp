// Timelines on pages. Pure functions from records to timelines.
#pragma once

#include <vector>

#include <cstddef>
#include <string_view>

#include "explain/explanation.hpp"
#include "paper/document.hpp"
#include "results/result.hpp"
#include "results/trace_file.hpp"

namespace xferbench {

/// The colour, of eight, of a category such as copies in one direction ("H2D"). It is the same everywhere.
std::size_t colour_of(std::string_view category);

/// The timelines of the cases that were traced; of many, only the first few.
void add_timelines(const Report& report, Document& document);

/// The first part of what a process did; `whole`: its total time in seconds.
Timeline timeline_of(const explain::Timeline& timeline, double whole);

/// The timelines in a file of --timeline: one for each case, with a part for each of its GPUs.
void add_timelines(const TraceFile& file, Document& document);

Trust trust_of(const TraceFile& file);

}  // namespace xferbench
