// Streams of the simulated device, their events, graphs and gates. Each call takes its time on the host, and what it
// enqueues stands behind the stream's last operation.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "device/sim/operations.hpp"
#include "device/sim/simulation.hpp"
#include "device/stream.hpp"

namespace xferbench::sim {

class SimDevice;

// --- Captures -------------------------------------------------------------------------------------------------------

/// Builds an operation when it is to run: data moves or not as it does then.
using Recipe = std::function<Operation(const Operations&)>;

/// What streams do while they are captured.
struct Capture {
  struct Node {
    Recipe recipe;
    const Operations* operations;  // of the device that it is for
    std::vector<std::size_t> after;
    Call call;
    const void* stream;    // that it was captured from; only tells streams apart
    bool awaited = false;  // by another node
  };
  std::vector<Node> nodes;  // in an order in which they can run
  bool open = true;
};

/// Where in a capture a stream or an event stands: behind the nodes `tails`. No capture: outside.
struct CapturePlace {
  std::shared_ptr<Capture> capture;
  std::vector<std::size_t> tails;
};

struct SimGraph final : GraphImpl {
  SimGraph(Device& device, std::shared_ptr<const Capture> what) : GraphImpl(device), captured(std::move(what)) {}

  std::shared_ptr<const Capture> captured;
  OperationPtr end;  ///< of its last replay: a graph never runs twice at once
};

// --- Events ---------------------------------------------------------------------------------------------------------

class SimEvent : public EventImpl {
 public:
  SimEvent(SimDevice& device, EventKind kind);

  void synchronize() override;
  [[nodiscard]] bool finished() override;
  [[nodiscard]] double seconds_since(const EventImpl& earlier) const override;

  [[nodiscard]] bool timed() const { return timed_; }
  /// The operation that recorded it, or its place in a capture; neither before it was recorded.
  [[nodiscard]] const OperationPtr& operation() const { return operation_; }
  [[nodiscard]] const CapturePlace& place() const { return place_; }
  void recorded_by(OperationPtr operation) { operation_ = std::move(operation), place_ = {}; }
  void recorded_at(const CapturePlace& place) { operation_ = nullptr, place_ = place; }

 private:
  /// Throws DeviceError if a capture recorded it.
  const OperationPtr& outside_captures(const char* what) const;
  /// When it happened. Throws DeviceError if that is not known.
  [[nodiscard]] double moment() const;

  Simulation& sim_;
  bool timed_;
  OperationPtr operation_;
  CapturePlace place_;
};

// --- Streams --------------------------------------------------------------------------------------------------------

class SimStream : public StreamImpl {
 public:
  SimStream(SimDevice& device, StreamKind kind);
  ~SimStream() override;

  void copy(const Copy& copy) override;
  void copy_batch(std::span<const Copy> copies) override;
  void fill(const DeviceView& range, std::byte value) override;
  void launch(const Kernel& kernel) override;
  void prefetch(const HostView& managed, Direction direction) override;
  void stamp(std::uint64_t* slot) override;
  void flip(std::byte* at) override;
  void call_host(CallbackApi api, HostFunction& function) override;
  void record(EventImpl& event) override;
  void wait(EventImpl& event) override;
  void replay(GraphImpl& graph) override;
  [[nodiscard]] Graph capture(const std::function<void()>& submit) override;
  [[nodiscard]] DeviceBuffer allocate(std::size_t bytes) override;
  void synchronize() override;

  /// Copies and waits as the synchronous API does.
  void copy_blocking(const Copy& copy);
  /// Enqueues what holds the stream for so many seconds, for a gate.
  virtual OperationPtr hold(double seconds);
  /// When these have finished, if there are any, everything has that was enqueued.
  [[nodiscard]] std::array<OperationPtr, 2> last_operations() const { return {last_, aside_}; }
  /// Takes the stream out of a capture that ends.
  void leave(const Capture& capture);

 private:
  /// Enqueues the operation, or takes it into the graph that the stream is captured for. Host time: call_cost.
  void submit(Recipe recipe, double call_cost, Call call);
  /// Enqueues behind the stream's last operation and whatever the legacy default stream's rules demand.
  OperationPtr enqueue(Operation operation, double call_cost, Call call);
  /// The same, but what follows in the stream does not wait for it.
  OperationPtr enqueue_aside(Operation operation, double call_cost, Call call);
  OperationPtr enqueue_behind(Operation operation, double call_cost, Call call);
  /// What is said of a copy.
  [[nodiscard]] Call call_of(const Copy& copy) const;
  /// Whether the driver takes the data along with the call, which returns before it arrives.
  [[nodiscard]] bool inlines(const Copy& copy) const;
  /// Throws DeviceError where the stream's capture forbids `what`.
  void refuse_in_capture(const char* what) const;
  void wait_in_capture(const SimEvent& event);
  /// What comes a little later than an event of another device, when this one sees it.
  [[nodiscard]] OperationPtr seen_from_here(const OperationPtr& event);

  SimDevice& device_;
  Simulation& sim_;
  const Profile& profile_;
  StreamKind kind_;
  OperationPtr last_;   // behind which whatever comes next stands; nothing before there was any
  OperationPtr aside_;  // the last that nothing of this stream stands behind
  CapturePlace place_;  // where work goes while there is a capture
};

// --- The gate -------------------------------------------------------------------------------------------------------

class SimGate : public GateImpl {
 public:
  SimGate(Simulation& sim, double timeout) : sim_(sim), timeout_(timeout) {}
  ~SimGate() override { SimGate::open(); }

  void close(StreamImpl& stream) override;
  [[nodiscard]] bool wait_until_held(double patience) override;
  void open() noexcept override;
  [[nodiscard]] bool timed_out() const override { return timed_out_; }

 private:
  Simulation& sim_;
  double timeout_;
  std::vector<OperationPtr> holds_;  // of the streams that it holds
  bool timed_out_ = false;
};

}  // namespace xferbench::sim
