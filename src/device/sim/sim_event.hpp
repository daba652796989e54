// Events of the simulated device.
#pragma once

#include "device/event.hpp"
#include "device/sim/capture.hpp"
#include "device/sim/event_simulator.hpp"
#include "device/types.hpp"

namespace xferbench::sim {

class SimDevice;
class SimHost;

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

  SimHost& host_;
  double query_call_;
  bool timed_;
  OperationPtr operation_;
  CapturePlace place_;
};

}  // namespace xferbench::sim
