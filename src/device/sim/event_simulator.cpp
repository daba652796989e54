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
bool moves_in(const Operation& o) { return o.link == Link::h2d || o.link == Link::both; }
bool moves_out(const Operation& o) { return o.link == Link::d2h || o.link == Link::both; }
std::size_t index(EngineId engine) { return static_cast<std::size_t>(engine); }

}  // namespace

void EventSimulator::add(OperationPtr operation) {
  Operation& o = *operation;
  o.serial = added_++;
  std::erase_if(o.after, [](const auto& before) { return before->done(); });
  o.unmet = o.after.size();
  for (const auto& before : o.after) before->successors.push_back(&o);
  active_.emplace(&o, std::move(operation));
  if (o.submitted > now_) {
    future_.insert(&o);
  } else {
    arrive(o);
  }
}

void EventSimulator::arrive(Operation& o) {
  if (o.unmet == 0) ready_[index(o.engine)].insert(&o);
}

bool EventSimulator::has_room(const Operation& o) const {
  const std::size_t engine = index(o.engine);
  if (o.engine == EngineId::none || busy_[engine] == 0) return true;
  return o.engine == EngineId::compute && occupied_[engine] + o.share <= kAllOfIt;
}

Operation* EventSimulator::next_to_start() const {
  Operation* first = nullptr;
  for (const Queue& queue : ready_) {
    // Nobody overtakes the first of a queue: a kernel that needs much room would never find it.
    if (queue.empty() || !has_room(**queue.begin())) continue;
    if (first == nullptr || Earlier{}(*queue.begin(), first)) first = *queue.begin();
  }
  return first;
}

void EventSimulator::start(Operation& o) {
  if (o.on_start) o.on_start();  // may throw for lack of memory; then it has not started
  const std::size_t engine = index(o.engine);
  ready_[engine].erase(&o);
  ++busy_[engine];
  occupied_[engine] += o.share;
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
  Queue& free = ready_[index(EngineId::none)];
  while (!free.empty()) {
    Operation& o = **free.begin();
    start(o);
    if (!spent(o)) continue;
    std::erase(running_, &o);
    finish(o);
  }
}

EventSimulator::Load EventSimulator::load() const {
  Load load;
  for (const Operation* o : running_) {
    if (!moving_payload(*o)) continue;
    load.h2d += moves_in(*o) ? 1 : 0;
    load.d2h += moves_out(*o) ? 1 : 0;
  }
  return load;
}

double EventSimulator::rate(const Operation& o, const Load& load) const {
  if (o.link == Link::none) return 1;
  const bool payload = moving_payload(o);
  const unsigned own_in = moves_in(o) ? 1 : 0;
  const unsigned own_out = moves_out(o) ? 1 : 0;
  double rate = 1;
  if (own_in > 0 && load.d2h > (payload ? own_out : 0)) {
    rate = std::min(rate, payload ? duplex_.h2d_rate : 1 / duplex_.h2d_overhead);
  }
  if (own_out > 0 && load.h2d > (payload ? own_in : 0)) {
    rate = std::min(rate, payload ? duplex_.d2h_rate : 1 / duplex_.d2h_overhead);
  }
  if (!payload) return rate;
  const unsigned alongside = std::max(own_in * load.h2d, own_out * load.d2h);  // itself included
  return rate / alongside;
}

void EventSimulator::finish(Operation& o) {
  o.state = Operation::State::finished;
  o.finished = now_;
  --busy_[index(o.engine)];
  // Sums of rounded shares must not drift.
  occupied_[index(o.engine)] = busy_[index(o.engine)] == 0 ? 0 : occupied_[index(o.engine)] - o.share;
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

double EventSimulator::phase_end(const Operation& o, const Load& load) const {
  return now_ + (o.overhead > 0 ? o.overhead : o.payload) / rate(o, load);
}

double EventSimulator::next_change() {
  start_ready();
  double next = kNever;
  if (!future_.empty()) next = (*future_.begin())->submitted;
  const Load now = load();
  for (const Operation* o : running_) next = std::min(next, phase_end(*o, now));
  return next;
}

bool EventSimulator::step() {
  const double next = next_change();
  if (next == kNever) return false;
  const Load before = load();
  std::vector<double> ends(running_.size());
  std::ranges::transform(running_, ends.begin(), [&](const Operation* o) { return phase_end(*o, before); });
  for (std::size_t i = 0; i < running_.size(); ++i) {
    Operation& o = *running_[i];
    double& phase = o.overhead > 0 ? o.overhead : o.payload;
    // What ends now ends exactly: a remainder too small to move the clock would never get done.
    const double share = ends[i] <= next ? 1 : (next - now_) / (ends[i] - now_);
    phase = share >= 1 ? 0 : phase * (1 - share);
  }
  now_ = next;
  std::vector<Operation*> ended;
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
  for (Queue& queue : ready_) queue.clear();
  future_.clear();
  running_.clear();
  busy_ = {};
  occupied_ = {};
  active_.clear();
}

}  // namespace xferbench::sim
