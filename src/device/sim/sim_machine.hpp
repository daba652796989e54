// A machine that is modelled: one event simulator in which all engines and links compete, the host's threads and clock,
// and the devices.
#pragma once

#include <array>
#include <functional>
#include <memory>

#include "device/machine.hpp"
#include "device/sim/event_simulator.hpp"
#include "device/sim/host_allocations.hpp"
#include "device/sim/memory.hpp"
#include "device/sim/profile.hpp"
#include "device/sim/sim_device.hpp"
#include "device/sim/sim_host.hpp"
#include "device/sim/sim_tracer.hpp"

namespace xferbench::sim {

class SimMachine : public Machine {
 public:
  using MakeDevice = std::function<std::unique_ptr<SimDevice>(SimMachine&)>;
  /// `profile` must outlive it. `make_device`: for tests, whose devices do some things wrong.
  explicit SimMachine(
      const Profile& profile,
      const MakeDevice& make_device = [](SimMachine& m) { return std::make_unique<SimDevice>(m); });

  [[nodiscard]] std::span<Device* const> devices() const override { return devices_; }
  [[nodiscard]] HostRuntime& host() override { return host_; }
  [[nodiscard]] Tracer& tracer() override { return tracer_; }
  using Machine::make_gate;
  [[nodiscard]] Gate make_gate(double timeout) override;
  void set_data_movement(bool on) override { data_.on = on; }

  // For the parts of the simulation.
  [[nodiscard]] const Profile& profile() const { return profile_; }
  [[nodiscard]] EventSimulator& events() { return events_; }
  [[nodiscard]] SimHost& sim_host() { return host_; }
  [[nodiscard]] SimTracer& sim_tracer() { return tracer_; }
  [[nodiscard]] DataMovement& data() { return data_; }
  [[nodiscard]] HostAllocations& host_memory() { return host_memory_; }
  /// Lets queued work end before memory goes away; gives it up where it cannot.
  void settle() noexcept;

 private:
  const Profile& profile_;
  DataMovement data_;
  HostAllocations host_memory_;
  EventSimulator events_;
  SimHost host_{events_, profile_, data_};
  SimTracer tracer_{host_};
  std::unique_ptr<SimDevice> device_;  // last: it uses all the others
  std::array<Device*, 1> devices_;
};

}  // namespace xferbench::sim
