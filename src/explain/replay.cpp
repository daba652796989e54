#include "explain/replay.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <span>
#include <tuple>
#include <utility>

#include "core/error.hpp"

namespace xferbench::explain {

namespace {

/// Lists of indices, stored one after the other in one array.
class Lists {
 public:
  /// `counts` are the sizes of the lists; add() then fills them.
  explicit Lists(const std::vector<std::uint32_t>& counts) : begins_(counts.size() + 1, 0), filled_(counts.size(), 0) {
    for (std::size_t i = 0; i < counts.size(); ++i) begins_[i + 1] = begins_[i] + counts[i];
    items_.resize(begins_.back());
  }
  void add(std::size_t list, Index item) { items_[begins_[list] + filled_[list]++] = item; }
  [[nodiscard]] std::span<const Index> of(std::size_t list) const {
    return {items_.data() + begins_[list], items_.data() + begins_[list + 1]};
  }

 private:
  std::vector<std::size_t> begins_;
  std::vector<std::uint32_t> filled_;
  std::vector<Index> items_;
};

/// Inverts a relation: `targets(i, to)` must call `to` with the number of each list that contains i. Returns the lists
/// with their members.
template <class Targets>
Lists inverted(std::size_t sources, std::size_t lists, Targets targets) {
  std::vector<std::uint32_t> counts(lists, 0);
  for (Index i = 0; i < sources; ++i) targets(i, [&counts](Index target) { ++counts[target]; });
  Lists made(counts);
  for (Index i = 0; i < sources; ++i) targets(i, [&made, i](Index target) { made.add(target, i); });
  return made;
}

enum class What : std::uint8_t { call_begins, call_ends, operation_ready, operation_ends, call_returns_early };

struct ReplayEvent {
  double time;
  std::uint64_t order;  // number of the event: events at the same time are handled in this order
  Index index;
  std::uint32_t version;  // OperationState::version when the event was scheduled; outdated events are ignored
  What what;
  bool operator>(const ReplayEvent& other) const { return std::tie(time, order) > std::tie(other.time, other.order); }
};

struct EngineState {
  std::deque<Index> ready;  // operations that wait for the engine
  std::size_t running = 0;
  std::size_t alone = 0;  // number of running operations that may not overlap another
  Index last = kNone;     // last operation that began; on a copy engine, no other can be running
  // The engine stays free for this operation, which is almost ready and precedes the waiting ones in the recording.
  Index kept_for = kNone;
};

class Simulation {
 public:
  explicit Simulation(const Program& program)
      : p_(program),
        followers_(inverted(p_.calls.size(), p_.calls.size(),
                            [this](Index i, auto to) {
                              if (p_.calls[i].follows != kNone) to(p_.calls[i].follows);
                              if (p_.calls[i].previous != kNone) to(p_.calls[i].previous);
                            })),
        dependents_(inverted(p_.operations.size(), p_.operations.size(),
                             [this](Index i, auto to) {
                               for (const Dependency& d : p_.operations[i].after) to(d.operation);
                             })),
        waiting_(inverted(p_.calls.size(), p_.operations.size(), [this](Index i, auto to) {
          for (const Index operation : p_.calls[i].waits_for) to(operation);
        })) {
    calls_.resize(p_.calls.size());
    operations_.resize(p_.operations.size());
    result_.call_begins.resize(p_.calls.size(), 0);
    result_.call_ends.resize(p_.calls.size(), 0);
    result_.operation_begins.resize(p_.operations.size(), 0);
    result_.operation_ends.resize(p_.operations.size(), 0);
  }

  Replay run() {
    begin();
    while (!queue_.empty()) {
      const ReplayEvent next = queue_.top();
      queue_.pop();
      now_ = next.time;
      switch (next.what) {
        case What::call_begins: call_begins(next.index); break;
        case What::call_ends: call_ends(next.index); break;
        case What::operation_ready: operation_ready(next.index); break;
        case What::operation_ends:
          if (next.version == operations_[next.index].version) operation_ends(next.index);
          break;
        case What::call_returns_early:
          if (next.version == operations_[next.index].version) call_returns_early(next.index);
          break;
      }
    }
    if (p_.calls.empty() || !calls_.back().ended) {
      throw InputError("the recording cannot be replayed: an operation in it waits for one that never ends");
    }
    result_.seconds = result_.call_ends.back();
    for (Index i = 0; i < p_.operations.size(); ++i) {
      const bool ended = p_.operations[i].end <= p_.seconds;
      if (ended) result_.seconds = std::max(result_.seconds, result_.operation_ends[i]);
    }
    return std::move(result_);
  }

 private:
  struct CallState {
    // Before the call begins: number of calls that must end before. Then: number of awaited operations not yet ended.
    std::uint32_t missing = 0;
    double least_end = 0;
    bool begun = false;
    bool ends = false;  // the event for the end of this call is in the queue
    bool ended = false;
  };
  struct OperationState {
    std::uint32_t missing = 0;  // number of dependencies that have not ended, plus 1 until its call has begun
    std::uint32_t version = 0;
    double ready = 0;
    double left = 0;  // remaining seconds of work at full speed, at time `since`
    double since = 0;
    double speed = 1;  // speed from `since` on, as a share of its full speed
    bool ended = false;
  };

  void push(double time, What what, Index index, std::uint32_t version = 0) {
    queue_.push({std::max(time, now_), order_++, index, version, what});
  }

  void begin() {
    for (Index i = 0; i < p_.operations.size(); ++i) {
      const Operation& o = p_.operations[i];
      OperationState& state = operations_[i];
      state.missing = static_cast<std::uint32_t>(o.after.size()) + (o.call == kNone ? 0 : 1);
      state.ready = o.call == kNone && !o.is_join ? o.begin : 0;
      if (state.missing == 0) push(state.ready, What::operation_ready, i);
    }
    for (Index i = 0; i < p_.calls.size(); ++i) {
      const HostCall& call = p_.calls[i];
      calls_[i].missing = (call.follows != kNone ? 1U : 0U) + (call.previous != kNone ? 1U : 0U);
      if (calls_[i].missing == 0) push(call.gap, What::call_begins, i);
    }
  }

  // --- Host ---

  void call_begins(Index c) {
    const HostCall& call = p_.calls[c];
    CallState& state = calls_[c];
    state.begun = true;
    result_.call_begins[c] = now_;
    state.missing = 0;
    for (const Index i : call.operations) {
      if (p_.operations[i].call != c) continue;  // a fix has moved the operation to another call
      arrive(i, now_ + p_.operations[i].delay);
    }
    for (const Index i : call.waits_for) {
      if (operations_[i].ended) continue;
      ++state.missing;
    }
    if (state.missing > 0) return;
    state.ends = true;
    push(now_ + call.own, What::call_ends, c);
  }

  void operation_seen(Index c, double end) {
    CallState& state = calls_[c];
    if (!state.begun || state.ends) return;
    if (--state.missing > 0) return;
    const HostCall& call = p_.calls[c];
    state.ends = true;
    push(std::max(result_.call_begins[c] + call.own, end + call.wake), What::call_ends, c);
  }

  /// Whether the call that enqueued operation `i` waits for it, but may return before the operation has ended.
  [[nodiscard]] bool returns_early(const Operation& o, Index i) const {
    if (o.call == kNone || p_.calls[o.call].wake >= 0) return false;
    const std::vector<Index>& waits_for = p_.calls[o.call].waits_for;
    return std::ranges::find(waits_for, i) != waits_for.end();
  }

  void call_returns_early(Index operation) {
    const Index c = p_.operations[operation].call;
    CallState& state = calls_[c];
    if (!state.begun || state.ends || state.missing > 1) return;
    state.ends = true;
    push(result_.call_begins[c] + p_.calls[c].own, What::call_ends, c);
  }

  void call_ends(Index c) {
    calls_[c].ended = true;
    result_.call_ends[c] = now_;
    for (const Index next : followers_.of(c)) {
      CallState& state = calls_[next];
      const HostCall& call = p_.calls[next];
      if (call.follows == c) state.least_end = now_ + call.gap;
      if (--state.missing == 0) push(state.least_end, What::call_begins, next);
    }
  }

  // --- Devices ---

  void arrive(Index i, double earliest) {
    OperationState& state = operations_[i];
    state.ready = std::max(state.ready, earliest);
    if (--state.missing == 0) push(state.ready, What::operation_ready, i);
  }

  [[nodiscard]] EngineState& engine_of(const Operation& o) { return engines_[{o.device, o.engine}]; }

  void operation_ready(Index i) {
    const Operation& o = p_.operations[i];
    if (o.engine == Engine::none) return start(i);
    EngineState& engine = engine_of(o);
    if (engine.kept_for == i) {
      engine.kept_for = kNone;
      engine.ready.push_front(i);
    } else {
      engine.ready.push_back(i);
    }
    start_what_can(engine);
  }

  /// Returns the operation that may overtake those that already wait for the engine of `ended`: one that depends on
  /// `ended`, is ready within 2 us, and precedes the waiting ones in the recording. Returns kNone if there is none;
  /// then the first waiting operation runs next.
  [[nodiscard]] Index next_in_order(Index ended, const EngineState& engine) const {
    constexpr double kMoment = 2e-6;
    if (engine.running > 0 || engine.ready.empty()) return kNone;
    const Operation& o = p_.operations[ended];
    for (const Index next : dependents_.of(ended)) {
      const Operation& other = p_.operations[next];
      const bool same_engine = other.engine == o.engine && other.device == o.device;
      const bool is_next = operations_[next].missing == 0 && operations_[next].ready <= now_ + kMoment;
      if (same_engine && is_next && next < engine.ready.front()) return next;
    }
    return kNone;
  }

  /// Whether an operation can begin on the engine now. An engine runs one operation at a time, but kernels that
  /// overlapped in the recording may overlap, up to the largest number that ran concurrently in the recording.
  [[nodiscard]] bool can_start(const EngineState& engine, Index i) const {
    if (engine.running == 0) return true;
    return engine.running < p_.kernels_at_once && engine.alone == 0 && p_.operations[i].side_by_side;
  }

  void start_what_can(EngineState& engine) {
    while (engine.kept_for == kNone && !engine.ready.empty() && can_start(engine, engine.ready.front())) {
      const Index i = engine.ready.front();
      engine.ready.pop_front();
      ++engine.running;
      if (!p_.operations[i].side_by_side) ++engine.alone;
      engine.last = i;
      start(i);
    }
  }

  void start(Index i) {
    OperationState& state = operations_[i];
    result_.operation_begins[i] = now_;
    state.left = p_.operations[i].work;
    state.since = now_;
    predict_end(i);
    update_opposite_speed(p_.operations[i]);
  }

  void operation_ends(Index i) {
    const Operation& o = p_.operations[i];
    OperationState& state = operations_[i];
    state.ended = true;
    result_.operation_ends[i] = now_;
    for (const Index next : dependents_.of(i)) arrive(next, now_ + p_.operations[next].handover);
    for (const Index c : waiting_.of(i)) operation_seen(c, now_);
    if (o.engine == Engine::none) return;
    EngineState& engine = engine_of(o);
    --engine.running;
    if (!o.side_by_side) --engine.alone;
    if (engine.kept_for == kNone) engine.kept_for = next_in_order(i, engine);
    start_what_can(engine);
    update_opposite_speed(o);
  }

  // --- Copies in both directions ---

  [[nodiscard]] static Engine opposite(Engine engine) {
    if (engine == Engine::h2d) return Engine::d2h;
    return engine == Engine::d2h ? Engine::h2d : Engine::none;
  }

  [[nodiscard]] double speed(const Operation& o) {
    const Engine other = opposite(o.engine);
    if (other == Engine::none) return 1;
    const auto found = engines_.find({o.device, other});
    if (found == engines_.end() || found->second.running == 0) return 1;
    return o.engine == Engine::h2d ? p_.duplex_h2d : p_.duplex_d2h;
  }

  /// Schedules the end of a running operation at its current speed.
  void predict_end(Index i) {
    OperationState& state = operations_[i];
    state.left = std::max(0., state.left - (now_ - state.since) * state.speed);
    state.since = now_;
    state.speed = speed(p_.operations[i]);
    const double end = now_ + state.left / state.speed;
    push(end, What::operation_ends, i, ++state.version);
    const Operation& o = p_.operations[i];
    if (returns_early(o, i)) push(end + p_.calls[o.call].wake, What::call_returns_early, i, state.version);
  }

  void update_opposite_speed(const Operation& o) {
    const Engine other = opposite(o.engine);
    if (other == Engine::none) return;
    const auto found = engines_.find({o.device, other});
    if (found != engines_.end() && found->second.running > 0) predict_end(found->second.last);
  }

  const Program& p_;
  Lists followers_;
  Lists dependents_;
  Lists waiting_;
  std::vector<CallState> calls_;
  std::vector<OperationState> operations_;
  std::map<std::pair<std::uint32_t, Engine>, EngineState> engines_;
  std::priority_queue<ReplayEvent, std::vector<ReplayEvent>, std::greater<>> queue_;
  std::uint64_t order_ = 0;
  double now_ = 0;
  Replay result_;
};

}  // namespace

Replay replay(const Program& program) { return Simulation(program).run(); }

}  // namespace xferbench::explain
