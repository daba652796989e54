// Chance on a simulated machine: the same for the same seed and rank, whatever the compiler.
#pragma once

#include <cstdint>
#include <random>

namespace xferbench::sim {

/// What a machine does a little otherwise each time. Zeros: it does not.
struct Variation {
  double noise = 0;             ///< relative standard deviation of what engines and working threads take
  double late_probability = 0;  ///< that a thread that waits for a moment wakes up late ...
  double late_seconds = 0;      ///< ... by so much
  std::uint64_t seed = 1;
  std::uint64_t rank = 0;  ///< machines of one seed and different ranks have nothing in common
};

/// Random numbers for one purpose, which others do not disturb.
class Randomness {
 public:
  enum class Purpose : std::uint32_t { engines, work, waking };

  Randomness(const Variation& variation, Purpose purpose);

  /// What a duration is multiplied by. Its logarithm is normally distributed around 0, so it is never negative, and
  /// medians stay where they are. 1 without noise.
  double stretch();
  /// By how much a thread wakes up late, in seconds.
  double lateness();

 private:
  double uniform();  // in (0, 1]

  Variation variation_;
  std::mt19937_64 engine_;  // whose numbers the standard fixes, as it does not those of its distributions
};

}  // namespace xferbench::sim
