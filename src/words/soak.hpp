// What a soak comes to, in words.
#pragma once

#include <span>
#include <vector>

#include "paper/document.hpp"
#include "results/soak.hpp"

namespace xferbench {

/// A load of a GPU in the interval that ended so many seconds into the soak.
struct RateThen {
  double elapsed = 0;
  int gpu = 0;
  SoakRate rate{};
};

/// Those of an interval behind the others.
void keep_rates(std::vector<RateThen>& rates, const SoakInterval& interval);

/// What all of it comes to so far: bytes moved and verified, wrong ones, drops and what was beside them, counters; and
/// a picture of `rates`, which are in the order of time.
Document document_of(const SoakHeader& header, const SoakInterval& last, std::span<const RateThen> rates = {});

}  // namespace xferbench
