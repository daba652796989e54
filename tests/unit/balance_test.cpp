// find_work(), the search for the amount of kernel work that takes a wanted time, on kernels of known cost.
#include "model/balance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>

namespace xferbench::model {
namespace {

constexpr std::uint64_t kMost = 1U << 20;

/// A kernel's time as a function of its work; counts the calls and keeps the largest work.
struct Clock {
  std::function<double(std::uint64_t)> time;
  int calls = 0;
  std::uint64_t most = 0;
  double operator()(std::uint64_t work) {
    ++calls;
    most = std::max(most, work);
    return time(work);
  }
};

/// Seconds: 10 ns per operation, but at least 4 us of memory traffic.
double with_floor(std::uint64_t work) { return std::max(4e-6, 10e-9 * static_cast<double>(work)); }

TEST(FindWork, ReachesTheTargetBeyondTheFloor) {
  for (const double target : {5e-6, 20e-6, 123e-6, 1e-3, 9e-3}) {
    Clock clock{with_floor};
    const TimedWork found = find_work(target, kMost, std::ref(clock));
    EXPECT_NEAR(found.seconds, target, 0.01 * target) << target;
    EXPECT_DOUBLE_EQ(found.seconds, with_floor(found.work)) << "the time belongs to the work";
    EXPECT_LE(clock.calls, 15) << target;
    EXPECT_LE(static_cast<double>(clock.most), 4.01 * target / 10e-9) << "never much more work than is needed";
  }
}

TEST(FindWork, GivesTheLeastWhereEvenThatTakesTooLong) {
  const TimedWork found = find_work(1e-6, kMost, with_floor);
  EXPECT_EQ(found.work, 1U);
  EXPECT_DOUBLE_EQ(found.seconds, 4e-6);
}

TEST(FindWork, GivesTheMostWhereEvenThatTakesTooLittle) {
  const TimedWork found = find_work(1.0, kMost, with_floor);
  EXPECT_EQ(found.work, kMost);
}

TEST(FindWork, StaysWithinItsLimits) {
  Clock clock{with_floor};
  static_cast<void>(find_work(1.0, 1000, std::ref(clock)));
  EXPECT_LE(clock.most, 1000U);
  EXPECT_EQ(find_work(1.0, 1, with_floor).work, 1U);
}

TEST(FindWork, IsNotLedAstrayByNoise) {
  // Times alternate between 3 % too long and 3 % too short, so less work may seem to take longer.
  int calls = 0;
  const auto noisy = [&calls](std::uint64_t work) { return with_floor(work) * (++calls % 2 == 0 ? 1.03 : 0.97); };
  for (const double target : {4.05e-6, 30e-6, 1e-3}) {
    const TimedWork found = find_work(target, kMost, noisy);
    EXPECT_NEAR(with_floor(found.work), target, 0.08 * target) << target;
  }
}

}  // namespace
}  // namespace xferbench::model
