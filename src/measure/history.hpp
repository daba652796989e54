// Accumulates the samples of a case over several turns. A turn runs every case once, so that slow drift of the machine
// affects all cases alike.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "measure/sampler.hpp"

namespace xferbench {

/// Returns the sampling policy for one of `turns` turns. All turns share the budget and the sample counts. The target
/// interval is wider by sqrt(turns), because pooling the samples of all turns narrows the interval by that factor.
SamplingPolicy share_of(const SamplingPolicy& wanted, std::size_t turns);

/// Results of each sample() call of a case over all turns. All turns must make the same calls in the same order.
class SampleHistory {
 public:
  /// `ci`: target for the half-width of the interval over the samples of all turns, relative to the median.
  explicit SampleHistory(double ci) : ci_(ci) {}

  void begin_turn() { next_ = 0; }
  /// Prepares the regions of this turn's next sample() call: each gets the batch that it had in the same call of the
  /// previous turn, if there was one. Samples with different batches are not comparable.
  void repeat_as_before(std::span<Region> regions) const;
  /// Appends the results of this turn's next sample() call to the results of the same call in earlier turns; returns
  /// all samples with their statistics. Throws std::logic_error if the turns sampled different regions.
  std::vector<Series> continued(std::vector<Series> now);

 private:
  double ci_;
  std::vector<std::vector<Series>> calls_;
  std::size_t next_ = 0;
};

}  // namespace xferbench
