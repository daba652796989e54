// Little's law for memory: bytes in flight = rate x latency. Pure functions; values in bytes, seconds and bytes per
// second. Arguments named `in_flight` are bytes per multiprocessor.
#pragma once

#include <optional>
#include <span>

namespace xferbench::model {

/// Returns the bandwidth that `in_flight` bytes per multiprocessor can reach, at most `limit`.
double reachable_bandwidth(double in_flight, double latency, unsigned multiprocessors, double limit);

/// Measurement of a kernel that loads from memory in a loop.
struct Flight {
  double rate = 0;  ///< rate of the loop in bytes per second
  double time = 0;  ///< bytes in flight on the whole GPU / rate: the latency in seconds by Little's law
};

/// Returns the memory latency in seconds: the least time among the loops with too few bytes in flight, which are those
/// below 90 % of the highest rate. Bandwidth limits the other loops, so their times grow with the bytes in flight.
/// Returns nothing if all loops reach 90 %.
std::optional<double> latency(std::span<const Flight> flights);

}  // namespace xferbench::model
