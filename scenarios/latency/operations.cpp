#include "scenarios/latency/operations.hpp"

#include <fmt/format.h>

#include <atomic>
#include <new>
#include <utility>

#include "core/error.hpp"
#include "kernels/count.hpp"
#include "kernels/delay.hpp"
#include "results/metric_names.hpp"

namespace xferbench {

namespace {

/// Seconds for which a kernel keeps the GPU busy until the host has submitted the rest of a pass and waits.
constexpr double kDelay = 100e-6;

/// Submits work that starts with a delay kernel, followed by stamp 0. If that stamp is written before all work is
/// submitted, the GPU has waited for the host, and the submission is repeated.
void submit_in_time(Stamps& stamps, const std::function<void()>& submit, const std::function<void()>& wait) {
  constexpr int kTries = 5;
  for (int i = 0; i < kTries; ++i) {
    stamps.clear();
    submit();
    if (!stamps.written(0)) return;
    wait();
  }
  throw MeasurementError("the host is too busy to submit a few operations in 100 us; close other programs");
}

/// A counter in device memory that empty kernels (kernels::Count) increment.
class Counter {
 public:
  explicit Counter(Device& device) : device_(device), memory_(device.allocate_device(sizeof(std::uint64_t))) {
    device_.fill_and_wait(memory_, std::byte{0});
  }

  [[nodiscard]] std::uint64_t* get() const { return reinterpret_cast<std::uint64_t*>(memory_.data); }

  void expect(std::uint64_t wanted, std::string_view what) const {
    const HostBuffer host = device_.allocate_host(sizeof(std::uint64_t), HostMemory::pageable);
    device_.copy_and_wait({host.data, memory_.data, host.bytes, Direction::d2h});
    const std::uint64_t found = *reinterpret_cast<const std::uint64_t*>(host.data);
    if (found == wanted) return;
    throw VerificationError(fmt::format("{}: expected {} kernels to run, but {} did", what, wanted, found));
  }

 private:
  Device& device_;
  DeviceBuffer memory_;
};

/// Returns a region that times a call plus the wait for the work that it submits; the call is a region part of its own.
Region call_and_wait(StreamView stream, std::function<void()> call) {
  return stepped_region(kLatency, {{.name = kHostCall}}, [stream, call = std::move(call)](LapTimer& laps) {
    call();
    laps.lap(0);
    stream.synchronize();
  });
}

}  // namespace

// --- Stamps and clocks -----------------------------------------------------------------------------------------------

Stamps::Stamps(Device& device, std::size_t count)
    : memory_(device.allocate_host(count * sizeof(std::uint64_t), HostMemory::mapped)),
      slots_(new (memory_.data) std::uint64_t[count]{}),
      count_(count) {}

void Stamps::clear() {
  for (std::size_t i = 0; i < count_; ++i) std::atomic_ref(slots_[i]).store(0, std::memory_order_release);
}

bool Stamps::written(std::size_t i) const { return std::atomic_ref(slots_[i]).load(std::memory_order_acquire) != 0; }

std::uint64_t Stamps::at(std::size_t i) const {
  if (!written(i)) throw VerificationError("the wait for a kernel returned before the kernel had run");
  return slots_[i];
}

// --- Copies ----------------------------------------------------------------------------------------------------------

Region SmallCopy::region() {
  Region r = call_and_wait(stream_, [this] { transfer_->submit(stream_); });
  r.check = [this] { transfer_->check(); };
  return r;
}

void SmallCopy::check(Machine& machine, VerifiedRun run) {
  run(machine, region(), [this] { transfer_->poison(); });
  transfer_->check();
}

// --- Launches --------------------------------------------------------------------------------------------------------

EmptyLaunch::EmptyLaunch(Device& device)
    : device_(device), stamps_(device, 1), timer_(device), stream_(device.make_stream(StreamKind::nonblocking)) {
  device_.preload(kernels::Count());
}

Region EmptyLaunch::synchronised() {
  return call_and_wait(stream_, [this] { stream_.launch(kernels::Count()); });
}

double EmptyLaunch::stamp_once() {
  stamps_.clear();
  const double begun = device_.host().now();
  stream_.stamp(stamps_.slot(0));
  stream_.synchronize();
  return timer_.until(stamps_.at(0), begun);
}

Region EmptyLaunch::stamped() {
  Region r = stepped_region("stamped", {{.name = kKernelStart, .clock = Clock::device}},
                            [this](LapTimer& laps) { laps.add(0, stamp_once()); });
  r.reset = [this] {
    if (timer_.refresh()) stamp_once();
  };
  return r;
}

void EmptyLaunch::check() {
  constexpr std::uint64_t kLaunches = 16;
  const Counter counter(device_);
  for (std::uint64_t i = 0; i < kLaunches; ++i) stream_.launch(kernels::Count(counter.get()));
  stream_.synchronize();
  counter.expect(kLaunches, "launch");
}

// --- Graphs ----------------------------------------------------------------------------------------------------------

GraphReplay::GraphReplay(Device& device, std::size_t nodes)
    : device_(device), nodes_(nodes), stream_(device.make_stream(StreamKind::nonblocking)) {
  // Hazard: kernels cannot be loaded during a stream capture.
  device_.preload(kernels::Count());
  graph_ = capture(nullptr);
}

Graph GraphReplay::capture(std::uint64_t* counter) {
  return stream_.capture([&] {
    for (std::size_t i = 0; i < nodes_; ++i) stream_.launch(kernels::Count(counter));
  });
}

Region GraphReplay::region() {
  return call_and_wait(stream_, [this] { stream_.replay(graph_); });
}

void GraphReplay::check() {
  constexpr std::uint64_t kReplays = 3;
  const Counter counter(device_);
  const Graph counting = capture(counter.get());
  for (std::uint64_t i = 0; i < kReplays; ++i) stream_.replay(counting);
  stream_.synchronize();
  counter.expect(kReplays * nodes_, "graph");
}

// --- Waiting ---------------------------------------------------------------------------------------------------------

WaitPolicyScope::~WaitPolicyScope() {
  try {
    device_.set_wait_policy(WaitPolicy::automatic);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // The CUDA context is lost, and the wait policy with it; the case that lost the context has reported the error.
  }
}

KernelWait::KernelWait(Device& device, WaitMethod method, WaitPolicy policy)
    : device_(device),
      method_(method),
      policy_(device, policy),
      stamps_(device, 1),
      timer_(device),
      stream_(device.make_stream(StreamKind::nonblocking)),
      event_(device.make_event(policy == WaitPolicy::blocking ? EventKind::blocking : EventKind::ordering)) {
  device_.preload(kernels::Delay(0));
}

void KernelWait::wait() {
  switch (method_) {
    case WaitMethod::stream: stream_.synchronize(); break;
    case WaitMethod::event: event_.synchronize(); break;
    case WaitMethod::query:
      while (!event_.finished()) {
      }
      break;
  }
}

KernelWait::Pass KernelWait::pass() {
  const auto submit = [this] {
    stream_.launch(kernels::Delay(kDelay));
    stream_.stamp(stamps_.slot(0));
    if (method_ != WaitMethod::stream) stream_.record(event_);
  };
  submit_in_time(stamps_, submit, [this] { stream_.synchronize(); });
  const double cpu_begun = device_.host().cpu_now();
  const double begun = device_.host().now();
  wait();
  const double ended = device_.host().now();
  const double cpu_ended = device_.host().cpu_now();
  return {timer_.since(stamps_.at(0), ended), ended - begun, cpu_ended - cpu_begun};
}

Region KernelWait::region() {
  const std::vector<Region::Part> parts{{.name = kLatency, .clock = Clock::device, .decides = true},
                                        {.name = "waited"},
                                        {.name = "cpu", .clock = Clock::cpu}};
  Region r = stepped_region("pass", parts, [this](LapTimer& laps) {
    const Pass p = pass();
    laps.add(0, p.latency);
    laps.add(1, p.waited);
    laps.add(2, p.cpu);
  });
  r.reset = [this] {
    if (timer_.refresh()) pass();
  };
  return r;
}

// --- From stream to stream -------------------------------------------------------------------------------------------

StreamCrossing::StreamCrossing(Device& device)
    : device_(device),
      stamps_(device, 2),
      from_(device.make_stream(StreamKind::nonblocking)),
      to_(device.make_stream(StreamKind::nonblocking)),
      event_(device.make_event(EventKind::ordering)) {
  device_.preload(kernels::Delay(0));
}

Region StreamCrossing::across() {
  return region("across", kLatency, [this] {
    from_.launch(kernels::Delay(kDelay));
    from_.stamp(stamps_.slot(0));
    from_.record(event_);
    to_.wait(event_);
    to_.stamp(stamps_.slot(1));
  });
}

Region StreamCrossing::within() {
  return region("within", "one-stream", [this] {
    from_.launch(kernels::Delay(kDelay));
    from_.stamp(stamps_.slot(0));
    from_.stamp(stamps_.slot(1));
  });
}

Region StreamCrossing::region(const char* name, const char* part, std::function<void()> submit) {
  const auto pass = [this, submit = std::move(submit)](LapTimer& laps) {
    submit_in_time(stamps_, submit, [this] { device_.synchronize(); });
    from_.synchronize();
    to_.synchronize();
    const std::uint64_t before = stamps_.at(0);
    const std::uint64_t after = stamps_.at(1);
    if (after < before) throw VerificationError("event-wait: work started before the event that it waits for");
    laps.add(0, 1e-9 * static_cast<double>(after - before));
  };
  return stepped_region(name, {{.name = part, .clock = Clock::device, .decides = true}}, pass);
}

}  // namespace xferbench
