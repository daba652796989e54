#include "device/intercepted.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/non_copyable.hpp"
#include "core/on_exit.hpp"
#include "core/standard_error.hpp"

namespace xferbench {

namespace {

// --- Calls ----------------------------------------------------------------------------------------------------------

/// Scope guard for one device call: the constructor calls CallObserver::enter(), the destructor leave(). The DeviceCall
/// is built in place, because copying it would cost more than the rest of the interception.
class CallScope : NonCopyable {
 public:
  explicit CallScope(CallObserver& observer, CallKind kind, Device* device = nullptr, double expected = 0,
                     std::span<const Copy> copies = {}, const Kernel* kernel = nullptr, StreamImpl* stream = nullptr)
      : observer_(observer), call_{kind, expected, copies, kernel, stream, device} {
    observer_.enter(call_);
  }
  ~CallScope() { observer_.leave(call_, progress_); }

  void submitted() const { observer_.submitted(call_); }
  /// Stores the answer of an event query. An unfinished event counts as no progress.
  bool answered(bool finished) { return progress_ = finished; }

 private:
  CallObserver& observer_;
  const DeviceCall call_;
  bool progress_ = true;
};

/// A CallScope with a pointer to the wrapped object. A call through operator-> of a temporary is within the scope,
/// because the temporary lives until the end of the full expression.
template <class Target>
class ForwardedCall : public CallScope {
 public:
  template <class... Arguments>
  explicit ForwardedCall(Target& target, CallObserver& observer, const Arguments&... of_call)
      : CallScope(observer, of_call...), target_(target) {}
  Target* operator->() const { return &target_; }

 private:
  Target& target_;
};

// Rates that any machine reaches, in bytes or operations per second. They give upper bounds for durations.
constexpr double kLinkRate = 5e9;
constexpr double kMemoryRate = 100e9;
constexpr double kArithmeticRate = 1e11;
constexpr double kPageRate = 1e9;  // allocating, freeing or pinning memory, page by page
constexpr double kLoading = 10;    // seconds: the driver may first JIT-compile a hundred kernels for a new GPU

double expected(const Copy& copy) {
  return static_cast<double>(copy.bytes) / (copy.direction == Direction::d2d ? kMemoryRate : kLinkRate);
}

double expected(std::span<const Copy> copies) {
  return total_of(copies, [](const Copy& copy) { return expected(copy); });
}

double expected(const KernelCost& cost) {
  return static_cast<double>(cost.bytes) / kMemoryRate + cost.fma / kArithmeticRate + cost.seconds +
         static_cast<double>(cost.h2d_bytes + cost.d2h_bytes) / kLinkRate;
}

/// State shared by the devices of a machine: the observer, and the expected duration of a graph that is being captured.
struct Interception {
  CallObserver& observer;
  std::atomic<bool> capturing{false};
  std::atomic<double> captured{0};  // expected duration, in seconds, of the graph that is being captured

  /// During a capture, adds the work's expected duration to the graph's, because the work runs at each replay.
  void submitted(double seconds) {
    if (capturing.load(std::memory_order_relaxed)) captured.fetch_add(seconds, std::memory_order_relaxed);
  }
};

/// Destroys the resource of `owner` and reports a call to `observer`, because destroying may wait for the device.
template <class Owner>
void give_back(CallObserver& observer, Owner& owner, CallKind kind = CallKind::destroy, double seconds = 0) noexcept {
  const CallScope scope(observer, kind, nullptr, seconds);
  owner = Owner();
}

// --- Events, graphs and memory --------------------------------------------------------------------------------------

class InterceptedEvent final : public EventImpl {
 public:
  InterceptedEvent(Device& device, Interception& calls, Event inner)
      : EventImpl(device), observer_(calls.observer), inner_(std::move(inner)) {}
  ~InterceptedEvent() override { give_back(observer_, inner_); }

  [[nodiscard]] static EventImpl& inner(const EventImpl& event) {
    return static_cast<const InterceptedEvent&>(event).inner_.impl();
  }

  void synchronize() override { call(CallKind::synchronize_event)->synchronize(); }
  [[nodiscard]] bool finished() override {
    auto query = call(CallKind::query_event);
    return query.answered(query->finished());
  }
  [[nodiscard]] double seconds_since(const EventImpl& earlier) const override {
    return call(CallKind::elapsed)->seconds_since(inner(earlier));
  }

 private:
  [[nodiscard]] ForwardedCall<EventImpl> call(CallKind kind) const {
    return ForwardedCall(inner_.impl(), observer_, kind, &inner_.device());
  }

  CallObserver& observer_;
  Event inner_;
};

class InterceptedGraph final : public GraphImpl {
 public:
  InterceptedGraph(Device& device, Interception& calls, Graph graph, double seconds)
      : GraphImpl(device), expected(seconds), observer_(calls.observer), inner_(std::move(graph)) {}
  ~InterceptedGraph() override { give_back(observer_, inner_); }

  [[nodiscard]] GraphImpl& inner() const { return inner_.impl(); }

  const double expected;  // expected duration of one replay, in seconds

 private:
  CallObserver& observer_;
  Graph inner_;
};

/// Resource that owns memory, or a registration of pinned memory, and reports its release to the observer.
template <class Owner>
class InterceptedMemory final : public Resource {
 public:
  InterceptedMemory(Interception& calls, std::size_t bytes, Owner inner)
      : observer_(calls.observer), bytes_(bytes), inner_(std::move(inner)) {}
  ~InterceptedMemory() override {
    give_back(observer_, inner_, CallKind::free, static_cast<double>(bytes_) / kPageRate);
  }

 private:
  CallObserver& observer_;
  std::size_t bytes_;
  Owner inner_;
};

/// Wraps the owner of newly allocated memory so that the release is reported to the observer.
template <class SomeView>
Owned<SomeView> with_observer(Interception& calls, Owned<SomeView> inner) {
  const SomeView view = inner;
  return {view, std::make_unique<InterceptedMemory<Owned<SomeView>>>(calls, view.bytes, std::move(inner))};
}

// --- Streams and gates ----------------------------------------------------------------------------------------------

class InterceptedStream final : public StreamImpl {
 public:
  InterceptedStream(Device& device, Interception& calls, Stream inner)
      : StreamImpl(device), calls_(calls), inner_(std::move(inner)) {}
  ~InterceptedStream() override { give_back(calls_.observer, inner_); }

  [[nodiscard]] static StreamImpl& inner(StreamImpl& stream) {
    return static_cast<InterceptedStream&>(stream).inner_.impl();
  }

  void copy(const Copy& c) override {
    const auto call = submission(CallKind::copy, expected(c), {&c, 1});
    call->copy(c);
    call.submitted();
  }
  void copy_batch(const CopyBatch& batch) override {
    submission(CallKind::copy_batch, expected(batch.copies), batch.copies)->copy_batch(batch);
  }
  void copy_strided(const StridedCopy& c) override {
    const double seconds = static_cast<double>(c.rows) * expected(c.first);
    submission(CallKind::copy_strided, seconds, {&c.first, 1})->copy_strided(c);
  }
  void fill(const DeviceView& range, std::byte value) override {
    submission(CallKind::fill, static_cast<double>(range.bytes) / kMemoryRate)->fill(range, value);
  }
  void launch(const Kernel& kernel) override {
    submission(CallKind::launch, expected(kernel.cost()), {}, &kernel)->launch(kernel);
  }
  void prefetch(const HostView& managed, Direction direction) override {
    submission(CallKind::prefetch, static_cast<double>(managed.bytes) / kLinkRate)->prefetch(managed, direction);
  }
  void stamp(std::uint64_t* slot) override { submission(CallKind::stamp)->stamp(slot); }
  void flip(std::byte* at) override { inner_.impl().flip(at); }
  void call_host(CallbackApi api, HostFunction& function) override {
    submission(CallKind::call_host)->call_host(api, function);
  }
  void record(EventImpl& event) override { submission(CallKind::record)->record(InterceptedEvent::inner(event)); }
  void wait(EventImpl& event) override { submission(CallKind::wait_for_event)->wait(InterceptedEvent::inner(event)); }
  void replay(GraphImpl& graph) override {
    const auto& intercepted = static_cast<const InterceptedGraph&>(graph);
    submission(CallKind::replay, intercepted.expected)->replay(intercepted.inner());
  }

  [[nodiscard]] Graph capture(const std::function<void()>& submit) override {
    const auto scope = submission(CallKind::capture);
    calls_.captured = 0;
    calls_.capturing = true;  // a program captures only one stream at a time
    const OnExit captured([this] { calls_.capturing = false; });
    Graph graph = inner_.impl().capture(submit);
    return owned<GraphView>(
        std::make_unique<InterceptedGraph>(device(), calls_, std::move(graph), calls_.captured.load()));
  }
  void synchronize() override { submission(CallKind::synchronize_stream)->synchronize(); }

 private:
  [[nodiscard]] ForwardedCall<StreamImpl> submission(CallKind kind, double seconds = 0,
                                                     std::span<const Copy> copies = {},
                                                     const Kernel* kernel = nullptr) {
    calls_.submitted(seconds);
    return ForwardedCall(inner_.impl(), calls_.observer, kind, &inner_.device(), seconds, copies, kernel,
                         &inner_.impl());
  }

  Interception& calls_;
  Stream inner_;
};

class InterceptedGate final : public GateImpl {
 public:
  InterceptedGate(Interception& calls, Gate inner) : observer_(calls.observer), inner_(std::move(inner)) {}
  ~InterceptedGate() override { give_back(observer_, inner_); }

  void close(StreamImpl& stream) override {
    StreamImpl& inner = InterceptedStream::inner(stream);
    const CallScope scope(observer_, CallKind::close_gate, &inner.device(), 0, {}, nullptr, &inner);
    inner_.close(StreamView(inner));
  }
  [[nodiscard]] bool wait_until_held(double timeout) override {
    const CallScope scope(observer_, CallKind::wait_until_held);
    return inner_.wait_until_held(timeout);
  }
  // open() and timed_out() are not reported: they only access a word of host memory.
  void open() noexcept override { inner_.open(); }
  [[nodiscard]] bool timed_out() const override { return inner_.timed_out(); }

 private:
  CallObserver& observer_;
  Gate inner_;
};

// --- Devices --------------------------------------------------------------------------------------------------------

class InterceptedDevice final : public Device {
 public:
  InterceptedDevice(Machine& machine, Interception& calls, Device& inner)
      : Device(machine, inner.number()), calls_(calls), inner_(inner), capabilities_(inner.capabilities()) {
    calls_.observer.adjust(capabilities_);
  }

  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] MemoryInfo memory() override { return call(CallKind::memory_info)->memory(); }
  [[nodiscard]] bool usable() noexcept override {
    try {
      return call(CallKind::usable)->usable();
    } catch (const DeviceError&) {
      return false;
    }
  }
  [[nodiscard]] Health health() noexcept override {
    const auto scope = call(CallKind::health);
    Health health = inner_.health();
    calls_.observer.adjust(health);
    return health;
  }

  [[nodiscard]] Clocks clocks() noexcept override { return call(CallKind::health)->clocks(); }

  [[nodiscard]] std::optional<LinkBytes> link_bytes() noexcept override {
    const auto scope = call(CallKind::health);
    std::optional<LinkBytes> bytes = inner_.link_bytes();
    calls_.observer.adjust(bytes);
    return bytes;
  }

  [[nodiscard]] Stream make_stream(StreamKind kind) override {
    const auto scope = call(CallKind::make_stream);
    return owned<StreamView>(std::make_unique<InterceptedStream>(*this, calls_, inner_.make_stream(kind)));
  }
  [[nodiscard]] Event make_event(EventKind kind) override {
    const auto scope = call(CallKind::make_event);
    return owned<EventView>(std::make_unique<InterceptedEvent>(*this, calls_, inner_.make_event(kind)));
  }

  using Device::allocate_device;
  using Device::allocate_host;
  [[nodiscard]] DeviceBuffer allocate_device(std::size_t bytes, GpuMemory kind) override {
    const auto scope = call(CallKind::allocate_device, static_cast<double>(bytes) / kPageRate);
    return with_observer(calls_, inner_.allocate_device(bytes, kind));
  }
  [[nodiscard]] HostBuffer allocate_host(std::size_t bytes, HostMemory kind, Prefault faults) override {
    const auto scope = call(CallKind::allocate_host, static_cast<double>(bytes) / kPageRate);
    return with_observer(calls_, inner_.allocate_host(bytes, kind, faults));
  }
  PayloadPart payload_part(const HostView& host) override { return inner_.payload_part(host); }
  void set_peer_access(Device& peer, bool on) override {
    call(CallKind::set_peer_access)->set_peer_access(static_cast<InterceptedDevice&>(peer).inner_, on);
  }
  [[nodiscard]] Registration register_host(const HostView& memory) override {
    const auto scope = call(CallKind::register_host, static_cast<double>(memory.bytes) / kPageRate);
    return std::make_unique<InterceptedMemory<Registration>>(calls_, memory.bytes, inner_.register_host(memory));
  }

  void copy_blocking(const Copy& copy) override {
    call(CallKind::copy_blocking, expected(copy), {&copy, 1})->copy_blocking(copy);
  }
  void synchronize() override { call(CallKind::synchronize_device)->synchronize(); }
  void set_wait_policy(WaitPolicy policy) override { call(CallKind::set_wait_policy)->set_wait_policy(policy); }

  void preload(const Kernel& kernel) override { call(CallKind::preload, kLoading)->preload(kernel); }
  [[nodiscard]] std::optional<KernelResources> resources(const Kernel& kernel) override {
    return call(CallKind::kernel_resources, kLoading)->resources(kernel);
  }
  const LoadedKernel& load_kernel(const KernelSource& source) override {
    return call(CallKind::load_kernel, kLoading)->load_kernel(source);
  }
  std::size_t reserve_device_launches(std::size_t pending) override {
    return call(CallKind::reserve_launches)->reserve_device_launches(pending);
  }
  [[nodiscard]] std::size_t reserved_device_launches() const override {
    return call(CallKind::reserved_launches)->reserved_device_launches();
  }

  [[nodiscard]] ClockRelation relate_clocks() override { return call(CallKind::relate_clocks)->relate_clocks(); }
  [[nodiscard]] std::optional<double> sm_clock_hz() override { return call(CallKind::measure_clock)->sm_clock_hz(); }

 private:
  [[nodiscard]] ForwardedCall<Device> call(CallKind kind, double seconds = 0, std::span<const Copy> copies = {}) const {
    return ForwardedCall(inner_, calls_.observer, kind, &inner_, seconds, copies);
  }

  Interception& calls_;
  Device& inner_;
  Capabilities capabilities_;
};

// --- The machine ----------------------------------------------------------------------------------------------------

class InterceptedTracer final : public Tracer {
 public:
  InterceptedTracer(CallObserver& observer, Tracer& inner) : observer_(observer), inner_(inner) {}

  void start() override { ForwardedCall(inner_, observer_, CallKind::start_trace)->start(); }
  [[nodiscard]] Trace stop() override { return ForwardedCall(inner_, observer_, CallKind::stop_trace)->stop(); }
  void begin_range(const char* name) override { inner_.begin_range(name); }
  void end_range() override { inner_.end_range(); }

 private:
  CallObserver& observer_;
  Tracer& inner_;
};

class InterceptedMachine final : public Machine {
 public:
  /// `own` owns `observer` if this machine must destroy it.
  InterceptedMachine(std::unique_ptr<Machine> inner, CallObserver& observer, std::unique_ptr<CallObserver> own = {})
      : inner_(std::move(inner)), own_(std::move(own)), calls_{observer}, tracer_(observer, inner_->tracer()) {
    for (Device* device : inner_->devices()) {
      owned_.push_back(std::make_unique<InterceptedDevice>(*this, calls_, *device));
      devices_.push_back(owned_.back().get());
    }
  }

  [[nodiscard]] std::span<Device* const> devices() const override { return devices_; }
  [[nodiscard]] HostRuntime& host() override { return inner_->host(); }
  [[nodiscard]] Tracer& tracer() override { return tracer_; }
  using Machine::make_gate;
  [[nodiscard]] Gate make_gate(double timeout) override {
    const CallScope scope(calls_.observer, CallKind::make_gate);
    return owned<GateView>(std::make_unique<InterceptedGate>(calls_, inner_->make_gate(timeout)));
  }
  void place_host(std::optional<int> node) override { inner_->place_host(node); }
  void set_data_movement(bool on) override { inner_->set_data_movement(calls_.observer.moves_data(on)); }

 private:
  std::unique_ptr<Machine> inner_;
  std::unique_ptr<CallObserver> own_;  // destroyed before inner_, because it may hold a gate of that machine
  Interception calls_;
  InterceptedTracer tracer_;
  std::vector<std::unique_ptr<InterceptedDevice>> owned_;
  std::vector<Device*> devices_;
};

/// Injects a fault that the user requested. The destructor prints a warning if the fault has not happened.
class RequestedFault final : public FaultInjector {
 public:
  RequestedFault(const InjectedFault& fault, Machine& machine, const char* asked_by)
      : FaultInjector(fault), asked_by_(asked_by) {
    prepare(machine);
  }
  ~RequestedFault() override {
    if (hit()) return;
    std::array<char, 128> text{};  // fixed buffer: an allocation failure in a destructor would terminate the program
    *fmt::format_to_n(text.data(), text.size() - 1,
                      "warning: {}: no fault was injected, because there were only {} such calls", asked_by_, calls())
         .out = '\0';
    tell(text.data());
  }

 private:
  const char* asked_by_;
};

}  // namespace

std::unique_ptr<Machine> with_fault(std::unique_ptr<Machine> machine, const InjectedFault& fault,
                                    const char* asked_by) {
  auto asked_for = std::make_unique<RequestedFault>(fault, *machine, asked_by);
  RequestedFault& observer = *asked_for;
  return std::make_unique<InterceptedMachine>(std::move(machine), observer, std::move(asked_for));
}

// The machine is first wrapped for the fault and then for `observer`, so that `observer` sees the fault's effects.
std::unique_ptr<Machine> intercept(std::unique_ptr<Machine> machine, CallObserver& observer) {
  if (const auto fault = fault_from_environment()) machine = with_fault(std::move(machine), *fault, kInjectVariable);
  return std::make_unique<InterceptedMachine>(std::move(machine), observer);
}

}  // namespace xferbench
