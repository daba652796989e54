// Estimates what each CUDA call and operation costs (call time, start delay, hand-over, wake-up) from recorded times.
#include "explain/program.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <queue>

#include "core/lists.hpp"
#include "explain/typical_value.hpp"

namespace xferbench::explain {

namespace {

// --- Work: durations without interference from concurrent operations -------------------------------------------------

/// Speed of each copy in one direction, integrated over time. A copy that runs from time a to time b completes the work
/// at(b) - at(a), in seconds that it would take alone. The speed is less than 1 while copies share the link.
class Progress {
 public:
  void add(double time, double value) { steps_.push_back({time, value}); }
  [[nodiscard]] double at(double time) const {
    const auto after = std::ranges::upper_bound(steps_, time, {}, &Step::time);
    if (after == steps_.begin()) return 0;
    const Step& before = *(after - 1);
    if (after == steps_.end() || after->time <= before.time) return before.value;
    return before.value + (after->value - before.value) * (time - before.time) / (after->time - before.time);
  }

 private:
  struct Step {
    double time;
    double value;
  };
  std::vector<Step> steps_;
};

struct Edge {
  double time;
  int change;
  std::size_t direction;  // 0: H2D, 1: D2H
};

std::optional<std::size_t> direction_of(const Operation& o) {
  if (o.engine == Engine::h2d) return 0;
  if (o.engine == Engine::d2h) return 1;
  return std::nullopt;
}

/// Sets Operation::work of `copies`, which must be all copies of one device. Concurrent copies in one direction share a
/// copy engine, and copies in the other direction slow them down.
void set_work_of_copies(Program& program, const std::vector<Index>& copies) {
  std::vector<Edge> edges;
  for (const Index i : copies) {
    const Operation& o = program.operations[i];
    const auto direction = direction_of(o);
    edges.push_back({o.begin, 1, *direction});
    edges.push_back({o.end, -1, *direction});
  }
  std::ranges::sort(edges, {}, &Edge::time);
  const std::array<double, 2> keeps{program.duplex_h2d, program.duplex_d2h};
  std::array<Progress, 2> progress;
  std::array<double, 2> value{};
  std::array<int, 2> active{};
  double time = edges.empty() ? 0 : edges.front().time;
  for (const Edge& edge : edges) {
    for (const std::size_t d : {0U, 1U}) {
      if (active[d] > 0) value[d] += (edge.time - time) / active[d] * (active[1 - d] > 0 ? keeps[d] : 1);
      progress[d].add(edge.time, value[d]);
    }
    active[edge.direction] += edge.change;
    time = edge.time;
  }
  for (const Index i : copies) {
    Operation& o = program.operations[i];
    const auto direction = direction_of(o);
    o.work = progress[*direction].at(o.end) - progress[*direction].at(o.begin);
  }
}

/// Whether two overlapping kernels ran concurrently for at least half of the shorter kernel. In a shorter overlap, the
/// next kernel's first blocks only fill multiprocessors that the previous kernel's last blocks no longer need.
bool ran_concurrently(const Operation& before, const Operation& o) {
  const double both = std::min(before.end, o.end) - o.begin;
  return 2 * both >= std::min(before.end - before.begin, o.end - o.begin);
}

/// Sets Operation::side_by_side, and excludes short overlaps from Operation::work. Operations are sorted by begin, so a
/// kernel overlaps an earlier one if it begins before the latest end of the kernels so far.
void find_concurrent_kernels(Program& program) {
  std::map<std::uint32_t, Index> latest;  // per device: the kernel with the latest end so far
  for (Index i = 0; i < program.operations.size(); ++i) {
    Operation& o = program.operations[i];
    if (o.engine != Engine::compute) continue;
    const auto [found, first] = latest.try_emplace(o.device, i);
    if (first) continue;
    Operation& other = program.operations[found->second];
    if (o.begin < other.end && ran_concurrently(other, o)) {
      o.side_by_side = other.side_by_side = true;
    } else if (o.begin < other.end) {
      o.work = o.end - other.end;  // excludes the overlap with the tail of the other kernel
    }
    if (o.end > other.end) found->second = i;
  }
}

/// Returns the largest number of kernels that ran concurrently on one device.
std::size_t kernels_at_once(const Program& program) {
  using Ends = std::priority_queue<double, std::vector<double>, std::greater<>>;
  std::map<std::uint32_t, Ends> running;  // end times, per device
  std::size_t most = 1;
  for (const Operation& o : program.operations) {
    if (!o.side_by_side) continue;
    Ends& ends = running[o.device];
    while (!ends.empty() && ends.top() <= o.begin) ends.pop();
    ends.push(o.end);
    most = std::max(most, ends.size());
  }
  return most;
}

void set_work(Program& program) {
  std::map<std::uint32_t, std::vector<Index>> copies;  // per device
  for (Index i = 0; i < program.operations.size(); ++i) {
    Operation& o = program.operations[i];
    o.work = o.end - o.begin;
    if (direction_of(o)) copies[o.device].push_back(i);
  }
  for (const auto& [device, of_device] : copies) set_work_of_copies(program, of_device);
  find_concurrent_kernels(program);
  program.kernels_at_once = kernels_at_once(program);
}

// --- Defaults --------------------------------------------------------------------------------------------------------

/// Default for Operation::handover, in seconds, measured with CUPTI's timestamps. Costs::handover is larger because
/// kernels measure it with the GPU's clock.
constexpr double kTypicalHandover = 1e-6;

// --- Delays and handovers of operations -----------------------------------------------------------------------------

/// When each prerequisite of an operation was met, in seconds from the begin of the window.
struct Cause {
  double called = 0;                   // when the call that enqueued the operation began
  std::optional<double> dependency{};  // when the last of the operation's dependencies ended
  std::optional<double> engine{};      // when the operation's engine became free
};

/// Returns for each operation when its engine became free: the end of the previous operation on that engine. If two
/// kernels overlap only at their ends, the engine counts as free when the later kernel begins.
std::vector<std::optional<double>> engine_free_times(const Program& program) {
  std::map<std::pair<std::uint32_t, Engine>, double> free;
  std::vector<std::optional<double>> times(program.operations.size());
  for (Index i = 0; i < program.operations.size(); ++i) {
    const Operation& o = program.operations[i];
    if (o.engine == Engine::none) continue;
    const auto [found, first] = free.try_emplace({o.device, o.engine}, o.end);
    if (first) continue;
    times[i] = o.side_by_side ? found->second : std::min(found->second, o.begin);
    found->second = std::max(found->second, o.end);
  }
  return times;
}

Cause cause_of(const Program& program, const Operation& o, std::optional<double> engine) {
  Cause cause{.called = o.call == kNone ? o.begin : program.calls[o.call].begin, .engine = engine};
  for (const Dependency& d : o.after) {
    cause.dependency = std::max(cause.dependency.value_or(0), program.operations[d.operation].end);
  }
  return cause;
}

/// Whether only the time of the call decided when the operation began: before the call, its dependencies had ended and
/// its engine was free.
bool was_free(const Operation& o, const Cause& cause) {
  return (!cause.dependency || *cause.dependency <= cause.called) && (!cause.engine || *cause.engine <= cause.called) &&
         cause.called <= o.begin;
}

/// In seconds. If an operation begins later than this after its dependencies or engine were ready, neither delayed it.
constexpr double kLongHandover = 20e-6;
/// In seconds. If an operation begins within this time after its dependencies or engine were ready, they delayed it.
constexpr double kShortHandover = 2e-6;
/// In seconds. Between kShortHandover and kLongHandover, dependencies or engine delayed the operation only if its call
/// began more than this before the operation.
constexpr double kLongDelay = 12e-6;

/// Whether the operation began when it did because a dependency ended, or its engine became free, at time `by`.
bool was_delayed_by(const Operation& o, const Cause& cause, std::optional<double> by) {
  if (!by || *by <= cause.called) return false;
  const double since = o.begin - *by;
  if (since < 0 || since > kLongHandover) return false;
  return since <= kShortHandover || o.begin - cause.called > kLongDelay;
}

void set_delays(Program& program, const Costs& costs) {
  const std::vector<std::optional<double>> free = engine_free_times(program);
  TypicalValue<std::pair<Engine, bool>> delays(costs.start);
  TypicalValue<Engine> handovers(kTypicalHandover);
  std::vector<Cause> causes;
  for (Index i = 0; i < program.operations.size(); ++i) {
    const Operation& o = program.operations[i];
    const Cause& cause = causes.emplace_back(cause_of(program, o, free[i]));
    if (o.is_join) continue;
    if (was_free(o, cause)) {
      delays.see({o.engine, o.in_graph}, o.begin - cause.called);
    } else if (was_delayed_by(o, cause, cause.dependency)) {
      handovers.see(o.engine, o.begin - *cause.dependency);
    }
  }
  delays.settle();
  handovers.settle();
  for (Index i = 0; i < program.operations.size(); ++i) {
    Operation& o = program.operations[i];
    if (o.is_join) continue;
    const Cause& cause = causes[i];
    const double usual_delay = delays.of({o.engine, o.in_graph});
    const double usual_handover = std::min(handovers.of(o.engine), kShortHandover);
    const double called = std::max(0., o.begin - cause.called);
    const double since = cause.dependency ? std::max(0., o.begin - *cause.dependency) : usual_handover;
    const bool by_engine = was_delayed_by(o, cause, cause.engine);
    const bool by_dependency = was_delayed_by(o, cause, cause.dependency);
    o.handover = by_dependency ? since : std::min(usual_handover, since);
    o.delay = by_dependency || by_engine ? std::min(usual_delay, called) : called;
  }
}

// --- Calls ----------------------------------------------------------------------------------------------------------

/// Returns the end of the last operation that the call had to wait for; nothing if the call had to wait for none.
std::optional<double> waited_until(const Program& program, const HostCall& call) {
  std::optional<double> last;
  for (const Index i : call.waits_for) {
    const double end = program.operations[i].end;
    if (end > call.begin) last = std::max(last.value_or(0), end);
  }
  return last;
}

void set_own_times(Program& program, const Costs& costs) {
  TypicalValue<Index> own(costs.launch);
  TypicalValue<CudaCallKind> wakes(costs.wake);
  for (const HostCall& call : program.calls) {
    const auto until = waited_until(program, call);
    if (!until) {
      own.see(call.name, call.end - call.begin);
    } else if (call.end > *until) {
      wakes.see(call.kind, call.end - *until);
    }
  }
  own.settle();
  wakes.settle();
  for (HostCall& call : program.calls) {
    const double length = call.end - call.begin;
    const auto until = waited_until(program, call);
    call.own = until ? std::min(own.of(call.name), length) : length;
    call.wake = until ? call.end - *until : wakes.of(call.kind);
  }
}

// --- Full queues ----------------------------------------------------------------------------------------------------

/// Number of unfinished operations above which the launch queue may be full: the driver then blocks launch calls (1024
/// launches are a common limit).
constexpr std::size_t kDeepQueue = 500;
constexpr double kLongCall = 30e-6;

/// Finds calls that a full queue blocked: calls that enqueue work, take longer than kLongCall, and begin while more
/// than kDeepQueue operations are unfinished. Makes each call wait for the last operation that ended during that call.
void find_full_queues(Program& program) {
  std::vector<double> ends;
  auto by_end = places_where<Index>(program.operations, [](const Operation& o) { return !o.is_join; });
  std::ranges::sort(by_end, {}, [&program](Index i) { return program.operations[i].end; });
  for (const Index i : by_end) ends.push_back(program.operations[i].end);
  std::size_t enqueued = 0;
  for (HostCall& call : program.calls) {
    const auto ended = static_cast<std::size_t>(std::ranges::upper_bound(ends, call.begin) - ends.begin());
    const bool enqueues = !call.operations.empty() && call.waits_for.empty();
    if (enqueues && call.end - call.begin > kLongCall && enqueued > ended + kDeepQueue) {
      const auto last = static_cast<std::size_t>(std::ranges::upper_bound(ends, call.end) - ends.begin());
      if (last > ended) call.waits_for.push_back(by_end[last - 1]);
    }
    enqueued += call.operations.size();
  }
}

}  // namespace

void calibrate(Program& program, const Costs& costs) {
  set_work(program);
  set_delays(program, costs);
  find_full_queues(program);
  set_own_times(program, costs);
}

}  // namespace xferbench::explain
