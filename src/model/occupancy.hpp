// Utilization and concurrency of a pipeline from its timeline. Pure functions; times in seconds.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "core/trace.hpp"

namespace xferbench::model {

/// Time from the first begin to the last end of device activity.
double makespan(const Trace& trace);

/// Sum of the durations in a row; overlapping activities count several times.
double busy(const Trace& trace, Activity::Row row);

/// Time during which at least one activity of these rows ran.
double covered(const Trace& trace, std::initializer_list<Activity::Row> rows);

/// Average number of concurrent activities while any runs: the sum of all H2D, kernel, D2H and P2P durations on all
/// GPUs over the time they cover. 1 means no overlap; 0 if there are none.
double concurrency(const Trace& trace);

/// Average number of concurrent kernels while at least one runs, on all GPUs; 0 if there are none.
double kernel_concurrency(const Trace& trace);

/// Idle time of a row between its first begin and last end. Gaps below 1 ns, the resolution of trace clocks, do not
/// count.
struct Gaps {
  std::size_t count = 0;
  double total = 0;
};
Gaps gaps(const Trace& trace, Activity::Row row);

}  // namespace xferbench::model
