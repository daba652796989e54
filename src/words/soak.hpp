// Describes the outcome of a soak (long test of a GPU under load) in words.
#pragma once

#include "paper/document.hpp"
#include "results/soak.hpp"

namespace xferbench {

/// The rate of one load on one GPU, in the interval that ended `elapsed` seconds into the soak.
struct RateSample {
  double elapsed = 0;
  int gpu = 0;
  SoakRate rate{};
};

void keep_rates(std::vector<RateSample>& rates, const SoakInterval& interval);

/// Returns the totals so far: bytes moved and verified, wrong bytes, drops of rates with what changed at the same time,
/// and error counters; and charts of `rates`, which must be in the order of time.
Document document_of(const SoakHeader& header, const SoakInterval& last, std::span<const RateSample> rates = {});

}  // namespace xferbench
