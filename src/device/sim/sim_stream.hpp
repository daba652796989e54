// Streams of the simulated device with their events, graphs and gates. Each call takes time on the host. The operation
// that it enqueues waits for the stream's previous one.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "device/sim/operations.hpp"
#include "device/sim/simulation.hpp"
#include "device/stream.hpp"

namespace xferbench::sim {

class SimDevice;

/// Creates an operation when a graph is replayed, because data movement may be switched between capture and replay.
using Recipe = std::function<Operation(const Operations&)>;

/// The operations that streams submit during a capture; they become the nodes of a graph.
struct Capture {
  struct Node {
    Recipe recipe;
    const Operations* operations;  // creates the operations of the node's device
    std::vector<std::size_t> after;
    Call call;
    const void* stream;    // stream that the node was captured from; never dereferenced
    bool awaited = false;  // whether another node depends on this one
  };
  std::vector<Node> nodes;  // nodes in topological order
  bool open = true;
};

/// Position of a stream or event in a capture: after the nodes with indices `tails`. If `capture` is null, the stream
/// or event is in no capture.
struct CapturePlace {
  std::shared_ptr<Capture> capture;
  std::vector<std::size_t> tails;
};

struct SimGraph final : GraphImpl {
  SimGraph(Device& device, std::shared_ptr<const Capture> what) : GraphImpl(device), captured(std::move(what)) {}

  std::shared_ptr<const Capture> captured;
  OperationPtr end;  ///< operation that ends with the latest replay; the next replay waits for it
};

class SimEvent : public EventImpl {
 public:
  SimEvent(SimDevice& device, EventKind kind);

  void synchronize() override;
  [[nodiscard]] bool finished() override;
  [[nodiscard]] double seconds_since(const EventImpl& earlier) const override;

  [[nodiscard]] bool timed() const { return timed_; }
  /// The operation that recorded the event; null in a capture, which sets place(), and before the event is recorded.
  [[nodiscard]] const OperationPtr& operation() const { return operation_; }
  [[nodiscard]] const CapturePlace& place() const { return place_; }
  void recorded_by(OperationPtr operation) { operation_ = std::move(operation), place_ = {}; }
  void recorded_at(const CapturePlace& place) { operation_ = nullptr, place_ = place; }

 private:
  /// Returns operation(). Throws a DeviceError that names `what` if the event was recorded in a capture.
  const OperationPtr& outside_captures(const char* what) const;
  /// Virtual time of the event, in seconds. Throws DeviceError if the event has no time.
  [[nodiscard]] double moment() const;

  Simulation& sim_;
  bool timed_;
  OperationPtr operation_;
  CapturePlace place_;
};

class SimStream : public StreamImpl {
 public:
  SimStream(SimDevice& device, StreamKind kind);
  ~SimStream() override;

  void copy(const Copy& copy) override;
  void copy_batch(const CopyBatch& batch) override;
  void copy_strided(const StridedCopy& copy) override;
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
  void synchronize() override;

  /// Copies like cudaMemcpy, which returns when the host memory may be reused.
  void copy_blocking(const Copy& copy);
  /// Enqueues a gate operation that holds the stream for this many seconds.
  virtual OperationPtr hold(double seconds);
  /// All work of the stream has finished when these operations have finished. Either may be null.
  [[nodiscard]] std::array<OperationPtr, 2> last_operations() const { return {last_, aside_}; }
  /// Detaches the stream from a capture that ends.
  void leave(const Capture& capture);

 private:
  /// Enqueues the operation, or adds it to the graph during a capture. `call_cost` is the call's host time in seconds.
  void submit(Recipe recipe, double call_cost, Call call);
  /// Submits copies of page-locked memory, all in one direction, as one operation. `name`: CUDA function for messages.
  void copy_many(const char* name, const std::vector<Copy>& copies, double call_cost,
                 Operation (Operations::*operation)(const std::vector<Copy>&) const);
  /// Enqueues the operation after the stream's last one, following the rules of the legacy default stream.
  OperationPtr enqueue(Operation operation, double call_cost, Call call);
  /// Like enqueue(), but later work in the stream does not wait for the operation.
  OperationPtr enqueue_unordered(Operation operation, double call_cost, Call call);
  OperationPtr enqueue_behind(Operation operation, double call_cost, Call call);
  /// Waits until the stream has room for one more operation.
  void wait_for_room();
  /// Describes a copy for traces and recordings.
  [[nodiscard]] Call call_of(const Copy& copy) const;
  /// Whether the driver buffers the data of this copy, so that the call returns before the copy has finished.
  [[nodiscard]] bool inlines(const Copy& copy) const;
  /// Throws DeviceError if the stream is being captured.
  void refuse_in_capture(const char* what) const;
  void wait_in_capture(const SimEvent& event);
  /// Returns an operation that ends when this device sees another device's event, slightly after the event itself.
  [[nodiscard]] OperationPtr visible_here(const OperationPtr& event);

  SimDevice& device_;
  Simulation& sim_;
  const Profile& profile_;
  StreamKind kind_;
  OperationPtr last_;              // the operation that later work waits for; null at first
  std::deque<OperationPtr> held_;  // operations that take room in the stream, at most Profile::stream_room
  OperationPtr aside_;             // the last operation that later work does not wait for
  CapturePlace place_;             // position in a capture, if the stream is being captured
};

class SimGate : public GateImpl {
 public:
  SimGate(Simulation& sim, double timeout) : sim_(sim), timeout_(timeout) {}
  ~SimGate() override { SimGate::open(); }

  void close(StreamImpl& stream) override;
  [[nodiscard]] bool wait_until_held(double timeout) override;
  void open() noexcept override;
  [[nodiscard]] bool timed_out() const override { return timed_out_; }

 private:
  Simulation& sim_;
  double timeout_;
  std::vector<OperationPtr> holds_;  // gate operations that hold streams, one per stream
  bool timed_out_ = false;
};

}  // namespace xferbench::sim
