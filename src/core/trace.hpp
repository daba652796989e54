// What a device did and when: the records behind timelines. Plain data, and what every source of it has to do with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xferbench {

/// One thing that took time: a copy, a kernel, a call of the host.
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
  std::uint64_t bytes = 0;  ///< that a copy or memset moved; 0 for everything else
  unsigned stream = 0;      ///< of what runs on the device, numbered in order of first use; 0 for calls of the host
  double begin = 0;         ///< seconds from the first activity
  double end = 0;
  unsigned gpu = 0;  ///< that it ran on, by its place among those of the run; 0 for calls of the host
  friend bool operator==(const Activity&, const Activity&) = default;
};

/// "H2D", "kernel", "D2H", "inside", "P2P", "host".
std::string_view to_text(Activity::Row row);

/// One pass over a region.
struct Trace {
  std::string source;                ///< "cupti", "events" or "simulated"
  std::vector<Activity> activities;  ///< by begin
  double event_makespan = 0;         ///< seconds: the same pass by the region's start and stop events; 0 if unknown
  std::string note{};                ///< a sentence that says what it lacks; empty if nothing
  friend bool operator==(const Trace&, const Trace&) = default;
};

/// A trace of activities whose times have any origin and whose streams have any numbers.
Trace make_trace(std::string source, std::vector<Activity> activities);

/// For intervals between events: an event before a copy completes when its stream gets there, not when the engine does.
/// So of each row of a device, an interval begins no earlier than the one before ended. Kernels that really ran side
/// by side cannot be told from such that waited for each other, and are shown one after another, too.
std::vector<Activity> without_overlaps(std::vector<Activity> activities);

}  // namespace xferbench
