// Finds the amount of work with which a kernel takes a given time, by measuring several amounts.
#pragma once

#include <cstdint>
#include <functional>

namespace xferbench::model {

/// An amount of work that was tried, and the seconds that it took.
struct TimedWork {
  std::uint64_t work = 1;
  double seconds = 0;
};

/// Returns the tried work in [1, max_work] whose time is nearest to `target`, in seconds. `time(work)` measures and
/// must be monotonic apart from noise. `time` is called about ten times, with at most four times the needed work. The
/// search first brackets the target and then interpolates, because a slope between two close noisy times may be wrong.
TimedWork find_work(double target, std::uint64_t max_work, const std::function<double(std::uint64_t)>& time);

}  // namespace xferbench::model
