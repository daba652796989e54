// What a device did and when: the records behind timelines, and functions that every source of traces uses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xferbench {

/// One timed activity: a copy, a kernel or a host call.
struct Activity {
  enum class Row {
    h2d,
    kernel,
    d2h,
    internal,  ///< copies inside the GPU, memsets
    peer,      ///< copies between GPUs
    host,      ///< calls that enqueue work
  };
  Row row = Row::kernel;
  std::string name;
  std::uint64_t bytes = 0;  ///< moved by a copy or memset; 0 for everything else
  unsigned stream = 0;      ///< of a device activity: stream number, from 0 in order of first use; 0 for host calls
  double begin = 0;         ///< seconds from the first activity
  double end = 0;
  unsigned gpu = 0;  ///< place in the run's list of GPUs; 0 for host calls
  friend bool operator==(const Activity&, const Activity&) = default;
};

/// The name of the row: "H2D", "kernel", "D2H", "inside", "P2P" or "host".
std::string_view to_text(Activity::Row row);

/// The activities of one pass over a region.
struct Trace {
  std::string source;                ///< "cupti", "events" or "simulated"
  std::vector<Activity> activities;  ///< sorted by begin
  double event_makespan = 0;  ///< seconds between the region's start and stop events in the same pass; 0: unknown
  std::string note{};         ///< a sentence that says what the trace lacks; empty if nothing
  friend bool operator==(const Trace&, const Trace&) = default;
};

/// Makes a trace from activities with any time origin and any stream numbers.
Trace make_trace(std::string source, std::vector<Activity> activities);

/// Shortens activities that were timed as intervals between events. An event recorded before a copy completes when its
/// stream gets there, not when the copy engine starts. So within each row of a device, an interval is cut to begin no
/// earlier than the previous one ended. Concurrent kernels cannot be distinguished from kernels that waited for each
/// other, so they too are shown one after another.
std::vector<Activity> without_overlaps(std::vector<Activity> activities);

}  // namespace xferbench
