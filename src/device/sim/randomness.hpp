// Random variation of simulated durations. Reproducible for the same seed and rank, independent of the compiler.
#pragma once

#include <cstdint>
#include <random>

namespace xferbench::sim {

/// Random behaviour of a simulated machine. If `noise` or `late_probability` is 0, there is no variation of that kind.
struct Variation {
  double noise = 0;             ///< relative standard deviation of durations on engines and of host work
  double late_probability = 0;  ///< probability that a waiting host thread wakes up late
  double late_seconds = 0;      ///< delay of a late wake-up, in seconds
  std::uint64_t seed = 1;
  std::uint64_t rank = 0;  ///< different ranks get independent random numbers from one seed
};

/// Source of random numbers for one purpose; sources for different purposes are independent.
class Randomness {
 public:
  enum class Purpose : std::uint32_t { engines, work, waking };

  Randomness(const Variation& variation, Purpose purpose);

  /// Returns a factor for a duration. It is log-normal with median 1, so that medians stay unchanged; 1 without noise.
  double duration_factor();
  /// Returns the delay of a host thread's wake-up, in seconds.
  double lateness();

 private:
  double uniform();  // in (0, 1]

  Variation variation_;
  std::mt19937_64 engine_;  // the C++ standard defines its output, but not the output of distributions
};

}  // namespace xferbench::sim
