#include "device/sim/timeline.hpp"

#include <algorithm>
#include <limits>

namespace xferbench::sim {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
bool running(const Operation& o) { return o.state == Operation::State::running; }
bool moving_payload(const Operation& o) { return running(o) && o.overhead <= 0; }

}  // namespace

void Timeline::add(OperationPtr operation) {
  std::erase_if(operation->after, [](const auto& before) { return before->done(); });
  // Threads of the host are simulated in turns, so an operation may be added a little late.
  const auto later = std::ranges::find_if(active_.rbegin(), active_.rend(),
                                          [&](const auto& o) { return o->submitted <= operation->submitted; });
  active_.insert(later.base(), std::move(operation));
}

bool Timeline::ready(const Operation& o) const {
  return o.state == Operation::State::waiting && o.submitted <= now_ &&
         std::ranges::all_of(o.after, [](const auto& before) { return before->done(); });
}

bool Timeline::engine_free(EngineId engine) const {
  return engine == EngineId::none ||
         std::ranges::none_of(active_, [engine](const auto& o) { return running(*o) && o->engine == engine; });
}

void Timeline::start_ready() {
  for (const OperationPtr& o : active_) {
    if (!ready(*o) || !engine_free(o->engine)) continue;
    if (o->on_start) o->on_start();  // may throw for lack of memory; then it has not started
    o->state = Operation::State::running;
    o->started = now_;
  }
}

double Timeline::rate(const Operation& o) const {
  if (o.overhead > 0 || !o.shares_link) return 1;
  const bool contended = std::ranges::any_of(active_, [&o](const auto& other) {
    return other.get() != &o && other->shares_link && other->engine != o.engine && moving_payload(*other);
  });
  return contended ? duplex_ratio_ : 1;
}

void Timeline::finish(Operation& o) {
  o.state = Operation::State::finished;
  o.finished = now_;
  if (o.on_finish) o.on_finish();
  // What it kept alive is not needed any more; chains of finished operations must not grow for ever.
  o.after.clear();
  o.on_start = nullptr;
  o.on_finish = nullptr;
}

double Timeline::phase_end(const Operation& o) const {
  return now_ + (o.overhead > 0 ? o.overhead : o.payload / rate(o));
}

double Timeline::next_change() {
  start_ready();
  double next = kNever;
  for (const OperationPtr& o : active_) {
    if (running(*o)) {
      next = std::min(next, phase_end(*o));
    } else if (o->submitted > now_) {
      next = std::min(next, o->submitted);
    }
  }
  return next;
}

bool Timeline::step() {
  const double next = next_change();
  if (next == kNever) return false;
  std::vector<double> ends(active_.size(), kNever);
  for (std::size_t i = 0; i < active_.size(); ++i) {
    if (running(*active_[i])) ends[i] = phase_end(*active_[i]);
  }
  for (std::size_t i = 0; i < active_.size(); ++i) {
    Operation& o = *active_[i];
    if (!running(o)) continue;
    double& phase = o.overhead > 0 ? o.overhead : o.payload;
    // What ends now ends exactly: a remainder too small to move the clock would never get done.
    const double share = ends[i] <= next ? 1 : (next - now_) / (ends[i] - now_);
    phase = share >= 1 ? 0 : phase * (1 - share);
  }
  now_ = next;
  for (const OperationPtr& o : active_) {
    if (running(*o) && o->overhead <= 0 && o->payload <= 0) finish(*o);
  }
  std::erase_if(active_, [](const OperationPtr& o) { return o->done(); });
  return true;
}

void Timeline::run_all() {
  while (!active_.empty() && step()) {
  }
}

}  // namespace xferbench::sim
