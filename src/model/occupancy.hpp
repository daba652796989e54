// Utilization and concurrency of a pipeline, computed from its recorded activities. Pure functions; times in seconds.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "core/trace.hpp"

namespace xferbench::model {

/// Returns the time from the first begin to the last end of an activity on a device.
double makespan(const Trace& trace);

/// Returns the sum of the durations of a row's activities; activities that overlap all count.
double busy(const Trace& trace, Activity::Row row);

/// Returns the time during which at least one activity of the given rows ran.
double covered(const Trace& trace, std::initializer_list<Activity::Row> rows);

/// Returns the average number of concurrent activities while any runs: the sum of all H2D, kernel, D2H and P2P
/// durations on all GPUs, divided by the time that they cover. 1 means no overlap; 0 if there are no activities.
double concurrency(const Trace& trace);

/// Returns the average number of concurrent kernels on all GPUs while at least one runs; 0 if there are no kernels.
double kernel_concurrency(const Trace& trace);

/// Idle time of a timeline row between the begin of its first activity and the end of its last. Gaps below 1 ns, the
/// resolution of trace clocks, do not count.
struct Gaps {
  std::size_t count = 0;
  double total = 0;
};
Gaps gaps(const Trace& trace, Activity::Row row);

}  // namespace xferbench::model
