// Finding the amount of work that makes a kernel take a given time.
#pragma once

#include <cstdint>
#include <functional>

namespace xferbench::model {

/// A tried amount of work and the time it took.
struct TimedWork {
  std::uint64_t work = 1;
  double seconds = 0;
};

/// The work in [1, max_work] whose time came nearest to `target`, of those tried. `time(work)` measures; it must not
/// fall as work grows, apart from noise. It is called about ten times, with at most four times the work that is needed:
/// the search brackets the target before it interpolates, because a slope taken from two neighbouring noisy times can
/// point anywhere.
TimedWork find_work(double target, std::uint64_t max_work, const std::function<double(std::uint64_t)>& time);

}  // namespace xferbench::model
