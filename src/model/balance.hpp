// Finds the amount of work with which a kernel takes a given time.
#pragma once

#include <cstdint>
#include <functional>

namespace xferbench::model {

/// A tried amount of work and the time it took.
struct TimedWork {
  std::uint64_t work = 1;
  double seconds = 0;
};

/// Returns the tried work in [1, max_work] whose time is nearest to `target`, in seconds. `time(work)` measures and
/// must be monotonic apart from noise. It is called about ten times, with at most four times the needed work. The
/// search brackets the target before it interpolates, because a slope between two close noisy times may point
/// anywhere.
TimedWork find_work(double target, std::uint64_t max_work, const std::function<double(std::uint64_t)>& time);

}  // namespace xferbench::model
