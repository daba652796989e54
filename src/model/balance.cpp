#include "model/balance.hpp"

#include <algorithm>
#include <cmath>

namespace xferbench::model {

namespace {

constexpr double kCloseEnough = 0.005;
constexpr int kMostSteps = 4;

double miss(const TimedWork& tried, double target) { return std::abs(tried.seconds - target); }

/// Returns the work strictly between low.work and high.work at which a straight line through both reaches `target`.
std::uint64_t interpolate(const TimedWork& low, const TimedWork& high, double target) {
  const double share = std::clamp((target - low.seconds) / (high.seconds - low.seconds), 0.0, 1.0);
  const double work = static_cast<double>(low.work) + share * static_cast<double>(high.work - low.work);
  return std::clamp(static_cast<std::uint64_t>(std::round(work)), low.work + 1, high.work - 1);
}

}  // namespace

TimedWork find_work(double target, std::uint64_t max_work, const std::function<double(std::uint64_t)>& time) {
  TimedWork low{1, time(1)};
  TimedWork high = low;
  while (high.seconds < target && high.work < max_work) {
    low = high;
    high.work = std::min(high.work * 4, max_work);
    high.seconds = time(high.work);
  }
  TimedWork best = miss(low, target) < miss(high, target) ? low : high;
  for (int step = 0; step < kMostSteps && miss(best, target) > kCloseEnough * target; ++step) {
    const bool bracketed = low.seconds < target && high.seconds > target && high.work - low.work > 1;
    if (!bracketed) break;
    TimedWork next{interpolate(low, high, target), 0};
    next.seconds = time(next.work);
    if (miss(next, target) < miss(best, target)) best = next;
    (next.seconds < target ? low : high) = next;
  }
  return best;
}

}  // namespace xferbench::model
