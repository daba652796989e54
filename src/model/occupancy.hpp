// What a timeline says about a pipeline: how busy its engines were and how much they did at once. Pure functions; times
// in seconds.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "core/trace.hpp"

namespace xferbench::model {

/// From the first begin to the last end of what ran on the device.
double makespan(const Trace& trace);

/// Sum of a row's intervals.
double busy(const Trace& trace, Activity::Row row);

/// Length of the time in which at least one interval of these rows ran.
double covered(const Trace& trace, std::initializer_list<Activity::Row> rows);

/// How many things ran at once on average, while anything did: the sum of the intervals of H2D, kernel, D2H and P2P, on
/// all GPUs, over the time that they cover. 1 is no overlap. 0 if there are none.
double concurrency(const Trace& trace);

/// The same among kernels.
double kernel_concurrency(const Trace& trace);

/// Times between the first begin and the last end of a row in which nothing of it ran. Shorter ones than a nanosecond,
/// the grain of every clock behind a trace, do not count.
struct Gaps {
  std::size_t count = 0;
  double total = 0;
};
Gaps gaps(const Trace& trace, Activity::Row row);

}  // namespace xferbench::model
