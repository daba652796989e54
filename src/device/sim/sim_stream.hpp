// Streams of the simulated device: each call takes its time on the host, and what it enqueues stands behind the
// stream's last operation.
#pragma once

#include <functional>

#include "device/sim/capture.hpp"
#include "device/sim/event_simulator.hpp"
#include "device/sim/sim_tracer.hpp"
#include "device/stream.hpp"

namespace xferbench::sim {

class SimDevice;
class SimMachine;
struct Profile;

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
  void call_host(CallbackApi api, const std::function<void()>& function) override;
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

  [[nodiscard]] StreamKind kind() const { return kind_; }
  /// Behind which whatever comes next stands; nothing before there was any.
  [[nodiscard]] const OperationPtr& last() const { return last_; }
  /// Takes the stream out of a capture that ends.
  void leave(const Capture& capture);

 private:
  /// Enqueues the operation, or takes it into the graph that the stream is captured for. Host time: call_cost.
  void submit(Recipe recipe, double call_cost, Call call);
  /// Enqueues behind the stream's last operation and whatever the legacy default stream's rules demand.
  OperationPtr enqueue(Operation operation, double call_cost, Call call);
  /// The same, but what follows in the stream does not wait for it.
  OperationPtr enqueue_aside(Operation operation, double call_cost, Call call);
  /// Whether the driver takes the data along with the call, which returns before it arrives.
  [[nodiscard]] bool inlines(const Copy& copy) const;
  /// Throws DeviceError where the stream's capture forbids `what`.
  void refuse_in_capture(const char* what) const;
  void wait_in_capture(const EventImpl& event);

  SimDevice& device_;
  SimMachine& machine_;
  const Profile& profile_;
  StreamKind kind_;
  OperationPtr last_;
  CapturePlace place_;  // where work goes while there is a capture
};

}  // namespace xferbench::sim
