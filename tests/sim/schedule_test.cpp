// A third computation of pipeline schedules, which checks the pipeline model and the event simulator: both were written
// with the same rules in mind and may share an error. Without contention each start follows from the ends before it
// (by_starts). With contention between directions, time advances in small ticks (by_ticks).
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "device/sim/event_simulator.hpp"
#include "model/pipeline.hpp"

namespace xferbench::test {

namespace {

using model::Arrangement;
using model::StageCosts;

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-9;
constexpr std::size_t kIn = 0;
constexpr std::size_t kWork = 1;
constexpr std::size_t kOut = 2;

/// One operation of a pipeline. Times in seconds.
struct Task {
  std::size_t stage = 0;
  double submitted = 0;
  double overhead = 0;
  double payload = 0;
  std::size_t stream = 0;
  std::vector<std::size_t> waits_for;  // tasks of other stages; their hand-over cost is added
};

/// All tasks of the pipeline in the order of submission.
std::vector<Task> tasks_of(const StageCosts& costs, const Arrangement& a) {
  const std::size_t chunks = a.chunks.size();
  std::array<std::vector<std::size_t>, 3> number;
  for (auto& of_stage : number) of_stage.resize(chunks);
  std::vector<std::array<std::size_t, 2>> order;  // {stage, chunk}
  for (std::size_t first = 0; first < chunks; first += a.wave) {
    for (const std::size_t stage : {kIn, kWork, kOut}) {
      for (std::size_t i = first; i < std::min(first + a.wave, chunks); ++i) {
        number[stage][i] = order.size();
        order.push_back({stage, i});
      }
    }
  }
  const std::array cost{costs.h2d, costs.kernel, costs.d2h};
  const std::array call{costs.submit_h2d, costs.submit_kernel, costs.submit_d2h};
  std::vector<Task> tasks;
  double now = 0;
  for (const auto& [stage, i] : order) {
    now += call[stage];
    Task task{stage,
              now,
              cost[stage].per_operation,
              a.chunks[i] * cost[stage].per_byte,
              a.streams > 0 ? i % a.streams : stage,
              {}};
    const auto wait = [&task, &number, chunk = i](std::size_t other, std::size_t distance) {
      if (distance != 0 && chunk >= distance) task.waits_for.push_back(number[other][chunk - distance]);
    };
    if (stage != kIn) task.waits_for.push_back(number[stage - 1][i]);
    if (stage == kIn) wait(kOut, a.h2d_after_d2h), wait(kWork, a.h2d_after_kernel);
    if (stage == kWork) wait(kOut, a.kernel_after_d2h);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

/// The first task of a stage that has not begun; tasks.size() if there is none.
std::size_t next_of(std::size_t stage, const std::vector<Task>& tasks, const std::vector<bool>& begun) {
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (tasks[t].stage == stage && !begun[t]) return t;
  }
  return tasks.size();
}

double handoff(const StageCosts& costs, std::size_t from, std::size_t to) {
  if (from == kWork) return costs.handoff.kernel_to_copy;
  if (to == kWork) return costs.handoff.copy_to_kernel;
  return costs.copy_engines < 2 ? 0 : costs.handoff.copy_to_copy;
}

/// The earliest start of a task, given when each task ends (kNever: not yet known).
double ready(const StageCosts& costs, const Task& task, const std::vector<Task>& tasks,
             const std::vector<double>& ends) {
  double time = std::max(task.submitted, task.stage == kIn ? costs.start : 0);
  for (const std::size_t before : task.waits_for) {
    time = std::max(time, ends[before] + handoff(costs, tasks[before].stage, task.stage));
  }
  return time;
}

std::size_t engine_of(const StageCosts& costs, std::size_t stage) {
  return stage == kOut && costs.copy_engines < 2 ? kIn : stage;
}

/// The time that a copy engine needs to switch to another stream.
class Switches {
 public:
  explicit Switches(const StageCosts& costs) : costs_(costs) {}
  /// When the engine begins with a task that could start at `start`.
  double taken_up(const Task& task, double start) {
    Engine& e = engines_[engine_of(costs_, task.stage)];
    const bool another = task.stage != kWork && e.used && e.stream != task.stream;
    e.used = true;
    e.stream = task.stream;
    return another ? std::max(start, e.idle_since + costs_.stream_switch) : start;
  }
  void ended(const Task& task, double end) { engines_[engine_of(costs_, task.stage)].idle_since = end; }

 private:
  struct Engine {
    bool used = false;
    std::size_t stream = 0;
    double idle_since = 0;
  };
  const StageCosts& costs_;
  std::array<Engine, 3> engines_{};
};

/// The makespan without contention. The task that can start first goes next; of two on one engine the one submitted
/// first.
double by_starts(const StageCosts& costs, const Arrangement& a) {
  const std::vector<Task> tasks = tasks_of(costs, a);
  std::vector<double> ends(tasks.size(), kNever);
  std::vector<bool> begun(tasks.size());
  std::array<double, 3> free{};  // when each engine is free
  Switches switches(costs);
  double last = 0;
  for (std::size_t n = 0; n < tasks.size(); ++n) {
    std::size_t first = tasks.size();
    double start = kNever;
    for (const std::size_t stage : {kIn, kWork, kOut}) {
      const std::size_t t = next_of(stage, tasks, begun);
      if (t == tasks.size()) continue;
      const double can = std::max(free[engine_of(costs, stage)], ready(costs, tasks[t], tasks, ends));
      if (can < start || (can == start && t < first)) start = can, first = t;
    }
    begun[first] = true;
    ends[first] = switches.taken_up(tasks[first], start) + tasks[first].overhead + tasks[first].payload;
    switches.ended(tasks[first], ends[first]);
    free[engine_of(costs, tasks[first].stage)] = ends[first];
    last = std::max(last, ends[first]);
  }
  return last;
}

constexpr double kTick = 1.0 / 256;

/// The makespan in ticks, with two copy engines. A payload moves at its duplex rate while the other direction moves
/// payload, and its overhead grows while a copy of the other direction runs. The result is late by a few ticks per
/// task.
double by_ticks(const StageCosts& costs, const Arrangement& a) {
  std::vector<Task> tasks = tasks_of(costs, a);
  std::vector<double> ends(tasks.size(), kNever);
  std::vector<bool> begun(tasks.size());
  std::array<Task*, 3> running{};
  std::array<double, 3> taken_up{};
  Switches switches(costs);
  double now = 0;
  for (std::size_t ended = 0; ended < tasks.size(); now += kTick) {
    for (const std::size_t stage : {kIn, kWork, kOut}) {
      const std::size_t t = next_of(stage, tasks, begun);
      if (running[stage] != nullptr || t == tasks.size() || ready(costs, tasks[t], tasks, ends) > now) continue;
      begun[t] = true;
      running[stage] = &tasks[t];
      taken_up[stage] = switches.taken_up(tasks[t], now);
    }
    const auto runs = [&](std::size_t stage) { return running[stage] != nullptr; };
    const auto moves = [&](std::size_t stage) {
      return runs(stage) && taken_up[stage] <= now && running[stage]->overhead <= 0;
    };
    const std::array beside{runs(kOut), false, runs(kIn)};
    const std::array disturbed{moves(kOut), false, moves(kIn)};
    const std::array cost{costs.h2d, costs.kernel, costs.d2h};
    for (const std::size_t stage : {kIn, kWork, kOut}) {
      Task* const task = running[stage];
      if (task == nullptr || taken_up[stage] > now) continue;
      if (task->overhead > 0) {
        task->overhead -= kTick / (beside[stage] ? cost[stage].duplex_overhead : 1);
      } else {
        task->payload -= kTick * (disturbed[stage] ? cost[stage].duplex_rate : 1);
      }
      if (task->overhead > 0 || task->payload > 0) continue;
      ends[static_cast<std::size_t>(task - tasks.data())] = now + kTick;
      switches.ended(*task, now + kTick);
      running[stage] = nullptr;
      ++ended;
    }
  }
  return now;
}

/// The makespan on the event simulator.
double by_simulator(const StageCosts& costs, const Arrangement& a) {
  using sim::EventSimulator;
  EventSimulator events;
  const sim::EngineId in = events.add_engine(EventSimulator::Sharing::one_at_a_time);
  const sim::EngineId compute = events.add_engine(EventSimulator::Sharing::by_share);
  const sim::EngineId out = costs.copy_engines < 2 ? in : events.add_engine(EventSimulator::Sharing::one_at_a_time);
  static_cast<void>(events.add_link(
      {costs.h2d.duplex_rate, costs.d2h.duplex_rate, costs.h2d.duplex_overhead, costs.d2h.duplex_overhead}));
  for (const sim::EngineId copies : {in, out}) {
    events.set_handover(copies, compute, costs.handoff.copy_to_kernel);
    events.set_handover(compute, copies, costs.handoff.kernel_to_copy);
    events.set_stream_switch(copies, costs.stream_switch);
  }
  if (in != out) events.set_handover(out, in, costs.handoff.copy_to_copy);
  const std::vector<Task> tasks = tasks_of(costs, a);
  const std::array<char, 8> streams{};  // their addresses identify streams
  std::vector<sim::OperationPtr> operations;
  for (const Task& task : tasks) {
    auto o = std::make_shared<sim::Operation>();
    o->engine = std::array{in, compute, out}[task.stage];
    if (task.stage != kWork) o->uses = {{.in = task.stage == kIn ? 1.0 : 0, .out = task.stage == kOut ? 1.0 : 0}};
    o->submitted = task.submitted, o->overhead = task.overhead, o->payload = task.payload;
    o->stream = &streams[task.stream];
    operations.push_back(std::move(o));
  }
  const auto start = std::make_shared<sim::Operation>();
  start->overhead = costs.start;
  events.add(start);
  std::array<sim::OperationPtr, 3> last;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    for (const std::size_t before : tasks[t].waits_for) operations[t]->after.push_back(operations[before]);
    if (tasks[t].stage == kIn) operations[t]->after.push_back(start);
    if (last[tasks[t].stage]) operations[t]->after.push_back(last[tasks[t].stage]);
    last[tasks[t].stage] = operations[t];
    events.add(operations[t]);
  }
  events.run_all();
  return std::ranges::max(operations, {}, [](const auto& o) { return o->finished; })->finished;
}

// --- Random pipelines -----------------------------------------------------------------------------------------------

/// Small whole numbers, so that many events coincide: mistakes hide there.
double some(int from, int to) { return *rc::gen::inRange(from, to + 1); }
std::size_t some_count(int from, int to) { return static_cast<std::size_t>(*rc::gen::inRange(from, to + 1)); }

Arrangement some_arrangement() {
  Arrangement a;
  for (std::size_t n = some_count(1, 7); n > 0; --n) a.chunks.push_back(some(1, 4));
  a.h2d_after_d2h = some_count(0, 3);
  a.h2d_after_kernel = some_count(0, 3);
  a.kernel_after_d2h = some_count(0, 3);
  a.streams = some_count(0, 4);
  a.wave = some_count(1, 4);
  return a;
}

StageCosts some_costs(bool overhead) {
  StageCosts c;
  for (model::Cost* stage : {&c.h2d, &c.kernel, &c.d2h}) *stage = {overhead ? some(0, 2) : 0, some(1, 3)};
  if (!overhead) return c;
  c.handoff = {some(0, 2), some(0, 2), some(0, 2)};
  c.stream_switch = some(0, 2);
  c.start = some(0, 2);
  c.submit_h2d = some(0, 2), c.submit_kernel = some(0, 2), c.submit_d2h = some(0, 2);
  return c;
}

void slow_each_other(StageCosts& c) {
  for (model::Cost* copy : {&c.h2d, &c.d2h}) {
    copy->duplex_rate = some(5, 10) / 10;
    copy->duplex_overhead = some(10, 20) / 10;
  }
}

RC_GTEST_PROP(Schedule, FollowsFromTheEndsBeforeWhereTheDirectionsDoNotDisturbEachOther, ()) {
  StageCosts costs = some_costs(true);
  costs.copy_engines = static_cast<unsigned>(some_count(1, 2));
  const Arrangement a = some_arrangement();
  const double right = by_starts(costs, a);
  RC_ASSERT(std::abs(model::makespan(costs, a) - right) < kRounding);
  RC_ASSERT(std::abs(by_simulator(costs, a) - right) < kRounding);
}

RC_GTEST_PROP(Schedule, IsTheSameTickByTickWhereTheyDo, ()) {
  StageCosts costs = some_costs(true);
  slow_each_other(costs);
  const Arrangement a = some_arrangement();
  const double right = by_ticks(costs, a);
  const double late = 4 * kTick * static_cast<double>(3 * a.chunks.size());
  const double modelled = model::makespan(costs, a);
  RC_ASSERT(right > modelled - late);
  RC_ASSERT(right < modelled + late);
  RC_ASSERT(std::abs(by_simulator(costs, a) - modelled) < kRounding);
}

// Without overheads: the bound assumes that a payload in one piece contends during its overhead as well.
RC_GTEST_PROP(Schedule, IsNeverBelowTheBoundOfItsPayload, ()) {
  StageCosts costs = some_costs(false);
  slow_each_other(costs);
  costs.copy_engines = static_cast<unsigned>(some_count(1, 2));
  const Arrangement a = some_arrangement();
  double bytes = 0;
  for (const double chunk : a.chunks) bytes += chunk;
  RC_ASSERT(model::makespan(costs, a) > model::lower_bound(costs, bytes) - kRounding);
}

// --- Transfers of two GPUs that share a socket ---

struct Moving {
  std::size_t gpu = 0;
  bool in = true;
  double asks = 1;
  double submitted = 0;
  double overhead = 0;
  double payload = 1;
};

struct Socket {
  std::array<double, 2> alone{1, 1};  // capacity in and out
  std::array<double, 2> duplex{1, 1};
  double of_own = 1;  // relative rate of each direction of a GPU's link while both move payload
};

/// The time at which the last transfer ends, in ticks.
double by_ticks(const Socket& socket, std::vector<Moving> all) {
  double now = 0;
  const auto there = [&now](const Moving& m) { return m.submitted <= now && m.payload > 0; };
  const auto moves = [&](const Moving& m) { return there(m) && m.overhead <= 0; };
  const auto beside = [&](const Moving& m, bool in) {
    return std::ranges::count_if(all, [&](const Moving& o) { return moves(o) && o.gpu == m.gpu && o.in == in; });
  };
  const auto own = [&](const Moving& m) {
    return (beside(m, !m.in) > 0 ? socket.of_own : 1) / static_cast<double>(beside(m, m.in));
  };
  for (; std::ranges::any_of(all, [](const Moving& m) { return m.payload > 0; }); now += kTick) {
    std::array<double, 2> asked{};
    for (const Moving& m : all) asked[m.in ? 0 : 1] += moves(m) ? m.asks * own(m) : 0;
    std::vector<double> progress;
    for (const Moving& m : all) {
      const std::size_t way = m.in ? 0 : 1;
      const double full = std::min(asked[1 - way], socket.alone[1 - way]) / socket.alone[1 - way];
      const double capacity = socket.alone[way] * (1 - full) + socket.duplex[way] * full;
      progress.push_back(moves(m) ? own(m) * std::min(1.0, capacity / asked[way]) : 1);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!there(all[i])) continue;
      (all[i].overhead > 0 ? all[i].overhead : all[i].payload) -= kTick * progress[i];
    }
  }
  return now;
}

double by_simulator(const Socket& socket, const std::vector<Moving>& all) {
  sim::EventSimulator events;
  const std::array own{events.add_link({socket.of_own, socket.of_own}),
                       events.add_link({socket.of_own, socket.of_own})};
  const sim::LinkId shared =
      events.add_shared_link({socket.alone[0], socket.alone[1], socket.duplex[0], socket.duplex[1]});
  for (const Moving& m : all) {
    const auto o = std::make_shared<sim::Operation>();
    o->submitted = m.submitted, o->overhead = m.overhead, o->payload = m.payload;
    for (const sim::LinkId link : {own[m.gpu], shared}) {
      o->uses.push_back({.link = link, .in = m.in ? m.asks : 0, .out = m.in ? 0 : m.asks});
    }
    events.add(o);
  }
  events.run_all();
  return events.now();
}

RC_GTEST_PROP(Schedule, OfTransfersOverASharedLinkIsTheSameTickByTick, ()) {
  Socket socket;
  socket.of_own = some(5, 10) / 10;
  for (const std::size_t way : {0U, 1U}) {
    socket.alone[way] = some(4, 12);
    socket.duplex[way] = socket.alone[way] * some(3, 10) / 10;
  }
  std::vector<Moving> all;
  for (std::size_t n = some_count(1, 6); n > 0; --n) {
    all.push_back({.gpu = some_count(0, 1),
                   .in = some_count(0, 1) == 0,
                   .asks = some(1, 9),
                   .submitted = some(0, 3),
                   .overhead = some(0, 2),
                   .payload = some(1, 4)});
  }
  // At each change of rates one tick runs at the old rates, which differ from the new ones by a factor of 20 at most.
  const double late = 20 * kTick * static_cast<double>(4 * all.size());
  const double right = by_ticks(socket, all);
  const double simulated = by_simulator(socket, all);
  RC_ASSERT(simulated > right - late);
  RC_ASSERT(simulated < right + late);
}

// --- By hand --------------------------------------------------------------------------------------------------------

/// Two chunks of 2 bytes; copies take 1 s per byte, kernels 0.5. So a copy alone takes 2 and a kernel 1.
TEST(Schedule, OfTwoChunksIsAsOnPaper) {
  StageCosts costs;
  costs.h2d = costs.d2h = {.per_operation = 0, .per_byte = 1};
  costs.kernel = {.per_operation = 0, .per_byte = 0.5};
  const Arrangement a{.chunks = {2, 2}};
  // H2D 0-2 2-4, kernels 2-3 4-5, D2H 3-5 5-7.
  EXPECT_DOUBLE_EQ(model::makespan(costs, a), 7);
  EXPECT_DOUBLE_EQ(by_simulator(costs, a), 7);
  // Copies run at half rate while both directions move. The second H2D copy has 1 left at 3 and ends at 5. The first
  // D2H copy has 1 left then and ends at 6. The second kernel ends at 6, the second D2H copy at 8.
  costs.h2d.duplex_rate = costs.d2h.duplex_rate = 0.5;
  EXPECT_DOUBLE_EQ(model::makespan(costs, a), 8);
  EXPECT_DOUBLE_EQ(by_simulator(costs, a), 8);
  // One copy engine: H2D 0-2 2-4, D2H 4-6 6-8.
  costs.copy_engines = 1;
  EXPECT_DOUBLE_EQ(model::makespan(costs, a), 8);
  EXPECT_DOUBLE_EQ(by_simulator(costs, a), 8);
  // With one slot each chunk runs alone: 2 + 1 + 2, twice.
  EXPECT_DOUBLE_EQ(model::makespan(costs, {.chunks = {2, 2}, .h2d_after_d2h = 1}), 10);
  EXPECT_DOUBLE_EQ(by_simulator(costs, {.chunks = {2, 2}, .h2d_after_d2h = 1}), 10);
}

}  // namespace

}  // namespace xferbench::test
