// The gate of the simulated machine.
#pragma once

#include <vector>

#include "device/gate.hpp"
#include "device/sim/event_simulator.hpp"
#include "device/sim/sim_host.hpp"

namespace xferbench::sim {

class SimGate : public GateImpl {
 public:
  SimGate(const SimHost& host, const EventSimulator& events, double timeout)
      : host_(host), events_(events), timeout_(timeout) {}
  ~SimGate() override { SimGate::open(); }

  void close(StreamImpl& stream) override;
  void open() noexcept override;
  [[nodiscard]] bool timed_out() const override { return timed_out_; }

 private:
  const SimHost& host_;
  const EventSimulator& events_;
  double timeout_;
  std::vector<OperationPtr> holds_;  // of the streams that it holds
  bool timed_out_ = false;
};

}  // namespace xferbench::sim
