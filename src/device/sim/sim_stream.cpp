#include "device/sim/sim_stream.hpp"

#include <algorithm>
#include <string>

#include "core/error.hpp"
#include "core/units.hpp"
#include "device/sim/sim_machine.hpp"

namespace xferbench::sim {

namespace {

unsigned number_of(const Device& device) { return static_cast<unsigned>(device.number()); }

recording::CopyKind kind_of(Direction direction) {
  switch (direction) {
    case Direction::h2d: return recording::CopyKind::h2d;
    case Direction::d2h: return recording::CopyKind::d2h;
    case Direction::p2p: return recording::CopyKind::p2p;
    case Direction::d2d: break;
  }
  return recording::CopyKind::d2d;
}

}  // namespace

// --- Events ---------------------------------------------------------------------------------------------------------

SimEvent::SimEvent(SimDevice& device, EventKind kind)
    : EventImpl(device), sim_(device.simulation()), timed_(kind == EventKind::timing) {}

const OperationPtr& SimEvent::outside_captures(const char* what) const {
  if (place_.capture) throw DeviceError(what, "the event was recorded during a capture, so it belongs to the graph");
  return operation_;
}

void SimEvent::synchronize() {
  const RecordedCall call(sim_.recorder.get(), "cudaEventSynchronize");
  call.waits({.kind = recording::SyncKind::event, .gpu = number_of(device()), .event = this});
  if (const OperationPtr& o = outside_captures("waiting for an event")) sim_.host.wait_for(o);
}

bool SimEvent::finished() {
  sim_.host.advance(sim_.profile.query_call);
  sim_.host.catch_up();
  const OperationPtr& o = outside_captures("querying an event");
  return !o || o->done();
}

double SimEvent::moment() const {
  if (!timed_) throw DeviceError("elapsed time", "an event was created without timing");
  if (!operation_ || !operation_->done()) throw DeviceError("elapsed time", "an event has not completed");
  return operation_->finished;
}

double SimEvent::seconds_since(const EventImpl& earlier) const {
  if (&earlier.device() != &device()) throw DeviceError("elapsed time", "the events belong to different devices");
  const double begun = static_cast<const SimEvent&>(earlier).moment();
  return moment() - begun;
}

// --- Streams --------------------------------------------------------------------------------------------------------

SimStream::SimStream(SimDevice& device, StreamKind kind)
    : StreamImpl(device), device_(device), sim_(device.simulation()), profile_(sim_.profile), kind_(kind) {
  device_.add(*this, kind);
}

SimStream::~SimStream() { device_.remove(*this); }

OperationPtr SimStream::enqueue(Operation operation, double call_cost, Call call) {
  return last_ = enqueue_behind(std::move(operation), call_cost, std::move(call));
}

OperationPtr SimStream::enqueue_unordered(Operation operation, double call_cost, Call call) {
  return aside_ = enqueue_behind(std::move(operation), call_cost, std::move(call));
}

void SimStream::wait_for_room() {
  if (held_.size() < profile_.stream_room) return;
  sim_.host.wait([&]() -> std::optional<double> {
    return held_.front()->done() ? std::optional(held_.front()->finished) : std::nullopt;
  });
  while (!held_.empty() && held_.front()->done()) held_.pop_front();
}

OperationPtr SimStream::enqueue_behind(Operation operation, double call_cost, Call call) {
  SimHost& host = sim_.host;
  const double called = host.now();
  host.advance(call_cost);
  wait_for_room();
  operation.submitted = host.now();
  operation.stream = this;
  const auto after = [&operation](const OperationPtr& last) {
    if (last) operation.after.push_back(last);
  };
  after(last_);
  // The legacy default stream and all blocking streams wait for each other.
  if (kind_ == StreamKind::legacy_default) {
    for (const SimStream* other : device_.streams()) {
      if (other->kind_ == StreamKind::blocking) after(other->last_);
    }
  } else if (kind_ == StreamKind::blocking) {
    after(device_.legacy_stream().last_);
  }
  auto pointer = std::make_shared<Operation>(std::move(operation));
  sim_.events.add(pointer);
  held_.push_back(pointer);
  sim_.enqueued({std::move(call), pointer, device_.operations().number(), this, called, host.now()});
  return pointer;
}

void SimStream::submit(Recipe recipe, double call_cost, Call call) {
  if (!place_.capture) {
    enqueue(recipe(device_.operations()), call_cost, std::move(call));
    return;
  }
  sim_.host.advance(call_cost);
  std::vector<Capture::Node>& nodes = place_.capture->nodes;
  for (const std::size_t before : place_.tails) nodes[before].awaited = true;
  nodes.push_back(
      {std::move(recipe), &device_.operations(), std::exchange(place_.tails, {nodes.size()}), std::move(call), this});
}

bool SimStream::inlines(const Copy& c) const {
  return c.direction == Direction::h2d && c.bytes <= profile_.pageable_inline_bytes && sim_.data.memory.pageable(c);
}

Call SimStream::call_of(const Copy& c) const {
  const auto [name, row] = traced(c.direction);
  Call call{.name = std::string(name), .bytes = c.bytes, .row = row, .by = recording::Channel::copy_engine};
  call.copy = kind_of(c.direction);
  call.host = sim_.data.memory.pageable(c) ? recording::Memory::pageable : recording::Memory::pinned;
  const auto other = sim_.data.memory.device_of(c.destination);
  if (c.direction == Direction::p2p && other) call.peer = static_cast<unsigned>(*other);
  if (inlines(c)) call.by = recording::Channel::compute;
  return call;
}

void SimStream::copy(const Copy& c) {
  const RecordedCall recorded(sim_.recorder.get(), "cudaMemcpyAsync");
  const Call call = call_of(c);
  if (!sim_.data.memory.pageable(c)) {
    return submit([c](const Operations& o) { return o.copy(c); }, profile_.copy_call, call);
  }
  refuse_in_capture("copying pageable memory");
  if (inlines(c)) {
    const double cost = profile_.copy_call + static_cast<double>(c.bytes) / profile_.host_copy_rate;
    enqueue(device_.operations().inlined(c), cost, call);
    return;
  }
  // The calling thread stages the data, so the call blocks.
  sim_.host.wait_for(enqueue(device_.operations().staged(c), profile_.copy_call, call));
}

void SimStream::copy_batch(const CopyBatch& batch) {
  // While the driver still copies, the engine already moves what has been copied.
  constexpr std::size_t kCopiedAtOnce = 2 * MiB;
  const RecordedCall recorded(sim_.recorder.get(), batch.function());
  if (batch.as_volumes && !batch.copies.empty()) {  // the driver submits single copies
    for (const Copy& c : batch.copies) copy_many(batch.function(), {c}, profile_.copy_call, &Operations::batch);
    return;
  }
  const bool idle = last_ == nullptr || last_->done();
  double cost = profile_.copy_call;
  std::size_t copied = 0;
  std::vector<Copy> part;
  for (const Copy& copy : batch.copies) {
    part.push_back(copy);
    cost += profile_.batch_copy_call;
    if (!idle || copy.direction != Direction::h2d || copy.bytes > profile_.batch_inline_bytes) continue;
    cost += profile_.batch_inline_call + static_cast<double>(copy.bytes) / profile_.batch_inline_rate;
    copied += copy.bytes;
    if (copied < kCopiedAtOnce) continue;
    copy_many(batch.function(), std::exchange(part, {}), std::exchange(cost, 0), &Operations::batch);
    copied = 0;
  }
  if (!part.empty() || batch.copies.empty()) copy_many(batch.function(), part, cost, &Operations::batch);
}

void SimStream::copy_strided(const StridedCopy& c) {
  const RecordedCall recorded(sim_.recorder.get(), "cudaMemcpy2DAsync");
  copy_many("cudaMemcpy2DAsync", c.copies(), profile_.copy_call, &Operations::strided);
}

void SimStream::copy_many(const char* name, const std::vector<Copy>& copies, double call_cost,
                          Operation (Operations::*operation)(const std::vector<Copy>&) const) {
  const auto same_way = [&](const Copy& c) {
    return c.direction == copies.front().direction && !sim_.data.memory.pageable(c);
  };
  if (copies.empty() || !std::ranges::all_of(copies, same_way)) {
    throw DeviceError(name, "the simulated device supports only copies of pinned memory, all in one direction");
  }
  Call call = call_of(copies.front());
  for (const Copy& c : std::span(copies).subspan(1)) call.bytes += c.bytes;
  submit([copies, operation](const Operations& o) { return (o.*operation)(copies); }, call_cost, std::move(call));
}

void SimStream::copy_blocking(const Copy& c) {
  const RecordedCall recorded(sim_.recorder.get(), "cudaMemcpy");
  refuse_in_capture("a blocking copy");
  copy(c);
  if (!inlines(c)) sim_.host.wait_for(last_);
}

void SimStream::fill(const DeviceView& range, std::byte value) {
  const RecordedCall recorded(sim_.recorder.get(), "cudaMemsetAsync");
  submit([range, value](const Operations& o) { return o.fill(range, value); }, profile_.launch_call,
         {"fill", range.bytes, Activity::Row::internal});
}

void SimStream::launch(const Kernel& kernel) {
  const RecordedCall recorded(sim_.recorder.get(), "cudaLaunchKernel");
  const Call call{.name = std::string(kernel.name()), .row = Activity::Row::kernel, .blocks = kernel.cost().blocks};
  if (!place_.capture) {
    enqueue(device_.operations().kernel(kernel, profile_.kernel_overhead), profile_.launch_call, call);
    return;
  }
  const std::shared_ptr<const Kernel> copy = kernel.clone();
  submit([copy, overhead = profile_.graph_node](const Operations& o) { return o.kernel(*copy, overhead); },
         profile_.launch_call, call);
}

void SimStream::stamp(std::uint64_t* slot) {
  submit([slot](const Operations& o) { return o.stamp(slot); }, profile_.launch_call, {});
}

void SimStream::flip(std::byte* at) {
  submit([at](const Operations& o) { return o.flip(at); }, profile_.launch_call, {});
}

void SimStream::call_host(CallbackApi api, HostFunction& function) {
  refuse_in_capture("calling a host function");
  Operation before;
  const bool plain = api == CallbackApi::launch_host_func;
  const RecordedCall recorded(sim_.recorder.get(), plain ? "cudaLaunchHostFunc" : "cudaStreamAddCallback");
  before.overhead = plain ? profile_.host_function_start : profile_.stream_callback_start;
  before.on_finish = [&host = sim_.host, call = function.call()] { host.call(*call); };
  enqueue(std::move(before), profile_.callback_call, {"call host function"});
  Operation after;
  after.overhead = profile_.host_function_end;
  enqueue(std::move(after), 0, {});
}

void SimStream::prefetch(const HostView&, Direction) {
  throw DeviceError("migrating managed memory", "the simulated device does not support it");
}

OperationPtr SimStream::hold(double seconds) {
  refuse_in_capture("closing a gate");
  return enqueue(device_.operations().hold(seconds), profile_.launch_call, {});
}

void SimStream::synchronize() {
  const RecordedCall recorded(sim_.recorder.get(), "cudaStreamSynchronize");
  recorded.waits({.kind = recording::SyncKind::stream, .gpu = number_of(device_), .stream = this});
  refuse_in_capture("waiting for a stream");
  if (last_) sim_.host.wait_for(last_);
}

void SimStream::record(EventImpl& event) {
  auto& e = static_cast<SimEvent&>(event);
  if (&e.device() != &device_) throw DeviceError("recording an event", "it belongs to another device");
  const RecordedCall recorded(sim_.recorder.get(), "cudaEventRecord");
  if (place_.capture) {  // the event is not an operation, only a position in the graph
    e.recorded_at(place_);
    return sim_.host.advance(profile_.event_call);
  }
  Operation o;
  o.overhead = e.timed() ? profile_.event_cost : profile_.order_cost;
  // An event with timing delays later work in its stream. One without timing only delays streams that wait for it.
  e.recorded_by(e.timed() ? enqueue(std::move(o), profile_.event_call, {"record event"})
                          : enqueue_unordered(std::move(o), profile_.event_call, {"record event"}));
  if (sim_.recorder) sim_.recorder->event_recorded(&event, this);
}

void SimStream::wait(EventImpl& event) {
  const auto& e = static_cast<const SimEvent&>(event);
  const RecordedCall recorded(sim_.recorder.get(), "cudaStreamWaitEvent");
  if (e.place().capture || place_.capture) return wait_in_capture(e);
  recorded.waits({recording::SyncKind::stream_wait_event, number_of(device_), this, &event});
  Operation o;
  if (e.operation()) o.after.push_back(&e.device() == &device_ ? e.operation() : visible_here(e.operation()));
  enqueue(std::move(o), profile_.event_call, {"wait for event"});
}

OperationPtr SimStream::visible_here(const OperationPtr& event) {
  const double since = event->done() ? sim_.events.now() - event->finished : 0;
  auto seen = std::make_shared<Operation>();
  seen->overhead = std::max(0.0, profile_.peer_event_cost - since);
  seen->after.push_back(event);
  sim_.events.add(seen);
  return seen;
}

// --- Graphs ---------------------------------------------------------------------------------------------------------

void SimStream::refuse_in_capture(const char* what) const {
  if (place_.capture) throw DeviceError(what, "it cannot be captured into a graph");
}

/// Waiting for an event of a capture makes this stream join the capture, unless it has joined, and adds dependencies.
void SimStream::wait_in_capture(const SimEvent& event) {
  const CapturePlace& there = event.place();
  sim_.host.advance(profile_.event_call);
  if (!there.capture && !event.operation()) return;  // the event was never recorded: nothing to wait for
  if (!there.capture || !there.capture->open || (place_.capture && place_.capture != there.capture)) {
    throw DeviceError("waiting for an event", "captured work cannot wait for work outside the capture, or the reverse");
  }
  place_.capture = there.capture;
  for (const std::size_t tail : there.tails) {
    if (std::ranges::find(place_.tails, tail) == place_.tails.end()) place_.tails.push_back(tail);
  }
}

void SimStream::leave(const Capture& capture) {
  if (place_.capture.get() == &capture) place_ = {};
}

Graph SimStream::capture(const std::function<void()>& submit) {
  refuse_in_capture("capturing a graph");
  if (kind_ == StreamKind::legacy_default) {
    throw DeviceError("capturing a graph", "the default stream cannot be captured; use another one");
  }
  const auto captured = std::make_shared<Capture>();
  place_.capture = captured;
  try {
    submit();
  } catch (...) {
    device_.end(*captured);
    throw;
  }
  const std::vector<std::size_t> tails = place_.tails;
  device_.end(*captured);
  for (std::size_t i = 0; i < captured->nodes.size(); ++i) {
    if (captured->nodes[i].awaited || std::ranges::find(tails, i) != tails.end()) continue;
    throw DeviceError("capturing a graph", "a joined stream has work that the first stream does not wait for");
  }
  return owned<GraphView>(std::make_unique<SimGraph>(device_, captured));
}

void SimStream::replay(GraphImpl& graph) {
  refuse_in_capture("replaying a graph");
  const RecordedCall recorded(sim_.recorder.get(), "cudaGraphLaunch");
  auto& g = static_cast<SimGraph&>(graph);
  std::vector<OperationPtr> run;
  double call = profile_.graph_call;
  for (const Capture::Node& node : g.captured->nodes) {
    run.push_back(std::make_shared<Operation>(node.recipe(*node.operations)));
    const Activity::Row row = node.call.row;
    if (row == Activity::Row::h2d || row == Activity::Row::d2h) call += profile_.graph_copy_call;
  }
  Operation begin;
  begin.overhead = profile_.graph_start;
  if (g.end) begin.after.push_back(g.end);
  const OperationPtr first = enqueue(std::move(begin), call, {"launch graph"});
  Operation end;
  for (std::size_t i = 0; i < run.size(); ++i) {
    const Capture::Node& node = g.captured->nodes[i];
    const OperationPtr& o = run[i];
    o->submitted = first->submitted;
    o->stream = node.stream;
    if (node.after.empty()) o->after.push_back(first);
    for (const std::size_t before : node.after) {
      const bool here = g.captured->nodes[before].operations == node.operations;
      o->after.push_back(here ? run[before] : visible_here(run[before]));
    }
    if (!node.awaited) end.after.push_back(o);
    sim_.events.add(o);
    sim_.enqueued(
        {node.call, o, node.operations->number(), node.stream, first->submitted, first->submitted, i + 1, this});
  }
  g.end = enqueue(std::move(end), 0, {});
}

// --- The gate -------------------------------------------------------------------------------------------------------

void SimGate::close(StreamImpl& stream) {
  holds_.push_back(static_cast<SimStream&>(stream).hold(timeout_));
  timed_out_ = true;  // open() sets it to false unless the timeout has passed
}

bool SimGate::wait_until_held(double timeout) {
  const auto patience_over = std::make_shared<Operation>();  // so that the simulation has a step at the timeout
  patience_over->submitted = sim_.host.now();
  patience_over->overhead = timeout;
  sim_.events.add(patience_over);
  bool held = false;
  sim_.host.wait([&]() -> std::optional<double> {
    double last = 0;
    static_cast<void>(sim_.events.next_change());  // starts all operations that can start now
    held = std::ranges::all_of(holds_, [&last](const OperationPtr& hold) {
      last = std::max(last, hold->started);
      return hold->state != Operation::State::waiting;
    });
    if (held) return last;
    return patience_over->done() ? std::optional(patience_over->finished) : std::nullopt;
  });
  if (!patience_over->done()) patience_over->overhead = 0;
  return held;
}

void SimGate::open() noexcept {
  if (holds_.empty()) return;
  timed_out_ = false;
  for (const OperationPtr& hold : holds_) {
    // The gate kernel has been spinning since it reached the head of its stream. No later time has been simulated yet,
    // so the kernel's duration can still be set. In an idle stream, the kernel starts when it is submitted.
    const double held = std::max(0.0, sim_.host.now() - std::max(hold->submitted, sim_.events.now()));
    timed_out_ = timed_out_ || hold->done() || held > hold->overhead;
    if (!hold->done()) hold->overhead = std::min(held, hold->overhead);
  }
  holds_.clear();
}

}  // namespace xferbench::sim
