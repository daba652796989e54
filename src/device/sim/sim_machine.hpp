// The simulated machine and its GPUs. Times are virtual. While data movement is on (SimMachine::set_data_movement),
// bytes really move and kernels are really computed, on the host.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "device/machine.hpp"
#include "device/sim/operations.hpp"
#include "device/sim/sim_stream.hpp"
#include "device/sim/simulation.hpp"
#include "recording/recording_request.hpp"

namespace xferbench::sim {

class SimMachine;

class SimDevice : public Device {
 public:
  explicit SimDevice(SimMachine& machine, std::size_t number = 0);

  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] MemoryInfo memory() override;
  [[nodiscard]] bool usable() noexcept override { return true; }

  [[nodiscard]] Stream make_stream(StreamKind kind) override;
  [[nodiscard]] Event make_event(EventKind kind) override { return owned<EventView>(new_event(kind)); }

  using Device::allocate_device;
  using Device::allocate_host;
  [[nodiscard]] DeviceBuffer allocate_device(std::size_t bytes, GpuMemory kind) override;
  [[nodiscard]] HostBuffer allocate_host(std::size_t bytes, HostMemory kind, Prefault faults) override;
  PayloadPart payload_part(const HostView& host) override { return sim_.data.memory.move_part_of(host); }
  void set_peer_access(Device& peer, bool on) override;
  [[nodiscard]] Registration register_host(const HostView& memory) override;

  void copy_blocking(const Copy& copy) override { legacy_stream().copy_blocking(copy); }
  void synchronize() override;
  /// Has no effect: simulated threads always poll.
  void set_wait_policy(WaitPolicy) override {}

  void preload(const Kernel&) override {}
  [[nodiscard]] std::optional<KernelResources> resources(const Kernel&) override { return std::nullopt; }
  /// Compiles CUDA C++ only if --kernel-arch is given, to report errors in the code. The kernel's code never runs: a
  /// built-in kernel computes its result.
  const LoadedKernel& load_kernel(const KernelSource& source) override;
  std::size_t reserve_device_launches(std::size_t pending) override;
  [[nodiscard]] std::size_t reserved_device_launches() const override;

  /// Host and GPU share one virtual clock, so the offset is 0.
  [[nodiscard]] ClockRelation relate_clocks() override { return {}; }
  [[nodiscard]] std::optional<double> sm_clock_hz() override { return sim_.profile.sm_clock_hz; }

  // The following functions are for other classes of the simulation.
  [[nodiscard]] Simulation& simulation() const { return sim_; }
  [[nodiscard]] const Operations& operations() const { return operations_; }
  [[nodiscard]] const std::vector<SimStream*>& streams() const { return streams_; }
  /// The legacy default stream. The device owns this stream; make_stream() returns views of it.
  [[nodiscard]] SimStream& legacy_stream();
  void add(SimStream& stream, StreamKind kind);
  void remove(const SimStream& stream) noexcept;
  /// Ends a capture and detaches all streams from it.
  void end(Capture& capture);

 protected:
  [[nodiscard]] virtual std::unique_ptr<SimStream> new_stream(StreamKind kind);
  [[nodiscard]] virtual std::unique_ptr<SimEvent> new_event(EventKind kind);

 private:
  Simulation& sim_;
  Capabilities capabilities_;
  Operations operations_;
  std::uint64_t allocated_bytes_ = 0;
  std::vector<SimStream*> streams_;
  std::vector<OperationPtr> left_behind_;  // unfinished operations of destroyed streams
  std::unique_ptr<SimStream> legacy_;      // created on first use
  std::list<std::pair<KernelSource, std::unique_ptr<LoadedKernel>>> own_kernels_;
};

Environment::Gpu describe_gpu(const Profile& p, int index);

class SimMachine : public Machine {
 public:
  using MakeDevice = std::function<std::unique_ptr<SimDevice>(SimMachine&, std::size_t number)>;
  /// `gpus` are the numbers of the profile's GPUs to open. `make_device` lets tests create faulty devices.
  explicit SimMachine(
      Profile profile, std::vector<int> gpus = {0},
      const MakeDevice& make_device = [](SimMachine& m, std::size_t i) { return std::make_unique<SimDevice>(m, i); });

  [[nodiscard]] std::span<Device* const> devices() const override { return devices_; }
  [[nodiscard]] HostRuntime& host() override { return sim_.host; }
  [[nodiscard]] Tracer& tracer() override { return sim_.tracer; }
  using Machine::make_gate;
  [[nodiscard]] Gate make_gate(double timeout) override {
    return owned<GateView>(std::make_unique<SimGate>(sim_, timeout));
  }
  void place_host(std::optional<int> node) override { sim_.host_node = node; }
  void set_data_movement(bool on) override { sim_.data.on = on; }

  /// Records all later use of the machine until it is destroyed. Call it before any stream exists. `profile` is the
  /// name or path that the user gave.
  void record(const RecordingRequest& request, std::string_view profile);

  /// For other classes of the simulation.
  [[nodiscard]] Simulation& simulation() { return sim_; }
  /// Numbers of the opened GPUs within the profile.
  [[nodiscard]] const std::vector<int>& gpus() const { return sim_.gpus; }

 private:
  Simulation sim_;
  std::vector<std::unique_ptr<SimDevice>> owned_;
  std::vector<Device*> devices_;
};

}  // namespace xferbench::sim
