#include "device/sim/event_simulator.hpp"

#include <algorithm>
#include <limits>

namespace xferbench::sim {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// Shares are rounded; four quarters fit.
constexpr double kAllOfIt = 1 + 1e-9;

bool spent(const Operation& o) { return o.overhead <= 0 && o.payload <= 0; }
bool moving_payload(const Operation& o) { return o.overhead <= 0; }
bool moves_in(const Operation& o) { return o.way == Way::h2d || o.way == Way::both; }
bool moves_out(const Operation& o) { return o.way == Way::d2h || o.way == Way::both; }

}  // namespace

EngineId EventSimulator::add_engine(Sharing sharing) {
  engines_.push_back({sharing});
  return static_cast<EngineId>(engines_.size() - 1);
}

LinkId EventSimulator::add_link(const Duplex& duplex) {
  links_.push_back({duplex});
  return static_cast<LinkId>(links_.size() - 1);
}

EventSimulator::Engine& EventSimulator::engine_of(const Operation& o) {
  return engines_[static_cast<std::size_t>(o.engine)];
}

void EventSimulator::add(OperationPtr operation) {
  Operation& o = *operation;
  o.serial = added_++;
  std::erase_if(o.after, [](const auto& before) { return before->done(); });
  o.unmet = o.after.size();
  active_.emplace(&o, std::move(operation));
  try {
    o.submitted > now_ ? static_cast<void>(future_.insert(&o)) : arrive(o);
    for (const auto& before : o.after) before->successors.push_back(&o);
  } catch (...) {  // there is no memory: nobody may remember what was not added
    future_.erase(&o);
    engine_of(o).ready.erase(&o);
    for (const auto& before : o.after) std::erase(before->successors, &o);
    active_.erase(&o);  // may be the end of it
    throw;
  }
}

void EventSimulator::arrive(Operation& o) {
  if (o.unmet == 0) engine_of(o).ready.insert(&o);
}

bool EventSimulator::has_room(const Operation& o) const {
  const Engine& engine = engines_[static_cast<std::size_t>(o.engine)];
  if (o.engine == EngineId::none || engine.busy == 0) return true;
  return engine.sharing == Sharing::by_share && engine.occupied + o.share <= kAllOfIt;
}

Operation* EventSimulator::next_to_start() const {
  Operation* first = nullptr;
  for (const Engine& engine : engines_) {
    // Nobody overtakes the first of a queue: a kernel that needs much room would never find it.
    if (engine.ready.empty() || !has_room(**engine.ready.begin())) continue;
    if (first == nullptr || Earlier{}(*engine.ready.begin(), first)) first = *engine.ready.begin();
  }
  return first;
}

void EventSimulator::start(Operation& o) {
  // Both may throw for lack of memory; then it has not started.
  if (running_.size() == running_.capacity()) running_.reserve(2 * running_.size() + 8);
  if (o.on_start) o.on_start();
  Engine& engine = engine_of(o);
  engine.ready.erase(&o);
  ++engine.busy;
  engine.occupied += o.share;
  o.state = Operation::State::running;
  o.started = now_;
  running_.insert(std::ranges::upper_bound(running_, &o, Earlier{}), &o);
}

void EventSimulator::let_arrive() {
  while (!future_.empty() && (*future_.begin())->submitted <= now_) {
    Operation& o = **future_.begin();
    future_.erase(future_.begin());
    arrive(o);
  }
}

void EventSimulator::start_ready() {
  let_arrive();
  while (Operation* o = next_to_start()) start(*o);
}

void EventSimulator::pass_through() {
  let_arrive();
  Queue& free = engines_.front().ready;
  while (!free.empty()) {
    Operation& o = **free.begin();
    start(o);
    if (!spent(o)) continue;
    std::erase(running_, &o);
    finish(o);
  }
}

void EventSimulator::weigh() {
  for (Link& link : links_) link.h2d = link.d2h = 0;
  for (const Operation* o : running_) {
    if (o->way == Way::none || !moving_payload(*o)) continue;
    Link& link = links_[static_cast<std::size_t>(o->link)];
    link.h2d += moves_in(*o) ? 1 : 0;
    link.d2h += moves_out(*o) ? 1 : 0;
  }
}

double EventSimulator::rate(const Operation& o) const {
  if (o.way == Way::none) return 1;
  const Link& link = links_[static_cast<std::size_t>(o.link)];
  const bool payload = moving_payload(o);
  const unsigned own_in = moves_in(o) ? 1 : 0;
  const unsigned own_out = moves_out(o) ? 1 : 0;
  double rate = 1;
  if (own_in > 0 && link.d2h > (payload ? own_out : 0)) {
    rate = std::min(rate, payload ? link.duplex.h2d_rate : 1 / link.duplex.h2d_overhead);
  }
  if (own_out > 0 && link.h2d > (payload ? own_in : 0)) {
    rate = std::min(rate, payload ? link.duplex.d2h_rate : 1 / link.duplex.d2h_overhead);
  }
  if (!payload) return rate;
  const unsigned alongside = std::max(own_in * link.h2d, own_out * link.d2h);  // itself included
  return rate / alongside;
}

void EventSimulator::finish(Operation& o) {
  o.state = Operation::State::finished;
  o.finished = now_;
  Engine& engine = engine_of(o);
  --engine.busy;
  // Sums of rounded shares must not drift.
  engine.occupied = engine.busy == 0 ? 0 : engine.occupied - o.share;
  if (o.on_finish) o.on_finish();
  for (Operation* next : o.successors) {
    if (--next->unmet == 0 && next->submitted <= now_) arrive(*next);
  }
  // What it kept alive is not needed any more; chains of finished operations must not grow for ever.
  o.successors.clear();
  o.after.clear();
  o.on_start = nullptr;
  o.on_finish = nullptr;
  active_.erase(&o);  // may be the end of it
}

double EventSimulator::phase_end(const Operation& o) const {
  return now_ + (o.overhead > 0 ? o.overhead : o.payload) / rate(o);
}

double EventSimulator::next_change() {
  start_ready();
  double next = kNever;
  if (!future_.empty()) next = (*future_.begin())->submitted;
  weigh();
  for (const Operation* o : running_) next = std::min(next, phase_end(*o));
  return next;
}

bool EventSimulator::step() {
  const double next = next_change();
  if (next == kNever) return false;
  std::vector<Operation*> ended;
  ended.reserve(running_.size());  // now, while nothing has been changed
  std::vector<double> ends(running_.size());
  std::ranges::transform(running_, ends.begin(), [this](const Operation* o) { return phase_end(*o); });
  for (std::size_t i = 0; i < running_.size(); ++i) {
    Operation& o = *running_[i];
    double& phase = o.overhead > 0 ? o.overhead : o.payload;
    // What ends now ends exactly: a remainder too small to move the clock would never get done.
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
    // Who it waited for may live on, and must not remember it; and chains are taken apart here, link by link, because
    // destroying one in a single recursion could exhaust the stack.
    for (const auto& before : o->after) before->successors.clear();
  }
  for (const auto& [o, owner] : active_) owner->after.clear();
  for (Engine& engine : engines_) engine = {engine.sharing};
  future_.clear();
  running_.clear();
  active_.clear();
}

}  // namespace xferbench::sim
