#include "device/sim/event_simulator.hpp"

#include <algorithm>
#include <limits>

namespace xferbench::sim {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// Times that differ by no more than this many seconds count as equal, because sums have rounding errors.
constexpr double kSameMoment = 1e-12;
/// Limit of the sum of Operation::share on an engine: 1, plus a tolerance for rounding, so that four quarters fit.
constexpr double kAllOfIt = 1 + 1e-9;

/// Returns the remaining seconds of the operation's current phase: preparation, overhead or payload.
double& phase_of(Operation& o) { return o.preparation > 0 ? o.preparation : o.overhead > 0 ? o.overhead : o.payload; }
bool spent(const Operation& o) { return o.preparation <= 0 && o.overhead <= 0 && o.payload <= 0; }
bool moving_payload(const Operation& o) { return o.preparation <= 0 && o.overhead <= 0; }

/// Returns the fraction of its demand that each operation gets in one direction of a shared link. `asked` is the total
/// demand in that direction, `alone` and `duplex` are the link's capacities in it (see Capacity); `asked_back` and
/// `alone_back` are demand and capacity of the opposite direction. All are in bytes per second.
double part_of_shared(double asked, double alone, double duplex, double asked_back, double alone_back) {
  const double capacity = alone - (alone - duplex) * std::min(1.0, asked_back / alone_back);
  return std::min(1.0, capacity / asked);
}

}  // namespace

EngineId EventSimulator::add_engine(Sharing sharing) {
  engines_.push_back({sharing});
  return static_cast<EngineId>(engines_.size() - 1);
}

LinkId EventSimulator::add_link(const Duplex& duplex) {
  links_.push_back({.duplex = duplex});
  return static_cast<LinkId>(links_.size() - 1);
}

LinkId EventSimulator::add_shared_link(const Capacity& capacity) {
  links_.push_back({.capacity = capacity});
  return static_cast<LinkId>(links_.size() - 1);
}

void EventSimulator::set_handover(EngineId from, EngineId to, double seconds) { handovers_[{from, to}] = seconds; }

void EventSimulator::set_stream_switch(EngineId engine, double seconds) {
  engines_[static_cast<std::size_t>(engine)].stream_switch = seconds;
}

EventSimulator::Engine& EventSimulator::engine_of(const Operation& o) {
  return engines_[static_cast<std::size_t>(o.engine)];
}

void EventSimulator::add(OperationPtr operation) {
  Operation& o = *operation;
  o.serial = added_++;
  std::ranges::for_each(o.after, [&](const auto& before) {
    if (before->done()) follow(o, *before);
  });
  std::erase_if(o.after, [](const auto& before) { return before->done(); });
  o.unmet = o.after.size();
  active_.emplace(&o, std::move(operation));
  try {
    o.submitted > now_ ? static_cast<void>(future_.insert(&o)) : arrive(o);
    for (const auto& before : o.after) before->successors.push_back(&o);
  } catch (...) {  // out of memory: remove the operation from all queues
    future_.erase(&o);
    engine_of(o).ready.erase(&o);
    on_the_way_.erase({o.handed_over, &o});
    for (const auto& before : o.after) std::erase(before->successors, &o);
    active_.erase(&o);  // may destroy `o`
    throw;
  }
}

void EventSimulator::arrive(Operation& o) {
  if (o.unmet != 0) return;
  if (o.handed_over > now_ + kSameMoment) {
    on_the_way_.insert({o.handed_over, &o});
  } else {
    engine_of(o).ready.insert(&o);
  }
}

double EventSimulator::handover(EngineId from, EngineId to) const {
  const auto found = handovers_.find({from, to});
  return found == handovers_.end() ? 0 : found->second;
}

/// Records in `o` that its dependency `before` finished: `o` starts no earlier than the end of `before` plus the
/// handover time between their engines. If `o` has no engine, it keeps engine and end of `before` for its successors.
void EventSimulator::follow(Operation& o, const Operation& before) const {
  const auto follows = [&](EngineId engine, double end) {
    if (o.engine != EngineId::none) {
      o.handed_over = std::max(o.handed_over, end + handover(engine, o.engine));
      return;
    }
    const auto known = std::ranges::find(o.origins, engine, &std::pair<EngineId, double>::first);
    if (known == o.origins.end()) {
      o.origins.emplace_back(engine, end);
    } else {
      known->second = std::max(known->second, end);
    }
  };
  if (before.engine != EngineId::none || before.stands_for != EngineId::none) {
    follows(before.engine != EngineId::none ? before.engine : before.stands_for, before.finished);
    return;
  }
  for (const auto& [engine, end] : before.origins) follows(engine, end + before.finished - before.started);
}

bool EventSimulator::has_room(const Operation& o) const {
  const Engine& engine = engines_[static_cast<std::size_t>(o.engine)];
  if (o.engine == EngineId::none || engine.busy == 0) return true;
  return engine.sharing == Sharing::by_share && engine.occupied + o.share <= kAllOfIt;
}

Operation* EventSimulator::next_to_start() const {
  Operation* first = nullptr;
  for (const Engine& engine : engines_) {
    // Only the first operation in the queue may start: otherwise a kernel that needs much of an engine could starve.
    if (engine.ready.empty() || !has_room(**engine.ready.begin())) continue;
    if (first == nullptr || Earlier{}(*engine.ready.begin(), first)) first = *engine.ready.begin();
  }
  return first;
}

void EventSimulator::start(Operation& o) {
  // reserve() and on_start() come first: if they throw std::bad_alloc, the operation has not started.
  if (running_.size() == running_.capacity()) running_.reserve(2 * running_.size() + 8);
  if (o.on_start) o.on_start();
  if (duration_factor_ && o.engine != EngineId::none) {
    const double duration_factor = duration_factor_();
    o.overhead *= duration_factor;
    o.payload *= duration_factor;
  }
  Engine& engine = engine_of(o);
  if (engine.stream != o.stream && engine.stream != nullptr) {
    o.preparation = std::max(0.0, engine.idle_since + engine.stream_switch - now_);
  }
  engine.stream = o.stream;
  engine.ready.erase(&o);
  ++engine.busy;
  engine.occupied += o.share;
  o.state = Operation::State::running;
  o.started = now_;
  running_.insert(std::ranges::upper_bound(running_, &o, Earlier{}), &o);
}

void EventSimulator::admit_arrivals() {
  while (!future_.empty() && (*future_.begin())->submitted <= now_) {
    Operation& o = **future_.begin();
    future_.erase(future_.begin());
    arrive(o);
  }
  while (!on_the_way_.empty() && on_the_way_.begin()->first <= now_ + kSameMoment) {
    Operation& o = *on_the_way_.begin()->second;
    on_the_way_.erase(on_the_way_.begin());
    engine_of(o).ready.insert(&o);
  }
}

void EventSimulator::start_ready() {
  admit_arrivals();
  while (Operation* o = next_to_start()) start(*o);
}

void EventSimulator::pass_through() {
  admit_arrivals();
  Queue& free = engines_.front().ready;
  while (!free.empty()) {
    Operation& o = **free.begin();
    start(o);
    if (!spent(o)) continue;
    std::erase(running_, &o);
    finish(o);
  }
}

double EventSimulator::rate_of_own_links(const Operation& o) {
  if (o.preparation > 0) return 1;
  const bool moving = moving_payload(o);
  double rate = 1;
  for (const Use& use : o.uses) {
    const Link& link = link_of(use);
    const Duplex& d = link.duplex;
    if (link.capacity) continue;
    const unsigned in = use.in > 0 ? 1 : 0;
    const unsigned out = use.out > 0 ? 1 : 0;
    double part = 1;
    const unsigned others_in = (moving ? link.movers_in : link.users_in) - in;
    const unsigned others_out = (moving ? link.movers_out : link.users_out) - out;
    if (in > 0 && others_out > 0) part = moving ? d.in_rate * use.duplex : 1 / d.in_overhead;
    if (out > 0 && others_in > 0) part = std::min(part, moving ? d.out_rate * use.duplex : 1 / d.out_overhead);
    if (moving) part /= std::max(in * link.movers_in, out * link.movers_out);  // the count includes this operation
    rate = std::min(rate, part);
  }
  return rate;
}

double EventSimulator::rate_of_shared_links(const Operation& o) {
  double rate = 1;
  for (const Use& use : o.uses) {
    const Link& link = link_of(use);
    if (!link.capacity) continue;
    const Capacity& c = *link.capacity;
    const double in = link.asked_in;
    const double out = link.asked_out;
    if (use.in > 0) rate = std::min(rate, part_of_shared(in, c.in, c.duplex_in, out, c.out));
    if (use.out > 0) rate = std::min(rate, part_of_shared(out, c.out, c.duplex_out, in, c.in));
  }
  return rate;
}

void EventSimulator::weigh() {
  for (const Operation* o : running_) {
    for (const Use& use : o->uses) {
      Link& link = link_of(use);
      link.movers_in = link.movers_out = 0;
      link.users_in = link.users_out = 0;
      link.asked_in = link.asked_out = 0;
    }
  }
  for (const Operation* o : running_) {
    const unsigned moving = moving_payload(*o) ? 1 : 0;
    for (const Use& use : o->uses) {
      Link& link = link_of(use);
      link.users_in += use.in > 0 ? 1 : 0;
      link.users_out += use.out > 0 ? 1 : 0;
      link.movers_in += use.in > 0 ? moving : 0;
      link.movers_out += use.out > 0 ? moving : 0;
    }
  }
  for (Operation* o : running_) {
    o->rate = rate_of_own_links(*o);
    if (!moving_payload(*o)) continue;
    for (const Use& use : o->uses) {
      link_of(use).asked_in += o->rate * use.in;
      link_of(use).asked_out += o->rate * use.out;
    }
  }
  for (Operation* o : running_) {
    if (moving_payload(*o)) o->rate *= rate_of_shared_links(*o);
  }
}

void EventSimulator::finish(Operation& o) {
  o.state = Operation::State::finished;
  o.finished = now_;
  Engine& engine = engine_of(o);
  --engine.busy;
  engine.idle_since = now_;
  // The sum of shares is reset when the engine becomes idle, so that rounding errors do not accumulate.
  engine.occupied = engine.busy == 0 ? 0 : engine.occupied - o.share;
  if (o.on_finish) o.on_finish();
  for (Operation* next : o.successors) {
    follow(*next, o);
    if (--next->unmet == 0 && next->submitted <= now_) arrive(*next);
  }
  // Release references, so that chains of finished operations do not grow for ever.
  o.successors.clear();
  o.after.clear();
  o.on_start = nullptr;
  o.on_finish = nullptr;
  active_.erase(&o);  // may destroy `o`
}

double EventSimulator::phase_end(Operation& o) const { return now_ + phase_of(o) / o.rate; }

double EventSimulator::next_change() {
  start_ready();
  double next = kNever;
  if (!future_.empty()) next = (*future_.begin())->submitted;
  if (!on_the_way_.empty()) next = std::min(next, on_the_way_.begin()->first);
  weigh();
  for (Operation* o : running_) next = std::min(next, phase_end(*o));
  return next;
}

bool EventSimulator::step() {
  const double next = next_change();
  if (next == kNever) return false;
  std::vector<Operation*> ended;
  ended.reserve(running_.size());  // allocates before any state changes
  std::vector<double> ends(running_.size());
  std::ranges::transform(running_, ends.begin(), [this](Operation* o) { return phase_end(*o); });
  for (std::size_t i = 0; i < running_.size(); ++i) {
    Operation& o = *running_[i];
    double& phase = phase_of(o);
    // A phase that ends now is set to exactly 0: a tiny remainder might be too short to advance the clock.
    const double share = ends[i] <= next ? 1 : (next - now_) / (ends[i] - now_);
    phase = share >= 1 ? 0 : phase * (1 - share);
  }
  now_ = next;
  std::erase_if(running_, [&ended](Operation* o) {
    if (spent(*o)) ended.push_back(o);
    return spent(*o);
  });
  for (Operation* o : ended) finish(*o);
  pass_through();
  return true;
}

void EventSimulator::run_all() {
  while (!active_.empty() && step()) {
  }
}

void EventSimulator::abandon() {
  for (const auto& [o, owner] : active_) {
    // Operations on which this one depends may outlive it and must not refer to it. Chains of operations are cut link
    // by link, because a recursive destruction could exhaust the stack.
    for (const auto& before : o->after) before->successors.clear();
  }
  for (const auto& [o, owner] : active_) owner->after.clear();
  for (Engine& engine : engines_) engine = {.sharing = engine.sharing, .stream_switch = engine.stream_switch};
  future_.clear();
  on_the_way_.clear();
  running_.clear();
  active_.clear();
}

}  // namespace xferbench::sim
