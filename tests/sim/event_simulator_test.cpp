// EventSimulator, the discrete-event simulator: contention, waiting and durations. Times are round numbers, worked out
// by hand.
#include "device/sim/event_simulator.hpp"

#include <gtest/gtest.h>

#include <array>
#include <new>
#include <string>
#include <utility>

#include "sim/failing_allocation.hpp"

namespace xferbench::sim {

namespace {

// Numbers of the engines, in the order in which OneGpu adds them.
constexpr EngineId kH2d{1};
constexpr EngineId kD2h{2};
constexpr EngineId kCompute{3};

// Uses of OneGpu's link. The amounts only matter on links with a capacity.
const std::vector<Use> kIn{{.in = 1}};
const std::vector<Use> kOut{{.out = 1}};
const std::vector<Use> kBoth{{.in = 1, .out = 1}};

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
  if (engine == kH2d) o->uses = kIn;
  if (engine == kD2h) o->uses = kOut;
  o->after.assign(after.begin(), after.end());
  return o;
}

// --- Schedules ------------------------------------------------------------------------------------------------------

struct Step {
  struct More {
    std::vector<std::size_t> after{};  // indices in the schedule
    double submitted = 0;
    double overhead = 0;
    double share = 1;
    std::vector<Use> uses{};  // links that a kernel uses
  };
  EngineId engine;
  double payload;
  double started;
  double finished;
  More more{};
};

struct Schedule {
  const char* name;
  std::vector<Step> steps;
  Duplex duplex{};
};

std::vector<Schedule> schedules() {
  return {
      {"OneEngineRunsOneOperationAtATimeInOrder", {{kCompute, 2, 0, 2}, {kCompute, 3, 2, 5}}},
      {"EnginesRunSideBySide", {{kH2d, 2, 0, 2}, {kCompute, 3, 0, 3}}},
      {"DependenciesHold", {{kCompute, 3, 2, 5, {.after = {1}}}, {kH2d, 2, 0, 2}}},
      {"NothingStartsBeforeItWasSubmitted", {{kCompute, 1, 10, 11, {.submitted = 10}}}},
      {"AReadyOperationOvertakesABlockedOneOnTheSameEngine",
       {{kCompute, 5, 0, 5}, {kD2h, 1, 5, 6, {.after = {0}}}, {kD2h, 1, 0, 1}}},
      {"AWaitThatIsOverCostsNobodyItsTurn",
       {{kH2d, 2, 0, 2}, {EngineId::none, 0, 2, 2, {.after = {0}}}, {kH2d, 1, 2, 3, {.after = {1}}}, {kH2d, 1, 3, 4}}},
      {"WhatIsAddedLateStillGoesInTheOrderOfSubmission",
       {{kCompute, 1, 1, 2, {.submitted = 1}},
        {kCompute, 1, 3, 4, {.submitted = 1.5}},
        {kCompute, 1, 2, 3, {.submitted = 1.25}}}},
      {"NoSmallKernelOvertakesALargeOneThatWaitsForRoom",
       {{kCompute, 3, 0, 3, {.share = 0.5}}, {kCompute, 1, 3, 4}, {kCompute, 1, 4, 5, {.share = 0.1}}}},
      // Both run at 0.8 until D2H is done at 5. By then H2D has moved 4; the remaining 4 move at full rate.
      {"OppositeCopiesSlowEachOtherOnlyWhileBothMovePayload", {{kH2d, 8, 0, 9}, {kD2h, 4, 0, 5}}, {0.8, 0.8}},
      {"OverheadDoesNotContend", {{kH2d, 4, 0, 4}, {kD2h, 0, 0, 4, {.overhead = 4}}}, {0.5, 0.5}},
      {"AKernelThatUsesNoLinkContendsWithNoCopy", {{kH2d, 4, 0, 4}, {kCompute, 10, 0, 10}}, {0.8, 0.8}},
      {"AKernelContendsWithTheOppositeCopy", {{kH2d, 4, 0, 5}, {kCompute, 10, 0, 11, {.uses = kOut}}}, {0.8, 0.8}},
      {"TwoInOneDirectionHaveHalfOfItEach", {{kH2d, 4, 0, 8}, {kCompute, 10, 0, 14, {.uses = kIn}}}, {0.8, 0.8}},
      {"AKernelMayDoBothToACopy", {{kH2d, 4, 0, 10}, {kCompute, 10, 0, 16, {.uses = kBoth}}}, {0.8, 0.8}},
      {"AKernelThatUsesBothDirectionsDoesNotSlowItself", {{kCompute, 4, 0, 4, {.uses = kBoth}}}, {0.8, 0.8}},
  };
}

class ScheduleOfEngines : public testing::TestWithParam<Schedule> {};

TEST_P(ScheduleOfEngines, IsAsWorkedOut) {
  OneGpu events(GetParam().duplex);
  std::vector<OperationPtr> operations;
  for (const Step& step : GetParam().steps) {
    const auto& o = operations.emplace_back(operation(step.engine, step.payload));
    o->submitted = step.more.submitted;
    o->overhead = step.more.overhead;
    o->share = step.more.share;
    if (step.engine == kCompute) o->uses = step.more.uses;
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    for (const std::size_t before : GetParam().steps[i].more.after) {
      operations[i]->after.push_back(operations[before]);
    }
    events.add(operations[i]);
  }
  events.run_all();
  for (std::size_t i = 0; i < operations.size(); ++i) {
    EXPECT_DOUBLE_EQ(operations[i]->started, GetParam().steps[i].started) << "operation " << i;
    EXPECT_DOUBLE_EQ(operations[i]->finished, GetParam().steps[i].finished) << "operation " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, ScheduleOfEngines, testing::ValuesIn(schedules()),
                         [](const auto& tested) { return tested.param.name; });

TEST(EventSimulator, TenTenthsFitHoweverTheyAreRounded) {
  OneGpu events;
  std::vector<OperationPtr> tenths;
  for (int i = 0; i < 11; ++i) {
    tenths.push_back(operation(kCompute, 2));
    tenths.back()->share = 0.1;
    events.add(tenths.back());
  }
  events.run_all();
  EXPECT_DOUBLE_EQ(tenths[9]->finished, 2);
  EXPECT_DOUBLE_EQ(tenths[10]->started, 2);
}

// --- Stepping -------------------------------------------------------------------------------------------------------

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
  // Work submitted now still contends with running work.
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
  events.run_all();  // once, rounding left remainders too small to advance the clock, and this never ended
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

// With a shared link this is one GPU with two engines for one direction; without, it is two GPUs.
TEST(EventSimulator, EnginesOfSeveralGpusContendOnTheLinkThatTheyShare) {
  for (const bool shared : {true, false}) {
    OneGpu events;
    const EngineId other_h2d = events.add_engine(EventSimulator::Sharing::one_at_a_time);
    const LinkId other_link = events.add_link({});
    const auto one = operation(kH2d, 4);
    const auto other = operation(other_h2d, 4);
    other->uses = {{.link = shared ? LinkId{} : other_link, .in = 1}};
    events.add(one);
    events.add(other);
    events.run_all();
    EXPECT_DOUBLE_EQ(one->finished, shared ? 8 : 4);
    EXPECT_DOUBLE_EQ(other->finished, shared ? 8 : 4);
  }
}

// --- Links that several GPUs share ---

// Numbers of the links, in the order in which TwoGpusOnASocket adds them.
constexpr LinkId kOwn{0};
constexpr LinkId kOther{1};
constexpr LinkId kSocket{2};
constexpr LinkId kBridge{3};

/// Two GPUs with a link each, a socket whose inbound capacity shrinks with outbound demand, and a bridge without such
/// contention.
class TwoGpusOnASocket : public EventSimulator {
 public:
  TwoGpusOnASocket() {
    for (int gpu = 0; gpu < 2; ++gpu) static_cast<void>(add_link({0.5, 0.5}));
    static_cast<void>(add_shared_link({.in = 10, .out = 10, .duplex_in = 4, .duplex_out = 10}));
    static_cast<void>(add_shared_link({.in = 8, .out = 8, .duplex_in = 8, .duplex_out = 8}));
  }
};

struct Transfer {
  std::vector<Use> uses;
  double payload;
  double finished;
  double overhead = 0;
};

struct SharedLinks {
  const char* name;
  std::vector<Transfer> transfers;
};

std::vector<SharedLinks> transfers_over_shared_links() {
  const auto in = [](LinkId link, double rate) { return Use{.link = link, .in = rate}; };
  const auto out = [](LinkId link, double rate) { return Use{.link = link, .out = rate}; };
  return {
      {"CarryWhatIsAskedOfThemUpToTheirCapacity", {{{in(kBridge, 5)}, 3, 3}, {{in(kBridge, 3)}, 4, 4}}},
      // The demand is 12 on a capacity of 8, so both run at two thirds until the first ends. The other has 2 left,
      // alone.
      {"SlowAllInProportionBeyond", {{{in(kBridge, 6)}, 2, 3}, {{in(kBridge, 6)}, 4, 5}}},
      {"SlowTheLargeAndTheSmallAlike", {{{in(kBridge, 12)}, 2, 4}, {{in(kBridge, 4)}, 2, 4}}},
      {"AreUsedInEachDirectionByItself", {{{in(kBridge, 8)}, 3, 3}, {{out(kBridge, 8)}, 3, 3}}},
      // Outbound demands 5 of 10, half of its capacity. Inbound gets 10 - 6 / 2 = 7 of the 8 it demands.
      {"MayGiveLessWhileTheOtherDirectionIsAskedFor", {{{in(kSocket, 8)}, 7, 8}, {{out(kSocket, 5)}, 9, 9}}},
      // A demand above capacity counts as full use: inbound gets its least, 4 of 8. Outbound gets 10 of 20.
      {"GiveNoLessThanWithTheOtherDirectionFull", {{{in(kSocket, 8)}, 4, 8}, {{out(kSocket, 20)}, 6, 12}}},
      {"DoNotMindOverheads", {{{in(kBridge, 8)}, 4, 4}, {{in(kBridge, 8)}, 1, 5, 4}}},
      // The two share their own link, 4 each. Together they demand 8 of the bridge, its capacity.
      {"AreAskedForWhatOwnLinksLeave", {{{in(kOwn, 8), in(kBridge, 8)}, 3, 6}, {{in(kOwn, 8), in(kBridge, 8)}, 3, 6}}},
      // Contention of both directions on the own link halves 8 to 4. With the other GPU's 8 the bridge faces a demand
      // of 12 and serves two thirds.
      {"SlowWhatOwnLinksHaveSlowedFurther",
       {{{in(kOwn, 8), in(kBridge, 8)}, 2, 6}, {{out(kOwn, 8)}, 3, 6}, {{in(kOther, 8), in(kBridge, 8)}, 4, 6}}},
      // The bridge serves half of 16, the socket half of 20. The slowest link counts; the factors do not multiply.
      {"CountAsTheSlowestOfSeveral", {{{in(kBridge, 16), in(kSocket, 20)}, 3, 6}}},
      {"LeaveAloneWhatDoesNotUseThem", {{{in(kOwn, 8)}, 3, 3}, {{in(kBridge, 16)}, 3, 6}}},
  };
}

class TransfersOverSharedLinks : public testing::TestWithParam<SharedLinks> {};

TEST_P(TransfersOverSharedLinks, TakeWhatWasWorkedOut) {
  TwoGpusOnASocket events;
  std::vector<OperationPtr> operations;
  for (const Transfer& t : GetParam().transfers) {
    const auto& o = operations.emplace_back(operation(EngineId::none, t.payload));
    o->uses = t.uses;
    o->overhead = t.overhead;
    events.add(o);
  }
  events.run_all();
  for (std::size_t i = 0; i < operations.size(); ++i) {
    EXPECT_DOUBLE_EQ(operations[i]->finished, GetParam().transfers[i].finished) << "transfer " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Links, TransfersOverSharedLinks, testing::ValuesIn(transfers_over_shared_links()),
                         [](const auto& tested) { return tested.param.name; });

// Transfers 0 to 1, 0 to 2 and 3 to 2. The second shares a port with each of the others and halves their rates.
TEST(TransfersBetweenPorts, ShareEachEndWithThoseThatUseIt) {
  EventSimulator events;
  std::array<LinkId, 4> ports{};
  for (LinkId& port : ports) port = events.add_link({});
  const auto transfer = [&](std::size_t from, std::size_t to, double payload) {
    const auto o = operation(EngineId::none, payload);
    o->uses = {{.link = ports[from], .out = 1}, {.link = ports[to], .in = 1}};
    events.add(o);
    return o;
  };
  const auto to_first = transfer(0, 1, 2);
  const auto to_second = transfer(0, 2, 3);
  const auto from_third = transfer(3, 2, 4);
  events.run_all();
  EXPECT_DOUBLE_EQ(to_first->finished, 4);
  EXPECT_DOUBLE_EQ(to_second->finished, 6) << "until its end it shares the second's port";
  EXPECT_DOUBLE_EQ(from_third->finished, 7);
}

TEST(TransfersBetweenPorts, MaySufferMoreThanOthersFromTheOppositeDirection) {
  EventSimulator events;
  const LinkId port = events.add_link({0.8, 0.8});
  const auto plain = operation(EngineId::none, 4);
  const auto delicate = operation(EngineId::none, 4);
  plain->uses = {{.link = port, .in = 1}};
  delicate->uses = {{.link = port, .out = 1, .duplex = 0.5}};
  for (const auto& o : {plain, delicate}) events.add(o);
  events.run_all();
  EXPECT_DOUBLE_EQ(plain->finished, 5);
  EXPECT_DOUBLE_EQ(delicate->finished, 7) << "5 at 0.4, then 2 alone";
}

// --- Failures -------------------------------------------------------------------------------------------------------

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
  events.run_all();  // this took hours when each step scanned all operations
  EXPECT_GT(out->finished, 65536);
}

TEST(EventSimulator, PipelineOfThreeStagesTakesWhatTheFormulaSays) {
  // For C chunks with a stream each, L = h + k + d and M = max(h, k, d): T = L + (C - 1) M.
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

// --- Allocation failures --------------------------------------------------------------------------------------------

TEST(EventSimulatorWithoutMemory, RemembersNothingOfWhatItCouldNotAdd) {
  bool added = false;
  for (int nth = 0; !added; ++nth) {
    for (const double submitted : {0.0, 1.0}) {
      OneGpu gpu;
      const OperationPtr first = operation(kH2d, 2);
      const OperationPtr second = operation(kD2h, 3);
      gpu.add(first);
      gpu.add(second);
      OperationPtr third = operation(kCompute, 1, {first, second});
      third->submitted = submitted;
      {
        const test::FailingAllocation failing(nth);
        try {
          gpu.add(std::move(third));
          added = true;
        } catch (const std::bad_alloc&) {
          added = false;
        }
      }
      EXPECT_TRUE(added || (first->successors.empty() && second->successors.empty())) << nth;
      gpu.run_all();
      EXPECT_TRUE(gpu.idle());
      EXPECT_DOUBLE_EQ(gpu.now(), added ? 4 : 3) << nth;
    }
    ASSERT_LT(nth, 100);
  }
}

TEST(EventSimulatorWithoutMemory, GoesOnWhereItStopped) {
  int failures = 0;
  for (int nth = 0; nth < 40; ++nth) {
    OneGpu gpu;
    for (int i = 0; i < 12; ++i) gpu.add(operation(EngineId::none, 1 + i % 3));
    const test::FailingAllocation failing(nth);
    try {
      gpu.run_all();
    } catch (const std::bad_alloc&) {
      ++failures;
      gpu.run_all();
    }
    EXPECT_TRUE(gpu.idle()) << nth;
    EXPECT_DOUBLE_EQ(gpu.now(), 3) << nth;
  }
  EXPECT_GT(failures, 3);
}

}  // namespace

}  // namespace xferbench::sim
