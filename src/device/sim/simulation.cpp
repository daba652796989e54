#include "device/sim/simulation.hpp"

#include <map>
#include <new>

namespace xferbench::sim {

void SimTracer::start() {
  host_.wait_for_all();
  enqueued_.emplace();
}

void SimTracer::add(Enqueued enqueued) {
  if (enqueued_) enqueued_->push_back(std::move(enqueued));
}

Trace SimTracer::stop() {
  host_.wait_for_all();
  std::map<const void*, unsigned> streams;
  std::vector<Activity> activities;
  const auto all = std::exchange(enqueued_, std::nullopt).value_or(std::vector<Enqueued>{});
  for (const auto& [call, operation, gpu, stream, called, returned, node, replayed_in] : all) {
    if (call.name.empty()) continue;
    if (returned > called) activities.push_back({Activity::Row::host, call.name, 0, 0, called, returned});
    if (operation->engine == EngineId::none || !operation->done()) continue;
    const auto next = static_cast<unsigned>(streams.size());
    const unsigned number = streams.try_emplace(stream, next).first->second;
    activities.push_back({call.row, call.name, call.bytes, number, operation->started, operation->finished, gpu});
  }
  return make_trace("simulated", std::move(activities));
}

void SimTracer::begin_range(const char* name) {
  if (recorder_) recorder_->begin_range(name);
}

void SimTracer::end_range() {
  if (recorder_) recorder_->end_range();
}

EventSimulator::DurationFactor duration_factor_of(const Variation& varies) {
  if (varies.noise <= 0) return nullptr;
  return [random = Randomness(varies, Randomness::Purpose::engines)]() mutable { return random.duration_factor(); };
}

void Simulation::enqueued(Enqueued what) {
  if (recorder) recorder->enqueued(what);
  tracer.add(std::move(what));
}

void Simulation::settle() noexcept {
  try {
    events.run_all();
  } catch (const std::bad_alloc&) {
    events.abandon();
  }
}

}  // namespace xferbench::sim
