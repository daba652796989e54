// A modelled GPU, for machines without one. Times are virtual; bytes really move and kernels really compute on the host
// while SimMachine::set_data_movement is on.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "device/sim/capture.hpp"
#include "device/sim/operations.hpp"
#include "device/sim/profile.hpp"

namespace xferbench::sim {

class SimEvent;
class SimMachine;
class SimStream;

class SimDevice : public Device {
 public:
  explicit SimDevice(SimMachine& machine);
  ~SimDevice() override;

  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] MemoryInfo memory() override;
  [[nodiscard]] bool usable() noexcept override { return true; }

  [[nodiscard]] Stream make_stream(StreamKind kind) override;
  [[nodiscard]] Event make_event(EventKind kind) override;

  using Device::allocate_host;
  [[nodiscard]] DeviceBuffer allocate_device(std::size_t bytes) override;
  [[nodiscard]] HostBuffer allocate_host(std::size_t bytes, HostMemory kind, Prefault faults) override;
  PayloadPart payload_part(const HostView& host) override;
  [[nodiscard]] Registration register_host(const HostView& memory) override;

  void copy_blocking(const Copy& copy) override;
  void synchronize() override;
  /// The simulated host always polls.
  void set_wait_policy(WaitPolicy) override {}

  void preload(const Kernel&) override {}
  [[nodiscard]] std::optional<KernelResources> resources(const Kernel&) override { return std::nullopt; }
  std::size_t reserve_device_launches(std::size_t pending) override;
  [[nodiscard]] std::size_t reserved_device_launches() const override;

  /// One clock drives both.
  [[nodiscard]] ClockRelation relate_clocks() override { return {}; }
  [[nodiscard]] std::optional<double> sm_clock_hz() override { return profile_.sm_clock_hz; }

  // For the parts of the simulation.
  [[nodiscard]] SimMachine& simulation() const { return machine_; }
  [[nodiscard]] const Profile& profile() const { return profile_; }
  [[nodiscard]] const Operations& operations() const { return operations_; }
  [[nodiscard]] std::span<SimStream* const> streams() const { return streams_; }
  /// It belongs to the device; whoever asks for it gets a view.
  [[nodiscard]] SimStream& legacy_stream();
  void add(SimStream& stream) { streams_.push_back(&stream); }
  void remove(const SimStream& stream) { std::erase(streams_, &stream); }
  /// Takes all streams out of the capture.
  void end(Capture& capture);

 protected:
  [[nodiscard]] virtual std::unique_ptr<SimStream> new_stream(StreamKind kind);
  [[nodiscard]] virtual std::unique_ptr<SimEvent> new_event(EventKind kind);

 private:
  class Allocation;

  SimMachine& machine_;
  const Profile& profile_;
  Capabilities capabilities_;
  Operations operations_;
  std::uint64_t allocated_bytes_ = 0;
  std::vector<SimStream*> streams_;
  std::unique_ptr<SimStream> legacy_;  // made when it is first asked for
};

}  // namespace xferbench::sim
