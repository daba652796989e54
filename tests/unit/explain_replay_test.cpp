// replay(), which predicts the time of a changed program, on programs of a few operations.
#include "explain/replay.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace xferbench::explain {
namespace {

constexpr double kMs = 1e-3;

/// Builds a program of one thread. Times are in seconds.
class Made {
 public:
  Index call(double gap, double own, std::vector<Index> waits_for = {}) {
    const auto index = static_cast<Index>(program.calls.size());
    HostCall made;
    made.gap = gap;
    made.own = own;
    made.follows = index == 0 ? kNone : index - 1;
    made.waits_for = std::move(waits_for);
    program.calls.push_back(made);
    return index;
  }
  Index operation(Index call, Engine engine, double work, std::vector<Index> after = {}) {
    const auto index = static_cast<Index>(program.operations.size());
    Operation made;
    made.call = call;
    made.engine = engine;
    made.work = work;
    for (const Index other : after) made.after.push_back({other, false});
    program.operations.push_back(made);
    program.calls[call].operations.push_back(index);
    return index;
  }
  Program program;
};

TEST(Replay, AddsUpWhatAThreadDoes) {
  Made made;
  made.call(2 * kMs, 1 * kMs);
  made.call(3 * kMs, 0.5 * kMs);
  made.call(1 * kMs, 0);
  EXPECT_DOUBLE_EQ(replay(made.program).seconds, 7.5 * kMs);
}

TEST(Replay, WaitsForWhatTheGpuDoes) {
  Made made;
  const Index launch = made.call(0, 1 * kMs);
  const Index kernel = made.operation(launch, Engine::compute, 10 * kMs);
  made.program.operations[kernel].delay = 2 * kMs;
  const Index wait = made.call(0, 1 * kMs, {kernel});
  made.program.calls[wait].wake = 0.5 * kMs;
  made.call(0, 0);
  EXPECT_DOUBLE_EQ(replay(made.program).seconds, 12.5 * kMs);
}

TEST(Replay, DoesNotWaitForWhatHasEnded) {
  Made made;
  const Index kernel = made.operation(made.call(0, 0), Engine::compute, 1 * kMs);
  made.call(5 * kMs, 0.25 * kMs, {kernel});
  made.call(0, 0);
  EXPECT_DOUBLE_EQ(replay(made.program).seconds, 5.25 * kMs);
}

TEST(Replay, GivesAnEngineToOneAtATime) {
  Made made;
  const Index launch = made.call(0, 0);
  const Index first = made.operation(launch, Engine::compute, 4 * kMs);
  const Index second = made.operation(launch, Engine::compute, 3 * kMs);
  made.call(0, 0, {first, second});
  made.call(0, 0);
  EXPECT_DOUBLE_EQ(replay(made.program).seconds, 7 * kMs);
  for (Operation& o : made.program.operations) o.side_by_side = true;
  EXPECT_DOUBLE_EQ(replay(made.program).seconds, 7 * kMs) << "no two ever ran at once";
  made.program.kernels_at_once = 2;
  EXPECT_DOUBLE_EQ(replay(made.program).seconds, 4 * kMs);
  made.program.operations[1].device = 1;
  made.program.operations[0].side_by_side = made.program.operations[1].side_by_side = false;
  EXPECT_DOUBLE_EQ(replay(made.program).seconds, 4 * kMs);
}

TEST(Replay, SlowsBothDirectionsWhileBothRun) {
  Made made;
  made.program.duplex_h2d = 0.5;
  made.program.duplex_d2h = 0.8;
  const Index launch = made.call(0, 0);
  const Index in = made.operation(launch, Engine::h2d, 2 * kMs);
  const Index out = made.operation(launch, Engine::d2h, 1.6 * kMs);
  made.call(0, 0, {in, out});
  made.call(0, 0);
  const Replay replayed = replay(made.program);
  EXPECT_NEAR(replayed.operation_ends[out], 2 * kMs, 1e-9);  // H2D and D2H slow each other to 0.8
  EXPECT_NEAR(replayed.operation_ends[in], 3 * kMs, 1e-9);   // half of it was done by then
}

TEST(Replay, KeepsTheOrderOfStreamsAndHandsOver) {
  Made made;
  const Index launch = made.call(0, 0);
  const Index in = made.operation(launch, Engine::h2d, 1 * kMs);
  const Index kernel = made.operation(launch, Engine::compute, 1 * kMs, {in});
  made.program.operations[kernel].handover = 0.1 * kMs;
  made.call(0, 0, {kernel});
  made.call(0, 0);
  EXPECT_DOUBLE_EQ(replay(made.program).seconds, 2.1 * kMs);
}

TEST(Replay, LetsThreadsGoOnBesideEachOther) {
  Made made;
  made.call(0, 4 * kMs);
  const Index other = made.call(1 * kMs, 1 * kMs);
  made.program.calls[other].follows = kNone;
  const Index end = made.call(1 * kMs, 0);
  made.program.calls[end].follows = 0;
  made.program.calls[end].previous = other;  // begins after `other` has ended
  EXPECT_DOUBLE_EQ(replay(made.program).seconds, 5 * kMs);
  made.program.calls[other].own = 9 * kMs;
  EXPECT_DOUBLE_EQ(replay(made.program).seconds, 10 * kMs);
}

TEST(Replay, OfWhatNeverEndsIsRefused) {
  Made made;
  const Index launch = made.call(0, 0);
  const Index one = made.operation(launch, Engine::compute, kMs);
  made.program.operations[one].after.push_back({one, false});
  made.call(0, 0, {one});
  made.call(0, 0);
  EXPECT_THROW(replay(made.program), InputError);
}

}  // namespace
}  // namespace xferbench::explain
