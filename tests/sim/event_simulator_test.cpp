// The discrete-event model: what competes, what waits, and what it takes. Times are round numbers, worked out by hand.
#include "device/sim/event_simulator.hpp"

#include <gtest/gtest.h>

#include <new>
#include <string>

namespace xferbench::sim {

namespace {

// In the order in which OneGpu adds them.
constexpr EngineId kH2d{1};
constexpr EngineId kD2h{2};
constexpr EngineId kCompute{3};

/// The engines and the link of one GPU.
class OneGpu : public EventSimulator {
 public:
  explicit OneGpu(const Duplex& duplex = {}) {
    for (const Sharing s : {Sharing::one_at_a_time, Sharing::one_at_a_time, Sharing::by_share}) {
      static_cast<void>(add_engine(s));
    }
    static_cast<void>(add_link(duplex));
  }
};

OperationPtr operation(EngineId engine, double payload, std::vector<OperationPtr> after = {}) {
  auto o = std::make_shared<Operation>();
  o->engine = engine;
  o->payload = payload;
  o->way = engine == kH2d ? Way::h2d : engine == kD2h ? Way::d2h : Way::none;
  o->after.assign(after.begin(), after.end());
  return o;
}

TEST(EventSimulator, OneEngineRunsOneOperationAtATimeInOrder) {
  OneGpu events;
  const auto first = operation(kCompute, 2);
  const auto second = operation(kCompute, 3);
  events.add(first);
  events.add(second);
  events.run_all();
  EXPECT_DOUBLE_EQ(first->finished, 2);
  EXPECT_DOUBLE_EQ(second->started, 2);
  EXPECT_DOUBLE_EQ(second->finished, 5);
}

TEST(EventSimulator, EnginesRunSideBySide) {
  OneGpu events;
  const auto copy = operation(kH2d, 2);
  const auto kernel = operation(kCompute, 3);
  events.add(copy);
  events.add(kernel);
  events.run_all();
  EXPECT_DOUBLE_EQ(copy->finished, 2);
  EXPECT_DOUBLE_EQ(kernel->finished, 3);
}

TEST(EventSimulator, DependenciesHold) {
  OneGpu events;
  const auto copy = operation(kH2d, 2);
  const auto kernel = operation(kCompute, 3, {copy});
  events.add(kernel);
  events.add(copy);
  events.run_all();
  EXPECT_DOUBLE_EQ(kernel->started, 2);
}

TEST(EventSimulator, NothingStartsBeforeItWasSubmitted) {
  OneGpu events;
  const auto late = operation(kCompute, 1);
  late->submitted = 10;
  events.add(late);
  events.run_all();
  EXPECT_DOUBLE_EQ(late->started, 10);
}

TEST(EventSimulator, AReadyOperationOvertakesABlockedOneOnTheSameEngine) {
  OneGpu events;
  const auto kernel = operation(kCompute, 5);
  const auto blocked = operation(kD2h, 1, {kernel});
  const auto ready = operation(kD2h, 1);
  events.add(kernel);
  events.add(blocked);
  events.add(ready);
  events.run_all();
  EXPECT_DOUBLE_EQ(ready->finished, 1);
  EXPECT_DOUBLE_EQ(blocked->finished, 6);
}

TEST(EventSimulator, OppositeCopiesSlowEachOtherOnlyWhileBothMovePayload) {
  OneGpu events({0.8, 0.8});
  const auto in = operation(kH2d, 8);
  const auto out = operation(kD2h, 4);
  events.add(in);
  events.add(out);
  events.run_all();
  // Both at 0.8 until `out` is done at 5, by when `in` has moved 4; the other 4 go at full rate.
  EXPECT_DOUBLE_EQ(out->finished, 5);
  EXPECT_DOUBLE_EQ(in->finished, 9);
}

TEST(EventSimulator, OverheadDoesNotContend) {
  OneGpu events({0.5, 0.5});
  const auto in = operation(kH2d, 4);
  const auto out = operation(kD2h, 0);
  out->overhead = 4;
  events.add(in);
  events.add(out);
  events.run_all();
  EXPECT_DOUBLE_EQ(in->finished, 4);
}

TEST(EventSimulator, SourcesAreReadAtTheStartAndResultsCommittedAtTheFinish) {
  OneGpu events;
  std::string log;
  const auto first = operation(kH2d, 2);
  const auto second = operation(kCompute, 1);
  first->on_start = [&log] { log += "a"; };
  first->on_finish = [&log] { log += "A"; };
  second->on_start = [&log] { log += "b"; };
  second->on_finish = [&log] { log += "B"; };
  events.add(first);
  events.add(second);
  events.run_all();
  EXPECT_EQ(log, "abBA");
}

TEST(EventSimulator, RunsNoFurtherThanAskedFor) {
  OneGpu events;
  const auto early = operation(kH2d, 1);
  const auto late = operation(kCompute, 5);
  events.add(early);
  events.add(late);
  while (!early->done()) ASSERT_TRUE(events.step());
  EXPECT_DOUBLE_EQ(events.now(), 1);
  EXPECT_FALSE(late->done());
  // Work submitted now still competes with what is running.
  const auto next = operation(kCompute, 1);
  next->submitted = 1;
  events.add(next);
  events.run_all();
  EXPECT_DOUBLE_EQ(next->started, 5);
}

TEST(EventSimulator, LateOnTheClockRemaindersStillEnd) {
  OneGpu events({0.9, 0.9});
  for (int i = 0; i < 300; ++i) {
    for (const EngineId engine : {kH2d, kD2h}) {
      const auto copy = operation(engine, engine == kH2d ? 1.0 / 3 : 0.7);
      copy->overhead = 2.5e-6;
      events.add(copy);
    }
  }
  events.run_all();  // subtracting progress once left remainders too small to move the clock, and this never ended
  EXPECT_GT(events.now(), 100);
}

TEST(EventSimulator, WaitingForWhatCanNeverRunIsAnErrorNotAHang) {
  OneGpu events;
  const auto never_added = operation(kH2d, 1);
  const auto stuck = operation(kCompute, 1, {never_added});
  events.add(stuck);
  EXPECT_FALSE(events.step());
  EXPECT_FALSE(stuck->done());
}

TEST(EventSimulator, AWaitThatIsOverCostsNobodyItsTurn) {
  OneGpu events;
  const auto first = operation(kH2d, 2);
  const auto wait = operation(EngineId::none, 0, {first});
  const auto early = operation(kH2d, 1, {wait});
  const auto late = operation(kH2d, 1);
  for (const auto& o : {first, wait, early, late}) events.add(o);
  events.run_all();
  EXPECT_DOUBLE_EQ(early->started, 2) << "it was submitted first";
  EXPECT_DOUBLE_EQ(late->started, 3);
}

OperationPtr part_of_the_gpu(double share, double payload) {
  auto o = operation(kCompute, payload);
  o->share = share;
  return o;
}

TEST(EventSimulator, KernelsThatFitTogetherRunAtOnce) {
  OneGpu events;
  std::vector<OperationPtr> tenths;
  for (int i = 0; i < 11; ++i) tenths.push_back(part_of_the_gpu(0.1, 2));
  for (const auto& o : tenths) events.add(o);
  events.run_all();
  EXPECT_DOUBLE_EQ(tenths[9]->finished, 2) << "ten tenths fit, however they are rounded";
  EXPECT_DOUBLE_EQ(tenths[10]->started, 2);
}

TEST(EventSimulator, NoSmallKernelOvertakesALargeOneThatWaitsForRoom) {
  OneGpu events;
  const auto half = part_of_the_gpu(0.5, 3);
  const auto whole = part_of_the_gpu(1, 1);
  const auto small = part_of_the_gpu(0.1, 1);
  for (const auto& o : {half, whole, small}) events.add(o);
  events.run_all();
  EXPECT_DOUBLE_EQ(whole->started, 3);
  EXPECT_DOUBLE_EQ(small->started, 4);
}

TEST(EventSimulator, AKernelThatUsesTheLinkContendsWithTheOppositeCopyOnly) {
  const auto copy_beside = [](Way way) {
    OneGpu events({0.8, 0.8});
    const auto copy = operation(kH2d, 4);
    const auto kernel = operation(kCompute, 10);
    kernel->way = way;
    events.add(copy);
    events.add(kernel);
    events.run_all();
    return copy->finished;
  };
  EXPECT_DOUBLE_EQ(copy_beside(Way::none), 4);
  EXPECT_DOUBLE_EQ(copy_beside(Way::d2h), 5);
  EXPECT_DOUBLE_EQ(copy_beside(Way::h2d), 8) << "two in one direction have half of it each";
  EXPECT_DOUBLE_EQ(copy_beside(Way::both), 10);
}

TEST(EventSimulator, AKernelThatUsesBothDirectionsDoesNotSlowItself) {
  OneGpu events({0.8, 0.8});
  const auto kernel = operation(kCompute, 4);
  kernel->way = Way::both;
  events.add(kernel);
  events.run_all();
  EXPECT_DOUBLE_EQ(kernel->finished, 4);
}

// What comes next: engines of several GPUs whose copies go through one bridge, or each over a link of its own.
TEST(EventSimulator, EnginesOfSeveralGpusContendOnTheLinkThatTheyShare) {
  for (const bool shared : {true, false}) {
    OneGpu events;
    const EngineId other_h2d = events.add_engine(EventSimulator::Sharing::one_at_a_time);
    const LinkId other_link = events.add_link({});
    const auto one = operation(kH2d, 4);
    const auto other = operation(other_h2d, 4);
    other->way = Way::h2d;
    if (!shared) other->link = other_link;
    events.add(one);
    events.add(other);
    events.run_all();
    EXPECT_DOUBLE_EQ(one->finished, shared ? 8 : 4);
    EXPECT_DOUBLE_EQ(other->finished, shared ? 8 : 4);
  }
}

TEST(EventSimulator, WhatIsAddedLateStillGoesInTheOrderOfSubmission) {
  OneGpu events;
  const auto first = operation(kCompute, 1);
  const auto third = operation(kCompute, 1);
  const auto second = operation(kCompute, 1);
  first->submitted = 1;
  third->submitted = 1.5;
  second->submitted = 1.25;
  for (const auto& o : {first, third, second}) events.add(o);
  events.run_all();
  EXPECT_DOUBLE_EQ(second->started, 2);
  EXPECT_DOUBLE_EQ(third->started, 3);
}

TEST(EventSimulator, WhatFailsToStartHasNotStartedAndCanBeTriedAgain) {
  OneGpu events;
  bool out_of_memory = true;
  const auto o = operation(kCompute, 1);
  o->on_start = [&] {
    if (out_of_memory) throw std::bad_alloc();
  };
  events.add(o);
  EXPECT_THROW(events.step(), std::bad_alloc);
  EXPECT_FALSE(events.idle());
  out_of_memory = false;
  events.run_all();
  EXPECT_DOUBLE_EQ(o->finished, 1);
}

TEST(EventSimulator, WhatWasAbandonedLeavesNoTrace) {
  OneGpu events;
  const auto running = operation(kH2d, 2);
  const auto outside = operation(kD2h, 1);
  const auto waiting = operation(kCompute, 1, {running, outside});
  events.add(running);
  events.add(waiting);
  ASSERT_DOUBLE_EQ(events.next_change(), 2);
  events.abandon();
  EXPECT_TRUE(events.idle());
  const auto next = operation(kH2d, 1);
  events.add(outside);
  events.add(next);
  events.run_all();
  EXPECT_DOUBLE_EQ(next->finished, 1) << "the engine is free";
  EXPECT_FALSE(waiting->done());
}

TEST(EventSimulator, TensOfThousandsOfOperationsTakeNoTimeToSpeakOf) {
  OneGpu events({0.9, 0.9});
  OperationPtr in;
  OperationPtr kernel;
  OperationPtr out;
  for (int i = 0; i < 65536; ++i) {
    in = operation(kH2d, 1, in ? std::vector{in} : std::vector<OperationPtr>{});
    kernel = operation(kCompute, 1, {in});
    out = operation(kD2h, 1, {kernel});
    for (const auto& o : {in, kernel, out}) events.add(o);
  }
  events.run_all();  // this took hours when every step looked at everything
  EXPECT_GT(out->finished, 65536);
}

TEST(EventSimulator, PipelineOfThreeStagesTakesWhatTheFormulaSays) {
  // C chunks, L = h + k + d, M = max: T = L + (C - 1) M with a stream for every chunk.
  constexpr int kChunks = 10;
  OneGpu events;
  OperationPtr out;
  for (int i = 0; i < kChunks; ++i) {
    const auto in = operation(kH2d, 2);
    const auto kernel = operation(kCompute, 3, {in});
    out = operation(kD2h, 1, {kernel});
    for (const auto& o : {in, kernel, out}) events.add(o);
  }
  events.run_all();
  EXPECT_DOUBLE_EQ(out->finished, 6 + (kChunks - 1) * 3);
}

}  // namespace

}  // namespace xferbench::sim
