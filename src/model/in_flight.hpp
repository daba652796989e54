// Little's law for memory: what is under way at any time = rate x how long each byte is under way. Pure functions;
// bytes, seconds, bytes per second. "In flight" is per multiprocessor.
#pragma once

#include <optional>
#include <span>

namespace xferbench::model {

/// What `in_flight` bytes in each multiprocessor can reach: never more than `limit`.
double reachable_bandwidth(double in_flight, double latency, unsigned multiprocessors, double limit);

/// A measured loop.
struct Flight {
  double rate = 0;  ///< bytes per second
  double time = 0;  ///< that each byte was under way by Little's law: what was in flight everywhere over the rate
};

/// How long a byte is under way: the least of the times of those loops that had too little in flight, which are those
/// below 90 % of the highest rate. The others wait for memory's bandwidth, and their times grow with what they have in
/// flight. Nothing if no loop had too little.
std::optional<double> latency(std::span<const Flight> flights);

}  // namespace xferbench::model
