// Samples of a case that is run several times with other cases in between, so that what drifts does so for all of them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "measure/sampler.hpp"

namespace xferbench {

/// What one of `turns` turns may take of what is wanted for all of them together. Its target is wider by the square
/// root of their number: the interval of all samples is narrower by as much.
SamplingPolicy share_of(const SamplingPolicy& wanted, std::size_t turns);

/// What the calls of sample() gave in each turn. Every turn makes the same calls.
class SampleHistory {
 public:
  /// `ci`: the target for all turns together.
  explicit SampleHistory(double ci) : ci_(ci) {}

  void begin_turn() { next_ = 0; }
  /// Has the regions of the next call repeated within a sample as often as in the turn before, where there was one:
  /// each turn by itself might choose otherwise, and samples of different numbers of repetitions are different things.
  void repeat_as_before(std::span<Region> regions) const;
  /// What the next call of this turn gave, behind what the same call of the turns before gave; the statistics are
  /// those of all these samples. Throws std::logic_error where the turns sampled different regions.
  std::vector<Series> continued(std::vector<Series> now);

 private:
  double ci_;
  std::vector<std::vector<Series>> calls_;
  std::size_t next_ = 0;
};

}  // namespace xferbench
