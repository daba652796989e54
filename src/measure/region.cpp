#include "measure/region.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace xferbench {

Region stepped_region(std::string name, std::vector<Region::Part> parts, std::function<void(LapTimer&)> steps) {
  return {.name = std::move(name), .clock = Clock::host, .parts = std::move(parts), .steps = std::move(steps)};
}

Region at_once(std::string name, std::vector<Region> regions) {
  Region all{.name = std::move(name), .clock = Clock::event_gated};
  all.operations = 0;
  all.per_stream = std::ranges::all_of(regions, &Region::per_stream);
  all.batchable = std::ranges::all_of(regions, &Region::batchable);
  all.same_batch = std::ranges::all_of(regions, &Region::same_batch);
  all.waits = std::ranges::all_of(regions, &Region::waits);
  for (const Region& r : regions) {
    if (r.clock != Clock::event_gated) all.clock = r.clock;
    all.streams.insert(all.streams.end(), r.streams.begin(), r.streams.end());
    all.operations = std::max(all.operations, r.operations);
  }
  const bool checkable = std::ranges::all_of(regions, [](const Region& r) { return r.check != nullptr; });
  const auto shared = std::make_shared<const std::vector<Region>>(std::move(regions));
  all.submit = [shared] {
    for (const Region& r : *shared) r.submit();
  };
  if (!checkable) return all;
  all.check = [shared] {
    for (const Region& r : *shared) r.check();
  };
  return all;
}

Region wall_region(const Region& region) {
  Region wall{.name = kWall, .clock = Clock::host, .streams = region.streams, .operations = region.operations};
  wall.batchable = false;
  wall.warmed_by_another = true;
  wall.reset = region.reset;
  wall.check = region.check;
  wall.parts = {{.name = kWallCalls}};
  const std::vector<StreamView> awaited = region.waits ? std::vector<StreamView>() : region.streams;
  wall.steps = [submit = region.submit, awaited](LapTimer& laps) {
    submit();
    laps.lap(0);
    for (const StreamView stream : awaited) stream.synchronize();
  };
  return wall;
}

bool fits_gate(const Region& region) { return RegionTimer::fits_gate(region.operations, region.streams.size()); }

void use_common_clock(std::initializer_list<Region*> regions) {
  if (std::ranges::all_of(regions, [](const Region* r) { return fits_gate(*r); })) return;
  for (Region* r : regions) {
    if (r->clock == Clock::event_gated) r->clock = Clock::event;
  }
}

RegionTimer::RegionTimer(Machine& machine, Region region) : host_(machine.host()), region_(std::move(region)) {
  if (region_.clock == Clock::host) return;
  Device& root = region_.streams.front().device();
  if (region_.clock == Clock::event_gated && !fits_gate(region_.operations, region_.streams.size()))
    region_.clock = Clock::event;
  if (region_.clock == Clock::event_gated) gate_ = machine.make_gate();
  start_ = root.make_event(EventKind::timing);
  stop_ = root.make_event(EventKind::timing);
  add_devices(root);
  if (!devices_.empty()) return;
  forked_ = root.make_event(EventKind::ordering);
  const EventKind kind = region_.per_stream ? EventKind::timing : EventKind::ordering;
  for (const StreamView stream : region_.streams) joined_.push_back(stream.device().make_event(kind));
}

/// Groups the region's streams by device and creates the events of each device. Does nothing if all streams belong to
/// `root`, the device of the first stream.
void RegionTimer::add_devices(Device& root) {
  const auto of_root = [&root](const StreamView stream) { return &stream.device() == &root; };
  if (std::ranges::all_of(region_.streams, of_root)) return;
  const EventKind kind = region_.per_stream ? EventKind::timing : EventKind::ordering;
  for (std::size_t i = 0; i < region_.streams.size(); ++i) {
    const StreamView stream = region_.streams[i];
    const auto same = [&stream](const DeviceStreams& on_device) {
      return &on_device.streams.front().device() == &stream.device();
    };
    auto on_device = std::ranges::find_if(devices_, same);
    if (on_device == devices_.end()) on_device = devices_.insert(devices_.end(), DeviceStreams());
    on_device->streams.push_back(stream);
    on_device->places.push_back(i);
    on_device->joined.push_back(stream.device().make_event(kind));
  }
  region_.parts.clear();
  for (DeviceStreams& on_device : devices_) {
    Device& device = on_device.streams.front().device();
    on_device.begun = device.make_event(EventKind::timing);
    on_device.forked = device.make_event(EventKind::ordering);
    on_device.ended = device.make_event(EventKind::timing);
    if (&device != &root) {
      on_device.watch = root.make_stream(StreamKind::nonblocking);
      on_device.seen = root.make_event(EventKind::timing);
    }
    const int number = device.capabilities().environment.number_of(device.number());
    region_.parts.push_back({.name = kGpuTime, .clock = region_.clock, .gpu = number});
    region_.parts.push_back({.name = kGpuEnd, .clock = region_.clock, .gpu = number});
  }
  region_.parts.push_back({.name = kSinceOpening});
}

std::size_t RegionTimer::queued(std::size_t operations, std::size_t streams) {
  const std::size_t fork_and_join = streams > 1 ? 2 * streams : 0;
  return operations + fork_and_join + 2;
}

unsigned RegionTimer::most_behind_gate(std::size_t operations, std::size_t streams) {
  return std::max(1U, static_cast<unsigned>(kGateLimit / queued(operations, streams)));
}

unsigned RegionTimer::largest_batch() const {
  constexpr unsigned kLargest = 10'000;
  if (!region_.batchable || region_.reset || region_.steps) return 1;
  if (!devices_.empty() && !region_.back_to_back) return 1;
  if (region_.clock != Clock::event_gated) return kLargest;
  return most_behind_gate(region_.operations, region_.streams.size());
}

void RegionTimer::fork() {
  if (region_.streams.size() < 2) return;
  region_.streams.front().record(forked_);
  for (std::size_t i = 1; i < region_.streams.size(); ++i) region_.streams[i].wait(forked_);
}

void RegionTimer::join() {
  const StreamView root = region_.streams.front();
  if (region_.per_stream) root.record(joined_.front());
  for (std::size_t i = 1; i < region_.streams.size(); ++i) {
    region_.streams[i].record(joined_[i]);
    root.wait(joined_[i]);
  }
}

/// Enqueues the start of each device's work. Without a gate, the other devices wait for the root's start event, which
/// takes some microseconds.
void RegionTimer::begin_devices(bool gated) {
  const StreamView root = region_.streams.front();
  for (const DeviceStreams& on_device : devices_) {
    if (gated) gate_.close(on_device.streams.front());
  }
  root.record(start_);
  for (const DeviceStreams& on_device : devices_) {
    const StreamView first = on_device.streams.front();
    if (!gated && first != root) first.wait(start_);
    first.record(on_device.begun);
    if (on_device.streams.size() < 2) continue;
    first.record(on_device.forked);
    for (const StreamView stream : on_device.streams) {
      if (stream != first) stream.wait(on_device.forked);
    }
  }
}

void RegionTimer::end_devices() {
  const StreamView root = region_.streams.front();
  for (const DeviceStreams& on_device : devices_) {
    const StreamView first = on_device.streams.front();
    if (region_.per_stream) first.record(on_device.joined.front());
    for (std::size_t i = 1; i < on_device.streams.size(); ++i) {
      on_device.streams[i].record(on_device.joined[i]);
      first.wait(on_device.joined[i]);
    }
    first.record(on_device.ended);
    if (first == root) continue;
    root.wait(on_device.ended);
    // A separate stream of the root device records this device's end by the root device's clock, because the root
    // stream may still be waiting for another device.
    on_device.watch.wait(on_device.ended);
    on_device.watch.record(on_device.seen);
  }
  root.record(stop_);
}

bool RegionTimer::run_devices(bool gated, const std::function<void()>& before_start, Timing& timing) {
  constexpr double kTimeout = 0.5;  // seconds; shorter than the gate's own timeout
  bool all_there = true;
  double opened = host_.now();
  {
    const OnExit open = opening(gated);
    if (!gated) before_start();
    begin_devices(gated);
    const double before = host_.now();
    for (unsigned i = 0; i < batch_; ++i) region_.submit();
    timing.submit = (host_.now() - before) / batch_;
    end_devices();
    if (gated) all_there = gate_.wait_until_held(kTimeout);
    if (gated) before_start();
    if (gated) opened = host_.now();
  }
  stop_.synchronize();
  const double finished = host_.now();
  timing.elapsed = elapsed(start_, stop_) / batch_;
  if (region_.per_stream) timing.stream_times.resize(region_.streams.size());
  for (const DeviceStreams& on_device : devices_) {
    for (std::size_t i = 0; i < on_device.places.size() && region_.per_stream; ++i) {
      timing.stream_times[on_device.places[i]] = elapsed(on_device.begun, on_device.joined[i]) / batch_;
    }
    if (on_device.seen) on_device.seen.synchronize();
    timing.parts.push_back({elapsed(on_device.begun, on_device.ended) / batch_});
    timing.parts.push_back({elapsed(start_, on_device.seen ? on_device.seen : on_device.ended) / batch_});
  }
  timing.parts.push_back({(finished - opened) / batch_});
  return all_there;
}

Timing RegionTimer::run(bool gated, const std::function<void()>& before_start) {
  if (region_.reset) region_.reset();
  if (region_.clock == Clock::host) {
    before_start();
    return run_by_host_clock();
  }
  const StreamView root = region_.streams.front();
  Timing timing;
  if (!devices_.empty()) {
    all_were_there_ = run_devices(gated, before_start, timing);
    return timing;
  }
  if (gated) gate_.close(root);
  {
    const OnExit open = opening(gated);
    if (!gated) before_start();
    root.record(start_);
    for (unsigned i = 0; i < batch_; ++i) {
      fork();
      const double before = host_.now();
      region_.submit();
      timing.submit += host_.now() - before;
      join();
    }
    root.record(stop_);
    if (gated) before_start();
  }
  stop_.synchronize();
  timing.elapsed = elapsed(start_, stop_) / batch_;
  timing.submit /= batch_;
  if (region_.per_stream && batch_ == 1) {
    for (const Event& end : joined_) timing.stream_times.push_back(elapsed(start_, end));
  }
  return timing;
}

Timing RegionTimer::run_by_host_clock() {
  Timing timing;
  timing.parts.resize(region_.parts.size());
  if (!region_.steps && !region_.submit) return timing;
  LapTimer laps(host_, timing.parts);
  const double begun = host_.now();
  for (unsigned i = 0; i < batch_; ++i) region_.steps ? region_.steps(laps) : region_.submit();
  timing.elapsed = (host_.now() - begun) / batch_;
  timing.submit = timing.elapsed;  // with Clock::host, submit() returns only after the work is done
  return timing;
}

Timing RegionTimer::run_ungated() {
  return run(false, [] {});
}

std::optional<Timing> RegionTimer::time(const std::function<void()>& before_start) {
  const bool gated = region_.clock == Clock::event_gated;
  const double called = host_.now();
  Timing timing = run(gated, [&] {
    preparation_ = host_.now() - called;
    before_start();
  });
  if (!gated || (!gate_.timed_out() && all_were_there_)) return timing;
  ++gate_timeouts_;
  return std::nullopt;
}

void RegionTimer::set_batch(unsigned batch) { batch_ = std::min(batch, largest_batch()); }

void RegionTimer::choose_batch(double shortest) {
  if (region_.batch > 0) {
    set_batch(region_.batch);
    time();
    return;
  }
  // The first pass may include more submission cost than later ones, so the batch chosen from it can be too small.
  // Further attempts enlarge the batch.
  for (int attempt = 0; attempt < 4; ++attempt) {
    const auto timing = time();
    if (!timing) continue;
    const double wanted = std::ceil(std::max(shortest, region_.shortest) / std::max(timing->elapsed, 1e-9));
    const auto next = static_cast<unsigned>(std::clamp<double>(wanted, batch_, largest_batch()));
    if (next == batch_) return;
    batch_ = next;
  }
}

void run_at_full_speed(Machine& machine, const Region& region, const std::function<void()>& prepare) {
  RegionTimer timer(machine, region);
  retry_gate_timeouts("checking " + region.name, [&] {
    prepare();
    return timer.time();
  });
}

void run_once(Machine& machine, const Region& region) { RegionTimer(machine, region).run_ungated(); }

void run_once(Machine& machine, const Region& region, const std::function<void()>& prepare) {
  prepare();
  run_once(machine, region);
}

}  // namespace xferbench
