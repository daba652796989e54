#include "device/sim/sim_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/error.hpp"
#include "core/units.hpp"
#include "device/host.hpp"
#include "device/sim/sim_event.hpp"
#include "device/sim/sim_machine.hpp"
#include "device/sim/sim_stream.hpp"

namespace xferbench::sim {

namespace {

Capabilities describe(const Profile& p) {
  Capabilities c;
  Environment& e = c.environment;
  e.backend = "simulated";
  e.profile = p.name;
  e.gpu.name = p.gpu_name;
  e.gpu.compute_capability = p.compute_capability;
  e.gpu.multiprocessors = p.multiprocessors;
  e.gpu.memory_bytes = p.memory_bytes;
  e.gpu.l2_bytes = p.l2_bytes;
  e.gpu.copy_engines = p.copy_engines;
  e.gpu.max_sm_clock_hz = p.sm_clock_hz;
  e.gpu.memory_bandwidth = p.memory_bandwidth;
  e.gpu.pcie = Environment::Pcie{p.pcie_generation, p.pcie_width, "profile"};
  e.host = describe_host();
  c.moves_data_when_timed = false;
  c.batch_copies = true;
  return c;
}

constexpr const char* kNoLaunches = "this device has no kernels that launch kernels";

/// Host memory that a device handed out.
class HostPages final : public Resource {
 public:
  HostPages(SimMachine& machine, const std::byte* data) : machine_(machine), data_(data) {}
  ~HostPages() override {
    machine_.settle();
    machine_.data().memory.forget_payload(data_);
    machine_.host_memory().remove(data_);
  }

 private:
  SimMachine& machine_;
  const std::byte* data_;
};

/// Pinning in place, which takes its time at both ends.
class Pinning final : public Resource {
 public:
  Pinning(SimMachine& machine, const Profile& profile, const HostView& memory)
      : machine_(machine), profile_(profile), data_(memory.data), bytes_(static_cast<double>(memory.bytes)) {
    machine.host_memory().pin(memory);
    machine.sim_host().advance(profile.register_call + bytes_ / profile.register_rate);
  }
  ~Pinning() override {
    machine_.settle();
    machine_.host_memory().unpin(data_);
    machine_.sim_host().advance(profile_.unregister_call + bytes_ / profile_.unregister_rate);
  }

 private:
  SimMachine& machine_;
  const Profile& profile_;
  const std::byte* data_;
  double bytes_;
};

}  // namespace

/// Like cudaFree, freeing waits: work that is still queued may use the memory.
class SimDevice::Allocation final : public Resource {
 public:
  Allocation(SimDevice& device, std::size_t bytes)
      : device_(device), view_{device.machine_.data().memory.allocate(bytes), bytes} {
    device_.allocated_bytes_ += bytes;
  }
  ~Allocation() override {
    device_.machine_.settle();
    device_.allocated_bytes_ -= view_.bytes;
    device_.machine_.data().memory.free(view_.data);
  }
  [[nodiscard]] const DeviceView& view() const { return view_; }

 private:
  SimDevice& device_;
  DeviceView view_;
};

SimDevice::SimDevice(SimMachine& machine)
    : Device(machine),
      machine_(machine),
      profile_(machine.profile()),
      capabilities_(describe(profile_)),
      operations_(profile_, machine.events(), machine.data()) {}

SimDevice::~SimDevice() = default;

MemoryInfo SimDevice::memory() { return {profile_.memory_bytes - allocated_bytes_, profile_.memory_bytes}; }

// --- Streams and events ---------------------------------------------------------------------------------------------

std::unique_ptr<SimStream> SimDevice::new_stream(StreamKind kind) { return std::make_unique<SimStream>(*this, kind); }
std::unique_ptr<SimEvent> SimDevice::new_event(EventKind kind) { return std::make_unique<SimEvent>(*this, kind); }

SimStream& SimDevice::legacy_stream() {
  if (!legacy_) legacy_ = new_stream(StreamKind::legacy_default);
  return *legacy_;
}

Stream SimDevice::make_stream(StreamKind kind) {
  if (kind == StreamKind::legacy_default) return {StreamView(legacy_stream()), nullptr};
  return owned<StreamView>(new_stream(kind));
}

Event SimDevice::make_event(EventKind kind) { return owned<EventView>(new_event(kind)); }

void SimDevice::end(Capture& capture) {
  capture.open = false;
  for (SimStream* s : streams_) s->leave(capture);
}

void SimDevice::copy_blocking(const Copy& copy) { legacy_stream().copy_blocking(copy); }

// All work of the machine is that of its one device.
void SimDevice::synchronize() { machine_.sim_host().wait_for_all(); }

// --- Memory ---------------------------------------------------------------------------------------------------------

DeviceBuffer SimDevice::allocate_device(std::size_t bytes) {
  if (const auto free = memory().free_bytes; bytes > free) {
    throw DeviceError(fmt::format("allocating {} on the simulated device", format_size(bytes)),
                      fmt::format("out of memory, {} free", format_size(free)));
  }
  auto memory = std::make_unique<Allocation>(*this, bytes);
  const DeviceView view = memory->view();
  return {view, std::move(memory)};
}

HostBuffer SimDevice::allocate_host(std::size_t bytes, HostMemory kind, Prefault) {
  const HostView view = machine_.host_memory().add(bytes, kind);
  return {view, std::make_unique<HostPages>(machine_, view.data)};
}

PayloadPart SimDevice::payload_part(const HostView& host) {
  const PayloadPart part = part_of_payload(host.bytes);
  if (part.is_all() || !machine_.host_memory().prefer_small_pages(host.data)) return {};
  machine_.data().memory.set_payload(host.data, host.bytes, part);
  return part;
}

Registration SimDevice::register_host(const HostView& memory) {
  return {{memory.data, memory.bytes}, std::make_unique<Pinning>(machine_, profile_, memory)};
}

// --- What it does not have ------------------------------------------------------------------------------------------

std::size_t SimDevice::reserve_device_launches(std::size_t) {
  throw DeviceError("making room for launches from the device", kNoLaunches);
}

std::size_t SimDevice::reserved_device_launches() const {
  throw DeviceError("asking for the room for launches from the device", kNoLaunches);
}

}  // namespace xferbench::sim
