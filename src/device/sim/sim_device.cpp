#include "device/sim/sim_device.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "core/error.hpp"
#include "core/units.hpp"
#include "device/host.hpp"
#include "device/open.hpp"
#include "device/traced_copy.hpp"

namespace xferbench::sim {

/// What is captured, and then the graph of it. Nodes are in an order in which they can run.
struct SimDevice::SimGraph {
  struct Node {
    Recipe recipe;
    std::vector<std::size_t> after;
    Call call;
    StreamHandle stream;   // that it was captured from
    bool awaited = false;  // by another node
  };
  std::vector<Node> nodes;
  bool capturing = true;
  OperationPtr end;  // of the last replay: a graph never runs twice at once
};
struct SimDevice::SimStream {
  StreamKind kind;
  OperationPtr last;
  std::shared_ptr<SimGraph> capture;  // if there is one, work goes there, ...
  std::vector<std::size_t> tails;     // ... behind these nodes
};
struct SimDevice::SimEvent {
  bool timed;
  OperationPtr recorded;
  std::shared_ptr<SimGraph> capture;  // that it was recorded in, ...
  std::vector<std::size_t> tails;     // ... behind these nodes
};
struct SimDevice::SimGate {
  double timeout;
  OperationPtr hold;
  bool opened = false;
  bool timed_out = false;
};

SimDevice::SimStream& SimDevice::state(StreamHandle stream) { return *static_cast<SimStream*>(stream.native); }
SimDevice::SimEvent& SimDevice::state(EventHandle event) { return *static_cast<SimEvent*>(event.native); }
SimDevice::SimGate& SimDevice::state(GateHandle gate) { return *static_cast<SimGate*>(gate.native); }
SimDevice::SimGraph& SimDevice::state(GraphHandle graph) {
  return **static_cast<std::shared_ptr<SimGraph>*>(graph.native);
}

namespace {

constexpr const char* kNotModelled = "the simulated device has no model of it";

/// Of the multiprocessors, that a kernel occupies. Blocks of 256 threads: eight fill a multiprocessor.
double share_of(const KernelCost& cost, const Profile& p) {
  constexpr double kBlocksPerMultiprocessor = 8;
  if (cost.blocks == 0) return 1;
  return std::min(1.0, cost.blocks / (p.multiprocessors * kBlocksPerMultiprocessor));
}

/// The slowest of what a kernel does. A rough model of a kernel that occupies a share of the multiprocessors: it has
/// that share of the arithmetic, and a quarter of them saturates the memory.
double time_of(const KernelCost& cost, const Profile& p) {
  const double share = share_of(cost, p);
  const double traffic = static_cast<double>(cost.bytes) / (p.kernel_traffic_rate * std::min(1.0, 4 * share));
  const double arithmetic = cost.fma / (p.fma_rate * share);
  // Both directions at once take what two copies of these times take on such a link.
  const double in = static_cast<double>(cost.h2d_bytes) / p.kernel_h2d_rate;
  const double out = static_cast<double>(cost.d2h_bytes) / p.kernel_d2h_rate;
  const double link = std::max(in, out) + std::min(in, out) * (1 / p.kernel_duplex_ratio - 1);
  return std::max({traffic, arithmetic, cost.seconds, link});
}

Link link_of(const KernelCost& cost) {
  if (cost.h2d_bytes == 0) return cost.d2h_bytes == 0 ? Link::none : Link::d2h;
  return cost.d2h_bytes == 0 ? Link::h2d : Link::both;
}

Link link_of(Direction direction) {
  if (direction == Direction::d2d) return Link::none;
  return direction == Direction::h2d ? Link::h2d : Link::d2h;
}

Capabilities describe(const Profile& p) {
  Capabilities c;
  Environment& e = c.environment;
  e.backend = "simulated";
  e.profile = p.name;
  e.gpu.name = p.gpu_name;
  e.gpu.compute_capability = p.compute_capability;
  e.gpu.multiprocessors = p.multiprocessors;
  e.gpu.memory_bytes = p.memory_bytes;
  e.gpu.l2_bytes = p.l2_bytes;
  e.gpu.copy_engines = p.copy_engines;
  e.gpu.max_sm_clock_hz = p.sm_clock_hz;
  e.gpu.memory_bandwidth = p.memory_bandwidth;
  e.gpu.pcie = Environment::Pcie{p.pcie_generation, p.pcie_width, "profile"};
  e.host = describe_host();
  c.moves_data_when_timed = false;
  c.batch_copies = true;
  return c;
}

Duplex duplex_of(const Profile& p) {
  return {p.h2d_duplex_rate, p.d2h_duplex_rate, p.h2d_duplex_overhead, p.d2h_duplex_overhead};
}

}  // namespace

SimDevice::SimDevice(const Profile& profile)
    : profile_(profile), capabilities_(describe(profile)), events_(duplex_of(profile)), host_(events_) {
  legacy_ = acquire_stream(StreamKind::legacy_default);
}

SimDevice::~SimDevice() { delete &state(legacy_); }

MemoryInfo SimDevice::memory() { return {profile_.memory_bytes - device_bytes_, profile_.memory_bytes}; }

// --- Submitting -----------------------------------------------------------------------------------------------------

OperationPtr SimDevice::enqueue(Operation operation, StreamHandle stream, double call_cost, Call call) {
  return state(stream).last = enqueue_aside(std::move(operation), stream, call_cost, std::move(call));
}

OperationPtr SimDevice::enqueue_aside(Operation operation, StreamHandle stream, double call_cost, Call call) {
  const double called = host_.now();
  host_.advance(call_cost);
  operation.submitted = host_.now();
  SimStream& s = state(stream);
  const auto after = [&operation](const OperationPtr& last) {
    if (last) operation.after.push_back(last);
  };
  after(s.last);
  // The legacy default stream waits for every blocking stream, and they for it.
  if (s.kind == StreamKind::legacy_default) {
    for (const SimStream* other : streams_) {
      if (other->kind == StreamKind::blocking) after(other->last);
    }
  } else if (s.kind == StreamKind::blocking) {
    after(state(legacy_).last);
  }
  auto pointer = std::make_shared<Operation>(std::move(operation));
  events_.add(pointer);
  if (traced_) traced_->push_back({std::move(call), pointer, stream, called, host_.now()});
  return pointer;
}

void SimDevice::submit(Recipe recipe, StreamHandle stream, double call_cost, Call call) {
  SimStream& s = state(stream);
  if (!s.capture) {
    enqueue(recipe(), stream, call_cost, std::move(call));
    return;
  }
  host_.advance(call_cost);
  std::vector<SimGraph::Node>& nodes = s.capture->nodes;
  for (const std::size_t before : s.tails) nodes[before].awaited = true;
  nodes.push_back({std::move(recipe), std::exchange(s.tails, {nodes.size()}), std::move(call), stream});
}

void SimDevice::wait_for(const OperationPtr& operation) {
  host_.wait([&] { return operation->done() ? std::optional(operation->finished) : std::nullopt; });
  host_.advance(profile_.wake_up);
}

EngineId SimDevice::engine_of(Direction direction) const {
  if (direction == Direction::d2d) return EngineId::internal;
  if (direction == Direction::h2d || profile_.copy_engines < 2) return EngineId::h2d;
  return EngineId::d2h;
}

SimDevice::HostPages* SimDevice::allocation_of(const std::byte* address) {
  const auto next = host_memory_.upper_bound(address);
  if (next == host_memory_.begin()) return nullptr;
  auto& [begin, range] = *std::prev(next);
  return address < begin + range.pages.size() ? &range : nullptr;
}

bool SimDevice::pageable(const Copy& c) {
  if (c.direction == Direction::d2d) return false;
  const HostPages* range = allocation_of(c.direction == Direction::h2d ? c.source : c.destination);
  // Memory that the device did not hand out is ordinary memory.
  return range == nullptr || (is_pageable(range->kind) && !range->registered);
}

bool SimDevice::inlined(const Copy& c) {
  return c.direction == Direction::h2d && c.bytes <= profile_.pageable_inline_bytes && pageable(c);
}

Operation SimDevice::copy_operation(const Copy& c) {
  Operation o;
  o.engine = engine_of(c.direction);
  o.link = link_of(c.direction);
  const auto bytes = static_cast<double>(c.bytes);
  const auto costs = [&](double overhead, double rate) { o.overhead = overhead, o.payload = bytes / rate; };
  switch (c.direction) {
    case Direction::h2d: costs(profile_.h2d_overhead, profile_.h2d_rate); break;
    case Direction::d2h: costs(profile_.d2h_overhead, profile_.d2h_rate); break;
    case Direction::d2d: costs(profile_.copy_overhead, profile_.d2d_rate); break;
  }
  if (carry_data_) {
    auto held = std::make_shared<InFlight>(in_flight_);
    o.on_start = [this, c, held] { memory_.read(c, *held); };
    o.on_finish = [this, held] { memory_.write(*held); };
  }
  return o;
}

void SimDevice::copy(const Copy& c, StreamHandle stream) {
  const Call call{std::string(traced_name(c.direction)), c.bytes, traced_row(c.direction)};
  if (!pageable(c)) {
    submit([this, c] { return copy_operation(c); }, stream, profile_.copy_call, call);
    return;
  }
  refuse_in_capture(stream, "copying pageable memory");
  Operation o = copy_operation(c);
  const auto bytes = static_cast<double>(c.bytes);
  if (inlined(c)) {
    if (carry_data_) {
      std::exchange(o.on_start, nullptr)();
    }
    enqueue(std::move(o), stream, profile_.copy_call + bytes / profile_.host_copy_rate, call);
    return;
  }
  // Staged through the driver's pinned buffers by the calling thread, which is why the call does not return before.
  // It is far slower than the link, so the opposite direction does not slow it further.
  o.link = Link::none;
  o.overhead = profile_.pageable_overhead;
  o.payload = bytes / (c.direction == Direction::h2d ? profile_.pageable_h2d_rate : profile_.pageable_d2h_rate);
  wait_for(enqueue(std::move(o), stream, profile_.copy_call, call));
}

// All of a batch is one operation of its engine: on an H200 a batch of 64 copies takes as long as one copy of all.
void SimDevice::copy_batch(std::span<const Copy> copies, StreamHandle stream) {
  const auto same_way = [&](const Copy& c) { return c.direction == copies.front().direction && !pageable(c); };
  if (copies.empty() || !std::ranges::all_of(copies, same_way)) {
    throw DeviceError("copying a batch", "the simulated device takes page-locked memory and one direction");
  }
  std::uint64_t bytes = 0;
  for (const Copy& c : copies) bytes += c.bytes;
  const Direction direction = copies.front().direction;
  submit(
      [this, all = std::vector<Copy>(copies.begin(), copies.end())] {
        Operation batch = copy_operation(all.front());
        std::vector<std::function<void()>> starts{batch.on_start};
        std::vector<std::function<void()>> finishes{batch.on_finish};
        for (const Copy& c : std::span(all).subspan(1)) {
          Operation o = copy_operation(c);
          batch.payload += o.payload;
          starts.push_back(std::move(o.on_start));
          finishes.push_back(std::move(o.on_finish));
        }
        if (carry_data_) {
          batch.on_start = [starts] { std::ranges::for_each(starts, [](const auto& start) { start(); }); };
          batch.on_finish = [finishes] { std::ranges::for_each(finishes, [](const auto& finish) { finish(); }); };
        }
        return batch;
      },
      stream, profile_.copy_call, {std::string(traced_name(direction)), bytes, traced_row(direction)});
}

void SimDevice::copy_blocking(const Copy& c) {
  refuse_in_capture(legacy_, "a blocking copy");
  copy(c, legacy_);
  if (!inlined(c)) wait_for(state(legacy_).last);
}

void SimDevice::fill(const DeviceView& range, std::byte value, StreamHandle stream) {
  const auto fill = [this, range, value] {
    Operation o;
    o.engine = EngineId::internal;
    o.overhead = profile_.copy_overhead;
    o.payload = static_cast<double>(range.bytes) / profile_.fill_rate;
    if (carry_data_) {
      o.on_finish = [this, range, value] { memory_.fill(range.data, range.bytes, value); };
    }
    return o;
  };
  submit(fill, stream, profile_.launch_call, {"fill", range.bytes, Activity::Row::internal});
}

Operation SimDevice::kernel_operation(const Kernel& kernel, double overhead) {
  const KernelCost cost = kernel.cost();
  Operation o;
  o.engine = EngineId::compute;
  o.share = share_of(cost, profile_);
  o.link = link_of(cost);
  o.overhead = overhead;
  o.payload = time_of(cost, profile_);
  if (carry_data_ && !kernel.output().empty()) {
    const std::shared_ptr<const Kernel> copy = kernel.clone();
    auto held = std::make_shared<InFlight>(in_flight_);
    o.on_start = [this, copy, held] { memory_.compute(*copy, *held); };
    o.on_finish = [this, held] { memory_.write(*held); };
  }
  return o;
}

void SimDevice::launch(const Kernel& kernel, StreamHandle stream) {
  const Call call{std::string(kernel.name()), 0, Activity::Row::kernel};
  if (!state(stream).capture) {
    enqueue(kernel_operation(kernel, profile_.kernel_overhead), stream, profile_.launch_call, call);
    return;
  }
  const std::shared_ptr<const Kernel> copy = kernel.clone();
  submit([this, copy] { return kernel_operation(*copy, profile_.graph_node); }, stream, profile_.launch_call, call);
}

void SimDevice::record(EventHandle event, StreamHandle stream) {
  SimEvent& e = state(event);
  const SimStream& s = state(stream);
  e.capture = s.capture;
  e.tails = s.tails;
  e.recorded = nullptr;
  if (s.capture) return host_.advance(profile_.event_call);  // no work, but a place in the graph
  Operation o;
  o.overhead = profile_.event_cost;
  // A stamp of the time takes its stream that long; an event without one is only seen that much later.
  e.recorded = e.timed ? enqueue(std::move(o), stream, profile_.event_call, {"record event"})
                       : enqueue_aside(std::move(o), stream, profile_.event_call, {"record event"});
}

void SimDevice::wait(StreamHandle stream, EventHandle event) {
  const SimEvent& e = state(event);
  if (e.capture || state(stream).capture) return wait_in_capture(stream, event);
  Operation o;
  if (e.recorded) o.after.push_back(e.recorded);
  enqueue(std::move(o), stream, profile_.event_call, {"wait for event"});
}

void SimDevice::stamp(std::uint64_t* slot, StreamHandle stream) {
  const auto stamp = [this, slot] {
    Operation o;  // no engine: a kernel of one thread finds room beside others
    o.overhead = profile_.stamp_cost;
    o.on_finish = [this, slot] { *slot = static_cast<std::uint64_t>(std::llround(events_.now() * 1e9)); };
    return o;
  };
  submit(stamp, stream, profile_.launch_call, {});
}

void SimDevice::call_host(CallbackApi api, const std::function<void()>& function, StreamHandle stream) {
  refuse_in_capture(stream, "calling a function of the host");
  Operation before;
  const bool plain = api == CallbackApi::launch_host_func;
  before.overhead = plain ? profile_.host_function_start : profile_.stream_callback_start;
  before.on_finish = [this, &function] { host_.call(function); };
  enqueue(std::move(before), stream, profile_.callback_call, {"call host function"});
  Operation after;
  after.overhead = profile_.host_function_end;
  enqueue(std::move(after), stream, 0, {});
}

void SimDevice::prefetch(const HostRange&, Direction, StreamHandle) {
  throw DeviceError("migrating managed memory", kNotModelled);
}

void SimDevice::host_work(const HostCost& cost, const std::function<void()>& work) {
  if (carry_data_) work();
  // Threads that copy at once share the memory.
  const auto threads = static_cast<double>(host_.working());
  const double copy_rate = std::min(profile_.host_copy_rate, profile_.host_copy_rate_all / threads);
  const double seconds = static_cast<double>(cost.bytes_copied) / copy_rate +
                         static_cast<double>(cost.bytes_read) / profile_.host_read_rate + cost.seconds;
  host_.begin_work(host_.now() + seconds);
  host_.advance(seconds);
}

// --- Graphs ---------------------------------------------------------------------------------------------------------

void SimDevice::refuse_in_capture(StreamHandle stream, const char* what) {
  if (state(stream).capture) throw DeviceError(what, "it cannot be part of a graph that is being captured");
}

/// An event of the capture makes its stream part of it, or orders it behind one more place there.
void SimDevice::wait_in_capture(StreamHandle stream, EventHandle event) {
  SimStream& s = state(stream);
  const SimEvent& e = state(event);
  host_.advance(profile_.event_call);
  if (!e.capture && !e.recorded) return;  // never recorded: nothing to wait for
  if (!e.capture || !e.capture->capturing || (s.capture && s.capture != e.capture)) {
    throw DeviceError("waiting for an event",
                      "work in a graph that is being captured, and work outside, cannot wait "
                      "for each other");
  }
  s.capture = e.capture;
  for (const std::size_t tail : e.tails) {
    if (std::ranges::find(s.tails, tail) == s.tails.end()) s.tails.push_back(tail);
  }
}

void SimDevice::end_capture(const std::shared_ptr<SimGraph>& graph) {
  graph->capturing = false;
  for (SimStream* s : streams_) {
    if (s->capture != graph) continue;
    s->capture = nullptr;
    s->tails.clear();
  }
}

GraphHandle SimDevice::acquire_graph(StreamHandle stream, const std::function<void()>& submit) {
  SimStream& origin = state(stream);
  refuse_in_capture(stream, "capturing a graph");
  if (origin.kind == StreamKind::legacy_default) {
    throw DeviceError("capturing a graph", "the default stream cannot be captured; use another one");
  }
  const auto graph = std::make_shared<SimGraph>();
  origin.capture = graph;
  try {
    submit();
  } catch (...) {
    end_capture(graph);
    throw;
  }
  const std::vector<std::size_t> tails = origin.tails;
  end_capture(graph);
  for (std::size_t i = 0; i < graph->nodes.size(); ++i) {
    if (graph->nodes[i].awaited || std::ranges::find(tails, i) != tails.end()) continue;
    throw DeviceError("capturing a graph", "a stream that joined has work which the first stream does not wait for");
  }
  return {new std::shared_ptr<SimGraph>(graph)};  // NOLINT: owned by the caller's Graph
}

void SimDevice::replay(GraphHandle graph, StreamHandle stream) {
  refuse_in_capture(stream, "replaying a graph");
  SimGraph& g = state(graph);
  Operation begin;
  begin.overhead = profile_.graph_start;
  if (g.end) begin.after.push_back(g.end);
  const OperationPtr first = enqueue(std::move(begin), stream, profile_.graph_call, {"launch graph"});
  Operation end;
  std::vector<OperationPtr> run;
  for (const SimGraph::Node& node : g.nodes) {
    auto o = std::make_shared<Operation>(node.recipe());
    o->submitted = first->submitted;
    if (node.after.empty()) o->after.push_back(first);
    for (const std::size_t before : node.after) o->after.push_back(run[before]);
    if (!node.awaited) end.after.push_back(o);
    events_.add(o);
    if (traced_) traced_->push_back({node.call, o, node.stream, first->submitted, first->submitted});
    run.push_back(std::move(o));
  }
  g.end = enqueue(std::move(end), stream, 0, {});
}

// --- Waiting --------------------------------------------------------------------------------------------------------

const OperationPtr& SimDevice::recorded(EventHandle event, const char* what) {
  if (state(event).capture) throw DeviceError(what, "the event belongs to a graph: it was recorded in a capture");
  return state(event).recorded;
}

void SimDevice::synchronize(StreamHandle stream) {
  refuse_in_capture(stream, "waiting for a stream");
  if (state(stream).last) wait_for(state(stream).last);
}

void SimDevice::synchronize(EventHandle event) {
  if (const OperationPtr& o = recorded(event, "waiting for an event")) wait_for(o);
}

void SimDevice::synchronize() {
  host_.wait([this] { return events_.idle() ? std::optional(events_.now()) : std::nullopt; });
  host_.advance(profile_.wake_up);
}

bool SimDevice::finished(EventHandle event) {
  host_.advance(profile_.query_call);
  host_.catch_up();
  const OperationPtr& o = recorded(event, "asking for an event");
  return !o || o->done();
}

double SimDevice::elapsed(EventHandle from, EventHandle to) {
  for (const EventHandle event : {from, to}) {
    const SimEvent& e = state(event);
    if (!e.timed) throw DeviceError("elapsed time", "an event was created with timing disabled");
    if (!e.recorded || !e.recorded->done()) throw DeviceError("elapsed time", "an event has not completed");
  }
  return state(to).recorded->finished - state(from).recorded->finished;
}

// --- Gate -----------------------------------------------------------------------------------------------------------

void SimDevice::close(GateHandle gate, StreamHandle stream) {
  refuse_in_capture(stream, "closing a gate");
  SimGate& g = state(gate);
  g.opened = false;
  g.timed_out = true;  // until open() comes in time
  Operation o;
  o.overhead = g.timeout;
  g.hold = enqueue(std::move(o), stream, profile_.launch_call, {});
}

void SimDevice::open(GateHandle gate) noexcept {
  SimGate& g = state(gate);
  if (g.opened || !g.hold || g.hold->done()) return;
  g.opened = true;
  // The kernel has been spinning since it reached the head of its stream; nothing of this region has been simulated
  // yet, so how long it holds can still be set. An idle stream reaches it at once.
  const double held = std::max(0.0, host_.now() - std::max(g.hold->submitted, events_.now()));
  g.timed_out = held > g.timeout;
  g.hold->overhead = std::min(held, g.timeout);
}

bool SimDevice::timed_out(GateHandle gate) const { return state(gate).timed_out; }

// --- Timelines ------------------------------------------------------------------------------------------------------

void SimDevice::start_trace() {
  synchronize();
  traced_.emplace();
}

Trace SimDevice::stop_trace() {
  synchronize();
  std::map<const void*, unsigned> streams;
  std::vector<Activity> activities;
  const std::vector<Traced> traced = std::exchange(traced_, std::nullopt).value_or(std::vector<Traced>{});
  for (const auto& [call, operation, stream, called, returned] : traced) {
    if (call.name.empty()) continue;  // gates and stamps
    if (returned > called) activities.push_back({Activity::Row::host, call.name, 0, 0, called, returned});
    if (operation->engine == EngineId::none || !operation->done()) continue;
    const auto next = static_cast<unsigned>(streams.size());
    const unsigned number = streams.try_emplace(stream.native, next).first->second;
    activities.push_back({call.row, call.name, call.bytes, number, operation->started, operation->finished});
  }
  return make_trace("simulated", std::move(activities));
}

// --- Owning ---------------------------------------------------------------------------------------------------------

StreamHandle SimDevice::acquire_stream(StreamKind kind) {
  if (kind == StreamKind::legacy_default && legacy_.native != nullptr) return legacy_;
  auto stream = std::make_unique<SimStream>(SimStream{kind, nullptr, nullptr, {}});
  streams_.push_back(stream.get());
  return {stream.release()};
}

EventHandle SimDevice::acquire_event(EventKind kind) {
  return {new SimEvent{kind == EventKind::timing, nullptr, nullptr, {}}};  // NOLINT: owned by the caller's Event
}

GateHandle SimDevice::acquire_gate(double timeout) {
  return {new SimGate{timeout, nullptr}};  // NOLINT: owned by the caller's Gate
}

DeviceView SimDevice::acquire_device(std::size_t bytes) {
  if (const auto free = memory().free_bytes; bytes > free) {
    throw DeviceError(fmt::format("allocating {} on the simulated device", format_size(bytes)),
                      fmt::format("out of memory, {} free", format_size(free)));
  }
  std::byte* data = memory_.allocate(bytes);
  device_bytes_ += bytes;
  return {data, bytes};
}

HostRange SimDevice::acquire_host(std::size_t bytes, HostMemory kind, Prefault) {
  Pages pages(bytes);
  const HostRange range{pages.data(), bytes, kind};
  host_memory_.emplace(range.data, HostPages{std::move(pages), kind});
  return range;
}

PayloadPart SimDevice::payload_part(const HostRange& host) {
  HostPages* allocation = allocation_of(host.data);
  const PayloadPart part = part_of_payload(host.bytes);
  if (allocation == nullptr || part.is_all()) return {};
  allocation->pages.prefer(PageSize::small);
  memory_.set_payload(host.data, host.bytes, part);
  return part;
}

RegisteredRange SimDevice::acquire_registration(const HostRange& range) {
  HostPages* pages = allocation_of(range.data);
  if (pages == nullptr || !is_pageable(pages->kind) || pages->registered) {
    throw DeviceError("registering host memory", "it is not ordinary memory of this device");
  }
  pages->registered = true;
  host_.advance(profile_.register_call + static_cast<double>(range.bytes) / profile_.register_rate);
  return {range.data, range.bytes};
}

PooledRange SimDevice::acquire_pooled(std::size_t bytes, StreamHandle stream) {
  const DeviceView range = acquire_device(bytes);
  return {range.data, range.bytes, stream};
}

void SimDevice::release(const StreamHandle& stream) noexcept {
  if (stream.native == legacy_.native) return;
  std::erase(streams_, &state(stream));
  delete &state(stream);
}

void SimDevice::release(const EventHandle& event) noexcept { delete &state(event); }
void SimDevice::release(const GateHandle& gate) noexcept { delete &state(gate); }
void SimDevice::release(const GraphHandle& graph) noexcept {
  delete static_cast<std::shared_ptr<SimGraph>*>(graph.native);
}

// Like cudaFree, freeing waits: work that is still queued may use the memory.
void SimDevice::settle() noexcept {
  try {
    events_.run_all();
  } catch (const std::bad_alloc&) {
    events_.abandon();
  }
}

void SimDevice::release(const DeviceView& memory) noexcept {
  settle();
  device_bytes_ -= memory.bytes;
  memory_.free(memory.data);
}

void SimDevice::release(const HostRange& memory) noexcept {
  settle();
  memory_.forget_payload(memory.data);
  host_memory_.erase(memory.data);
}

void SimDevice::release(const RegisteredRange& memory) noexcept {
  settle();
  if (HostPages* pages = allocation_of(memory.data)) pages->registered = false;
  host_.advance(profile_.unregister_call + static_cast<double>(memory.bytes) / profile_.unregister_rate);
}

void SimDevice::release(const PooledRange& memory) noexcept { release(DeviceView{memory.data, memory.bytes}); }

}  // namespace xferbench::sim

namespace xferbench {

std::unique_ptr<Device> open_simulated(const std::string& profile) {
  const auto known = sim::profiles();
  const auto found = std::ranges::find(known, profile, &sim::Profile::name);
  if (found == known.end()) throw UsageError(fmt::format("there is no profile '{}' to simulate", profile));
  return std::make_unique<sim::SimDevice>(*found);
}

std::vector<std::pair<std::string, std::string>> simulated_profiles() {
  std::vector<std::pair<std::string, std::string>> list;
  for (const sim::Profile& p : sim::profiles()) list.emplace_back(p.name, p.description);
  return list;
}

}  // namespace xferbench
