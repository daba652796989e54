// Little's law for memory: bytes in flight = rate x latency. Pure functions; bytes, seconds, bytes per second. "In
// flight" is per multiprocessor.
#pragma once

#include <optional>
#include <span>

namespace xferbench::model {

/// Bandwidth with `in_flight` bytes per multiprocessor, at most `limit`.
double reachable_bandwidth(double in_flight, double latency, unsigned multiprocessors, double limit);

/// A measured memory loop.
struct Flight {
  double rate = 0;  ///< bytes per second
  double time = 0;  ///< latency by Little's law, in seconds: bytes in flight on the whole GPU / rate
};

/// Memory latency in seconds: the least time among loops with too few bytes in flight, which are those below 90 % of
/// the highest rate. The other loops are limited by bandwidth, so their times grow with the bytes in flight. Nothing
/// if no loop had too few.
std::optional<double> latency(std::span<const Flight> flights);

}  // namespace xferbench::model
