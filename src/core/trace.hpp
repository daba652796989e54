// Records of what a device did and when, from which timelines are drawn, and helpers for all sources of such records.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/enum_text.hpp"

namespace xferbench {

/// One timed activity: a copy, a kernel or a host call.
struct Activity {
  enum class Row {
    h2d,
    kernel,
    d2h,
    internal,  ///< copies inside the GPU, memsets
    peer,      ///< copies between GPUs
    host,      ///< calls of the host thread that enqueue work
  };
  Row row = Row::kernel;
  std::string name;
  std::uint64_t bytes = 0;  ///< bytes that a copy or memset wrote; 0 for everything else
  unsigned stream = 0;      ///< stream number, counted from 0 in the order of first use; 0 for host calls
  double begin = 0;         ///< seconds since the start of the first activity
  double end = 0;
  unsigned gpu = 0;  ///< index of the GPU in the run's list of GPUs; 0 for host calls
  friend bool operator==(const Activity&, const Activity&) = default;
};

constexpr auto texts_of(Activity::Row) { return enum_texts("H2D", "kernel", "D2H", "inside", "P2P", "host"); }

/// The activities of one pass over a timed region.
struct Trace {
  std::string source;                ///< "cupti", "events" or "simulated"
  std::vector<Activity> activities;  ///< sorted by start time
  /// seconds between the events at the start and the end of the region in the same pass; 0: unknown
  double event_makespan = 0;
  std::string note{};  ///< sentence that says what the trace lacks; empty if it is complete
  friend bool operator==(const Trace&, const Trace&) = default;
};

/// Makes a trace. The activities may have any time origin and any stream numbers.
Trace make_trace(std::string source, std::vector<Activity> activities);

/// Corrects activities that were timed by an event before and after them. The event before a copy completes when the
/// stream reaches it, which may be before the copy engine starts. So within each row of a device, an activity is
/// shortened to begin no earlier than the previous activity ended. Events cannot tell concurrent kernels from kernels
/// that waited for each other, so concurrent kernels are also shown one after another.
std::vector<Activity> without_overlaps(std::vector<Activity> activities);

}  // namespace xferbench
