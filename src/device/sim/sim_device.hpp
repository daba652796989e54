// The device interface on a modelled GPU, for machines without one. Times are virtual; bytes really move and kernels
// really compute on the host while set_data_movement is on: sources are read when an operation starts and results
// committed when it finishes, so that a missing dependency between streams shows up as wrong data.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "device/sim/event_simulator.hpp"
#include "device/sim/host.hpp"
#include "device/sim/memory.hpp"
#include "device/sim/profile.hpp"

namespace xferbench::sim {

class SimDevice : public Device {
 public:
  explicit SimDevice(const Profile& profile);
  ~SimDevice() override;

  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] MemoryInfo memory() override;

  void copy(const Copy& copy, StreamHandle stream) override;
  void copy_batch(std::span<const Copy> copies, StreamHandle stream) override;
  void copy_blocking(const Copy& copy) override;
  void fill(const DeviceView& range, std::byte value, StreamHandle stream) override;
  void launch(const Kernel& kernel, StreamHandle stream) override;
  void record(EventHandle event, StreamHandle stream) override;
  void wait(StreamHandle stream, EventHandle event) override;
  void replay(GraphHandle graph, StreamHandle stream) override;
  void prefetch(const HostRange& managed, Direction direction, StreamHandle stream) override;
  void stamp(std::uint64_t* slot, StreamHandle stream) override;
  void call_host(CallbackApi api, const std::function<void()>& function, StreamHandle stream) override;

  void synchronize(StreamHandle stream) override;
  void synchronize(EventHandle event) override;
  void synchronize() override;
  [[nodiscard]] bool finished(EventHandle event) override;
  /// The simulated host always polls.
  void set_wait_policy(WaitPolicy) override {}

  [[nodiscard]] double elapsed(EventHandle from, EventHandle to) override;
  [[nodiscard]] double host_now() const override { return host_.now(); }
  [[nodiscard]] double host_cpu_now() const override { return host_.now(); }
  /// One clock drives both.
  [[nodiscard]] ClockRelation relate_clocks() override { return {}; }

  [[nodiscard]] std::unique_ptr<HostThread> start_thread(std::function<void()> body) override {
    return host_.start(std::move(body));
  }
  [[nodiscard]] std::unique_ptr<Channel> make_channel() override { return host_.make_channel(profile_.handoff); }
  void host_work(const HostCost& cost, const std::function<void()>& work) override;

  void close(GateHandle gate, StreamHandle stream) override;
  void open(GateHandle gate) noexcept override;
  [[nodiscard]] bool timed_out(GateHandle gate) const override;

  void preload(const Kernel&) override {}
  [[nodiscard]] std::optional<double> sm_clock_hz() override { return profile_.sm_clock_hz; }
  [[nodiscard]] bool usable() noexcept override { return true; }
  void set_data_movement(bool on) override { carry_data_ = on; }
  PayloadPart payload_part(const HostRange& host) override;

  void start_trace() override;
  [[nodiscard]] Trace stop_trace() override;

 private:
  struct SimStream;
  struct SimEvent;
  struct SimGate;
  struct SimGraph;
  struct HostPages {
    Pages pages;
    HostMemory kind;
    bool registered = false;
  };

  StreamHandle acquire_stream(StreamKind kind) override;
  EventHandle acquire_event(EventKind kind) override;
  GateHandle acquire_gate(double timeout) override;
  DeviceView acquire_device(std::size_t bytes) override;
  HostRange acquire_host(std::size_t bytes, HostMemory kind, Prefault faults) override;
  RegisteredRange acquire_registration(const HostRange& range) override;
  PooledRange acquire_pooled(std::size_t bytes, StreamHandle stream) override;
  GraphHandle acquire_graph(StreamHandle stream, const std::function<void()>& submit) override;

  void release(const StreamHandle& stream) noexcept override;
  void release(const EventHandle& event) noexcept override;
  void release(const GateHandle& gate) noexcept override;
  void release(const DeviceView& memory) noexcept override;
  void release(const HostRange& memory) noexcept override;
  void release(const RegisteredRange& memory) noexcept override;
  void release(const PooledRange& memory) noexcept override;
  void release(const GraphHandle& graph) noexcept override;

  static SimStream& state(StreamHandle stream);
  static SimEvent& state(EventHandle event);
  static SimGate& state(GateHandle gate);
  static SimGraph& state(GraphHandle graph);

  /// What a timeline says of a call and of what it enqueues.
  struct Call {
    std::string name;
    std::uint64_t bytes = 0;
    Activity::Row row = Activity::Row::internal;  ///< of the operation, if it occupies an engine
  };
  struct Traced {
    Call call;
    OperationPtr operation;
    StreamHandle stream;
    double called = 0;  ///< by the host's clock, ...
    double returned = 0;
  };

  /// Builds an operation when it is to run: data are carried or not as they are then.
  using Recipe = std::function<Operation()>;
  /// Enqueues the operation, or takes it into the graph that the stream is captured for. Host time: call_cost.
  void submit(Recipe recipe, StreamHandle stream, double call_cost, Call call);
  /// Enqueues behind the stream's last operation and whatever the legacy default stream's rules demand.
  OperationPtr enqueue(Operation operation, StreamHandle stream, double call_cost, Call call);
  /// The same, but what follows in the stream does not wait for it.
  OperationPtr enqueue_aside(Operation operation, StreamHandle stream, double call_cost, Call call);
  /// Lets queued work end before memory goes away; gives it up where it cannot.
  void settle() noexcept;
  /// The host waits until the operation has finished.
  void wait_for(const OperationPtr& operation);
  /// The allocation that holds an address, if the device handed it out.
  [[nodiscard]] HostPages* allocation_of(const std::byte* address);
  [[nodiscard]] Operation copy_operation(const Copy& copy);
  /// `overhead`: seconds on the engine beside the work.
  [[nodiscard]] Operation kernel_operation(const Kernel& kernel, double overhead);
  void wait_in_capture(StreamHandle stream, EventHandle event);
  void end_capture(const std::shared_ptr<SimGraph>& graph);
  /// Throws DeviceError where a stream's capture forbids `what`.
  static void refuse_in_capture(StreamHandle stream, const char* what);
  /// The operation that recorded the event; nullptr before there is one. Throws DeviceError if a capture recorded it.
  static const OperationPtr& recorded(EventHandle event, const char* what);
  [[nodiscard]] bool pageable(const Copy& copy);
  /// Whether the driver takes the data along with the call, which returns before it arrives.
  [[nodiscard]] bool inlined(const Copy& copy);
  [[nodiscard]] EngineId engine_of(Direction direction) const;

  const Profile& profile_;
  Capabilities capabilities_;
  bool carry_data_ = true;
  std::uint64_t device_bytes_ = 0;
  Memory memory_;
  std::map<const std::byte*, HostPages> host_memory_;  // by address, to know a pageable pointer as the driver does
  PagePool in_flight_;                                 // outlives the operations that hold pages of it
  std::vector<SimStream*> streams_;
  StreamHandle legacy_;
  std::optional<std::vector<Traced>> traced_;  // while a trace is on
  EventSimulator events_;
  Host host_;
};

}  // namespace xferbench::sim
