#include "model/in_flight.hpp"

#include <algorithm>

#include "core/lists.hpp"

namespace xferbench::model {

double reachable_bandwidth(double in_flight, double latency, unsigned multiprocessors, double limit) {
  return latency <= 0 ? limit : std::min(limit, in_flight * multiprocessors / latency);
}

std::optional<double> latency(std::span<const Flight> flights) {
  constexpr double kTooLittle = 0.9;
  const double highest = most_of(flights, &Flight::rate);
  std::optional<double> least;
  for (const Flight& f : flights) {
    if (f.rate < kTooLittle * highest) least = std::min(least.value_or(f.time), f.time);
  }
  return least;
}

}  // namespace xferbench::model
