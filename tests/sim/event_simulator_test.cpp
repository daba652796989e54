// The discrete-event model: what competes, what waits, and what it takes. Times are round numbers, worked out by hand.
#include "device/sim/event_simulator.hpp"

#include <gtest/gtest.h>

#include <new>
#include <string>

namespace xferbench::sim {

namespace {

OperationPtr operation(EngineId engine, double payload, std::vector<OperationPtr> after = {}) {
  auto o = std::make_shared<Operation>();
  o->engine = engine;
  o->payload = payload;
  o->link = engine == EngineId::h2d ? Link::h2d : engine == EngineId::d2h ? Link::d2h : Link::none;
  o->after.assign(after.begin(), after.end());
  return o;
}

TEST(EventSimulator, OneEngineRunsOneOperationAtATimeInOrder) {
  EventSimulator timeline({});
  const auto first = operation(EngineId::compute, 2);
  const auto second = operation(EngineId::compute, 3);
  timeline.add(first);
  timeline.add(second);
  timeline.run_all();
  EXPECT_DOUBLE_EQ(first->finished, 2);
  EXPECT_DOUBLE_EQ(second->started, 2);
  EXPECT_DOUBLE_EQ(second->finished, 5);
}

TEST(EventSimulator, EnginesRunSideBySide) {
  EventSimulator timeline({});
  const auto copy = operation(EngineId::h2d, 2);
  const auto kernel = operation(EngineId::compute, 3);
  timeline.add(copy);
  timeline.add(kernel);
  timeline.run_all();
  EXPECT_DOUBLE_EQ(copy->finished, 2);
  EXPECT_DOUBLE_EQ(kernel->finished, 3);
}

TEST(EventSimulator, DependenciesHold) {
  EventSimulator timeline({});
  const auto copy = operation(EngineId::h2d, 2);
  const auto kernel = operation(EngineId::compute, 3, {copy});
  timeline.add(kernel);
  timeline.add(copy);
  timeline.run_all();
  EXPECT_DOUBLE_EQ(kernel->started, 2);
}

TEST(EventSimulator, NothingStartsBeforeItWasSubmitted) {
  EventSimulator timeline({});
  const auto late = operation(EngineId::compute, 1);
  late->submitted = 10;
  timeline.add(late);
  timeline.run_all();
  EXPECT_DOUBLE_EQ(late->started, 10);
}

TEST(EventSimulator, AReadyOperationOvertakesABlockedOneOnTheSameEngine) {
  EventSimulator timeline({});
  const auto kernel = operation(EngineId::compute, 5);
  const auto blocked = operation(EngineId::d2h, 1, {kernel});
  const auto ready = operation(EngineId::d2h, 1);
  timeline.add(kernel);
  timeline.add(blocked);
  timeline.add(ready);
  timeline.run_all();
  EXPECT_DOUBLE_EQ(ready->finished, 1);
  EXPECT_DOUBLE_EQ(blocked->finished, 6);
}

TEST(EventSimulator, OppositeCopiesSlowEachOtherOnlyWhileBothMovePayload) {
  EventSimulator timeline({0.8, 0.8});
  const auto in = operation(EngineId::h2d, 8);
  const auto out = operation(EngineId::d2h, 4);
  timeline.add(in);
  timeline.add(out);
  timeline.run_all();
  // Both at 0.8 until `out` is done at 5, by when `in` has moved 4; the other 4 go at full rate.
  EXPECT_DOUBLE_EQ(out->finished, 5);
  EXPECT_DOUBLE_EQ(in->finished, 9);
}

TEST(EventSimulator, OverheadDoesNotContend) {
  EventSimulator timeline({0.5, 0.5});
  const auto in = operation(EngineId::h2d, 4);
  const auto out = operation(EngineId::d2h, 0);
  out->overhead = 4;
  timeline.add(in);
  timeline.add(out);
  timeline.run_all();
  EXPECT_DOUBLE_EQ(in->finished, 4);
}

TEST(EventSimulator, SourcesAreReadAtTheStartAndResultsCommittedAtTheFinish) {
  EventSimulator timeline({});
  std::string log;
  const auto first = operation(EngineId::h2d, 2);
  const auto second = operation(EngineId::compute, 1);
  first->on_start = [&log] { log += "a"; };
  first->on_finish = [&log] { log += "A"; };
  second->on_start = [&log] { log += "b"; };
  second->on_finish = [&log] { log += "B"; };
  timeline.add(first);
  timeline.add(second);
  timeline.run_all();
  EXPECT_EQ(log, "abBA");
}

TEST(EventSimulator, RunsNoFurtherThanAskedFor) {
  EventSimulator timeline({});
  const auto early = operation(EngineId::h2d, 1);
  const auto late = operation(EngineId::compute, 5);
  timeline.add(early);
  timeline.add(late);
  while (!early->done()) ASSERT_TRUE(timeline.step());
  EXPECT_DOUBLE_EQ(timeline.now(), 1);
  EXPECT_FALSE(late->done());
  // Work submitted now still competes with what is running.
  const auto next = operation(EngineId::compute, 1);
  next->submitted = 1;
  timeline.add(next);
  timeline.run_all();
  EXPECT_DOUBLE_EQ(next->started, 5);
}

TEST(EventSimulator, LateOnTheClockRemaindersStillEnd) {
  EventSimulator timeline({0.9, 0.9});
  for (int i = 0; i < 300; ++i) {
    for (const EngineId engine : {EngineId::h2d, EngineId::d2h}) {
      const auto copy = operation(engine, engine == EngineId::h2d ? 1.0 / 3 : 0.7);
      copy->overhead = 2.5e-6;
      timeline.add(copy);
    }
  }
  timeline.run_all();  // subtracting progress once left remainders too small to move the clock, and this never ended
  EXPECT_GT(timeline.now(), 100);
}

TEST(EventSimulator, WaitingForWhatCanNeverRunIsAnErrorNotAHang) {
  EventSimulator timeline({});
  const auto never_added = operation(EngineId::h2d, 1);
  const auto stuck = operation(EngineId::compute, 1, {never_added});
  timeline.add(stuck);
  EXPECT_FALSE(timeline.step());
  EXPECT_FALSE(stuck->done());
}

TEST(EventSimulator, AWaitThatIsOverCostsNobodyItsTurn) {
  EventSimulator timeline({});
  const auto first = operation(EngineId::h2d, 2);
  const auto wait = operation(EngineId::none, 0, {first});
  const auto early = operation(EngineId::h2d, 1, {wait});
  const auto late = operation(EngineId::h2d, 1);
  for (const auto& o : {first, wait, early, late}) timeline.add(o);
  timeline.run_all();
  EXPECT_DOUBLE_EQ(early->started, 2) << "it was submitted first";
  EXPECT_DOUBLE_EQ(late->started, 3);
}

OperationPtr part_of_the_gpu(double share, double payload) {
  auto o = operation(EngineId::compute, payload);
  o->share = share;
  return o;
}

TEST(EventSimulator, KernelsThatFitTogetherRunAtOnce) {
  EventSimulator timeline({});
  std::vector<OperationPtr> tenths;
  for (int i = 0; i < 11; ++i) tenths.push_back(part_of_the_gpu(0.1, 2));
  for (const auto& o : tenths) timeline.add(o);
  timeline.run_all();
  EXPECT_DOUBLE_EQ(tenths[9]->finished, 2) << "ten tenths fit, however they are rounded";
  EXPECT_DOUBLE_EQ(tenths[10]->started, 2);
}

TEST(EventSimulator, NoSmallKernelOvertakesALargeOneThatWaitsForRoom) {
  EventSimulator timeline({});
  const auto half = part_of_the_gpu(0.5, 3);
  const auto whole = part_of_the_gpu(1, 1);
  const auto small = part_of_the_gpu(0.1, 1);
  for (const auto& o : {half, whole, small}) timeline.add(o);
  timeline.run_all();
  EXPECT_DOUBLE_EQ(whole->started, 3);
  EXPECT_DOUBLE_EQ(small->started, 4);
}

TEST(EventSimulator, AKernelThatUsesTheLinkContendsWithTheOppositeCopyOnly) {
  const auto copy_beside = [](Link link) {
    EventSimulator timeline({0.8, 0.8});
    const auto copy = operation(EngineId::h2d, 4);
    const auto kernel = operation(EngineId::compute, 10);
    kernel->link = link;
    timeline.add(copy);
    timeline.add(kernel);
    timeline.run_all();
    return copy->finished;
  };
  EXPECT_DOUBLE_EQ(copy_beside(Link::none), 4);
  EXPECT_DOUBLE_EQ(copy_beside(Link::d2h), 5);
  EXPECT_DOUBLE_EQ(copy_beside(Link::h2d), 8) << "two in one direction have half of it each";
  EXPECT_DOUBLE_EQ(copy_beside(Link::both), 10);
}

TEST(EventSimulator, AKernelThatUsesBothDirectionsDoesNotSlowItself) {
  EventSimulator timeline({0.8, 0.8});
  const auto kernel = operation(EngineId::compute, 4);
  kernel->link = Link::both;
  timeline.add(kernel);
  timeline.run_all();
  EXPECT_DOUBLE_EQ(kernel->finished, 4);
}

TEST(EventSimulator, WhatIsAddedLateStillGoesInTheOrderOfSubmission) {
  EventSimulator timeline({});
  const auto first = operation(EngineId::compute, 1);
  const auto third = operation(EngineId::compute, 1);
  const auto second = operation(EngineId::compute, 1);
  first->submitted = 1;
  third->submitted = 1.5;
  second->submitted = 1.25;
  for (const auto& o : {first, third, second}) timeline.add(o);
  timeline.run_all();
  EXPECT_DOUBLE_EQ(second->started, 2);
  EXPECT_DOUBLE_EQ(third->started, 3);
}

TEST(EventSimulator, WhatFailsToStartHasNotStartedAndCanBeTriedAgain) {
  EventSimulator timeline({});
  bool out_of_memory = true;
  const auto o = operation(EngineId::compute, 1);
  o->on_start = [&] {
    if (out_of_memory) throw std::bad_alloc();
  };
  timeline.add(o);
  EXPECT_THROW(timeline.step(), std::bad_alloc);
  EXPECT_FALSE(timeline.idle());
  out_of_memory = false;
  timeline.run_all();
  EXPECT_DOUBLE_EQ(o->finished, 1);
}

TEST(EventSimulator, WhatWasAbandonedLeavesNoTrace) {
  EventSimulator timeline({});
  const auto running = operation(EngineId::h2d, 2);
  const auto outside = operation(EngineId::d2h, 1);
  const auto waiting = operation(EngineId::compute, 1, {running, outside});
  timeline.add(running);
  timeline.add(waiting);
  ASSERT_DOUBLE_EQ(timeline.next_change(), 2);
  timeline.abandon();
  EXPECT_TRUE(timeline.idle());
  const auto next = operation(EngineId::h2d, 1);
  timeline.add(outside);
  timeline.add(next);
  timeline.run_all();
  EXPECT_DOUBLE_EQ(next->finished, 1) << "the engine is free";
  EXPECT_FALSE(waiting->done());
}

TEST(EventSimulator, TensOfThousandsOfOperationsTakeNoTimeToSpeakOf) {
  EventSimulator timeline({0.9, 0.9});
  OperationPtr in;
  OperationPtr kernel;
  OperationPtr out;
  for (int i = 0; i < 65536; ++i) {
    in = operation(EngineId::h2d, 1, in ? std::vector{in} : std::vector<OperationPtr>{});
    kernel = operation(EngineId::compute, 1, {in});
    out = operation(EngineId::d2h, 1, {kernel});
    for (const auto& o : {in, kernel, out}) timeline.add(o);
  }
  timeline.run_all();  // this took hours when every step looked at everything
  EXPECT_GT(out->finished, 65536);
}

TEST(EventSimulator, PipelineOfThreeStagesTakesWhatTheFormulaSays) {
  // C chunks, L = h + k + d, M = max: T = L + (C - 1) M with a stream for every chunk.
  constexpr int kChunks = 10;
  EventSimulator timeline({});
  OperationPtr out;
  for (int i = 0; i < kChunks; ++i) {
    const auto in = operation(EngineId::h2d, 2);
    const auto kernel = operation(EngineId::compute, 3, {in});
    out = operation(EngineId::d2h, 1, {kernel});
    for (const auto& o : {in, kernel, out}) timeline.add(o);
  }
  timeline.run_all();
  EXPECT_DOUBLE_EQ(out->finished, 6 + (kChunks - 1) * 3);
}

}  // namespace

}  // namespace xferbench::sim
