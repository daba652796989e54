#include "measure/region.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.hpp"

namespace xferbench {

namespace {

/// Opens the gate however the scope is left: a region that throws while it is closed must not hold the GPU until the
/// time-out.
class OpenOnExit {
 public:
  OpenOnExit(Device& device, GateHandle gate) : device_(device), gate_(gate) {}
  OpenOnExit(const OpenOnExit&) = delete;
  OpenOnExit& operator=(const OpenOnExit&) = delete;
  ~OpenOnExit() { device_.open(gate_); }

 private:
  Device& device_;
  GateHandle gate_;
};

}  // namespace

bool fits_gate(const Region& region) {
  return RegionTimer::queued(region.operations, region.streams.size()) <= RegionTimer::kGateLimit;
}

void use_common_clock(std::initializer_list<Region*> regions) {
  if (std::ranges::all_of(regions, [](const Region* r) { return fits_gate(*r); })) return;
  for (Region* r : regions) {
    if (r->clock == Clock::event_gated) r->clock = Clock::event;
  }
}

RegionTimer::RegionTimer(Device& device, Region region)
    : device_(device),
      region_(std::move(region)),
      start_(device.make_event(EventKind::timing)),
      stop_(device.make_event(EventKind::timing)),
      forked_(device.make_event(EventKind::ordering)) {
  if (region_.clock == Clock::host) return;
  for (std::size_t i = 0; i < region_.streams.size(); ++i) {
    joined_.push_back(device.make_event(region_.per_stream ? EventKind::timing : EventKind::ordering));
  }
  if (region_.clock == Clock::event_gated && !fits_gate(region_)) region_.clock = Clock::event;
  if (region_.clock == Clock::event_gated) gate_ = device.make_gate();
}

std::size_t RegionTimer::queued(std::size_t operations, std::size_t streams) {
  const std::size_t fork_and_join = streams > 1 ? 2 * streams : 0;
  return operations + fork_and_join + 2;
}

std::size_t RegionTimer::queued_per_repetition() const { return queued(region_.operations, region_.streams.size()); }

unsigned RegionTimer::largest_batch() const {
  constexpr unsigned kLargest = 10'000;
  if (!region_.batchable || region_.reset || region_.steps) return 1;
  if (region_.clock != Clock::event_gated) return kLargest;
  return std::max(1U, static_cast<unsigned>(kGateLimit / queued_per_repetition()));
}

void RegionTimer::fork() {
  if (region_.streams.size() < 2) return;
  device_.record(forked_, region_.streams.front());
  for (std::size_t i = 1; i < region_.streams.size(); ++i) device_.wait(region_.streams[i], forked_);
}

void RegionTimer::join() {
  const StreamHandle root = region_.streams.front();
  if (region_.per_stream) device_.record(joined_.front(), root);
  for (std::size_t i = 1; i < region_.streams.size(); ++i) {
    device_.record(joined_[i], region_.streams[i]);
    device_.wait(root, joined_[i]);
  }
}

Timing RegionTimer::run(bool gated) {
  if (region_.reset) region_.reset();
  if (region_.clock == Clock::host) return run_by_host_clock();
  const StreamHandle root = region_.streams.front();
  Timing timing;
  if (gated) device_.close(gate_, root);
  {
    std::optional<OpenOnExit> open;
    if (gated) open.emplace(device_, gate_);
    device_.record(start_, root);
    for (unsigned i = 0; i < batch_; ++i) {
      fork();
      const double before = device_.host_now();
      region_.submit();
      timing.submit += device_.host_now() - before;
      join();
    }
    device_.record(stop_, root);
  }
  device_.synchronize(stop_);
  timing.elapsed = device_.elapsed(start_, stop_) / batch_;
  timing.submit /= batch_;
  if (region_.per_stream && batch_ == 1) {
    for (const Event& end : joined_) timing.stream_times.push_back(device_.elapsed(start_, end));
  }
  return timing;
}

Timing RegionTimer::run_by_host_clock() {
  Timing timing;
  timing.parts.resize(region_.parts.size());
  LapTimer laps(device_, timing.parts);
  const double begun = device_.host_now();
  for (unsigned i = 0; i < batch_; ++i) region_.steps ? region_.steps(laps) : region_.submit();
  timing.elapsed = (device_.host_now() - begun) / batch_;
  timing.submit = timing.elapsed;  // the calls are the work
  return timing;
}

Timing RegionTimer::run_ungated() { return run(false); }

std::optional<Timing> RegionTimer::time() {
  const bool gated = region_.clock == Clock::event_gated;
  Timing timing = run(gated);
  if (!gated || !device_.timed_out(gate_)) return timing;
  ++gate_timeouts_;
  return std::nullopt;
}

void RegionTimer::choose_batch() {
  // Ungated times contain submission cost, so the first guess can fall short; a longer batch then shows it.
  for (int attempt = 0; attempt < 4; ++attempt) {
    const auto timing = time();
    if (!timing) continue;
    const double wanted = std::ceil(kShortest / std::max(timing->elapsed, 1e-9));
    const auto next = static_cast<unsigned>(std::clamp<double>(wanted, batch_, largest_batch()));
    if (next == batch_) return;
    batch_ = next;
  }
}

void run_at_full_speed(Device& device, const Region& region, const std::function<void()>& prepare) {
  constexpr int kMostAttempts = 5;
  RegionTimer timer(device, region);
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    prepare();
    if (timer.time()) return;
  }
  throw MeasurementError("checking " + region.name + ": the gate that holds back the stream timed out again and again");
}

void run_once(Device& device, const Region& region) { RegionTimer(device, region).run_ungated(); }

}  // namespace xferbench
