#include "device/sim/sim_machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>

#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/units.hpp"
#include "device/host.hpp"
#include "device/intercepted.hpp"
#include "device/modelled_rank.hpp"
#include "device/nvrtc.hpp"
#include "device/open.hpp"
#include "device/sim/profile_fields.hpp"
#include "device/sim/profile_file.hpp"

namespace xferbench::sim {

Environment::Gpu describe_gpu(const Profile& p, int index) {
  Environment::Gpu gpu;
  gpu.name = p.gpu_name;
  gpu.compute_capability = p.compute_capability;
  gpu.multiprocessors = p.multiprocessors;
  gpu.memory_bytes = p.memory_bytes;
  gpu.l2_bytes = p.l2_bytes;
  gpu.copy_engines = p.copy_engines;
  gpu.max_sm_clock_hz = p.sm_clock_hz;
  gpu.memory_bandwidth = p.memory_bandwidth;
  gpu.uuid = p.uuid.empty() || p.gpus == 1 ? p.uuid : fmt::format("{}-{}", p.uuid, index);
  gpu.pcie = Environment::Pcie{p.pcie_generation, p.pcie_width, "profile"};
  if (p.gpus > 1) {
    gpu.index = index;
    gpu.numa_node = static_cast<int>(Wiring::socket_of(p, index));
    gpu.nvlinks = p.nvlinks;
    gpu.nvlink_bandwidth = p.nvlinks * p.nvlink_rate;
  }
  return gpu;
}

namespace {

Capabilities describe(const Profile& p, std::span<const int> gpus, std::size_t number) {
  Capabilities c;
  Environment& e = c.environment;
  e.backend = "simulated";
  e.profile = p.name;
  e.profile_base = p.base;
  e.profile_changes = p.changes;
  e.gpu = describe_gpu(p, gpus[number]);
  for (const int from : gpus) {
    if (gpus.size() > 1) e.gpus.push_back(describe_gpu(p, from));
    for (const int to : gpus) {
      if (from == to) continue;
      e.links.push_back({.from = from,
                         .to = to,
                         .access = p.nvlinks > 0,
                         .atomics = p.nvlinks > 0,
                         .nvlinks = p.nvlinks,
                         .bandwidth = p.nvlinks * p.nvlink_rate});
    }
  }
  e.host = describe_host();
  e.host.numa_nodes.clear();
  for (unsigned socket = 0; p.sockets > 1 && socket < p.sockets; ++socket) {
    e.host.numa_nodes.push_back(static_cast<int>(socket));
  }
  c.moves_data_when_timed = false;
  c.batch_copies = true;
  return c;
}

constexpr const char* kNoLaunches = "the simulated device does not support launches from kernels";

/// Whether releasing memory waits for the GPU, as cudaFree does, because queued work may use the memory.
enum class Waits { yes, no };

/// Resource that owns memory or a registration of pinned memory.
class SimAllocation final : public Resource {
 public:
  /// `call` is the name of the CUDA call that releases the memory; empty for ordinary memory.
  SimAllocation(Simulation& sim, const char* call, Waits waits, std::function<void()> give_back)
      : sim_(sim), call_(call), waits_(waits), give_back_(std::move(give_back)) {}
  ~SimAllocation() override {
    const RecordedCall recorded(sim_.recorder.get(), call_);
    if (waits_ == Waits::yes) sim_.settle();
    give_back_();
  }

 private:
  Simulation& sim_;
  const char* call_;
  Waits waits_;
  std::function<void()> give_back_;
};

/// Names of the CUDA calls that allocate and free a kind of host memory; empty for ordinary memory.
struct HostCalls {
  const char* allocate = "";
  const char* free = "";
};

HostCalls calls_of(HostMemory kind) {
  switch (kind) {
    case HostMemory::pageable:
    case HostMemory::pageable_small:
    case HostMemory::pageable_huge:
    case HostMemory::pageable_hugetlb: return {};
    case HostMemory::pinned: return {"cudaMallocHost", "cudaFreeHost"};
    case HostMemory::portable:
    case HostMemory::mapped:
    case HostMemory::write_combined:
    case HostMemory::numa_mapped: return {"cudaHostAlloc", "cudaFreeHost"};
    case HostMemory::registered:
    case HostMemory::registered_huge:
    case HostMemory::registered_hugetlb: return {"cudaHostRegister", "cudaHostUnregister"};
    case HostMemory::managed: break;
  }
  return {"cudaMallocManaged", "cudaFree"};
}

}  // namespace

SimDevice::SimDevice(SimMachine& machine, std::size_t number)
    : Device(machine, number),
      sim_(machine.simulation()),
      capabilities_(describe(sim_.profile, machine.gpus(), number)),
      operations_(sim_.profile, number, sim_.wiring, sim_.events, sim_.data) {}

MemoryInfo SimDevice::memory() { return {sim_.profile.memory_bytes - allocated_bytes_, sim_.profile.memory_bytes}; }

// --- Streams and events ---------------------------------------------------------------------------------------------

std::unique_ptr<SimStream> SimDevice::new_stream(StreamKind kind) { return std::make_unique<SimStream>(*this, kind); }
std::unique_ptr<SimEvent> SimDevice::new_event(EventKind kind) { return std::make_unique<SimEvent>(*this, kind); }

void SimDevice::add(SimStream& stream, StreamKind kind) {
  streams_.push_back(&stream);
  if (sim_.recorder) sim_.recorder->add_stream(&stream, kind, operations_.number());
}

SimStream& SimDevice::legacy_stream() {
  if (!legacy_) legacy_ = new_stream(StreamKind::legacy_default);
  return *legacy_;
}

Stream SimDevice::make_stream(StreamKind kind) {
  if (kind == StreamKind::legacy_default) return {StreamView(legacy_stream()), nullptr};
  return owned<StreamView>(new_stream(kind));
}

void SimDevice::end(Capture& capture) {
  capture.open = false;
  for (SimStream* s : streams_) s->leave(capture);
}

// --- Memory ---------------------------------------------------------------------------------------------------------

// All kinds of GPU memory are alike here.
DeviceBuffer SimDevice::allocate_device(std::size_t bytes, GpuMemory) {
  const RecordedCall recorded(sim_.recorder.get(), "cudaMalloc");
  if (const auto free = memory().free_bytes; bytes > free) {
    throw DeviceError(fmt::format("allocating {} on the simulated device", format_size(bytes)),
                      fmt::format("out of memory, {} free", format_size(free)));
  }
  const DeviceView view = sim_.data.memory.allocate_device(bytes, number());
  allocated_bytes_ += bytes;
  return {view, std::make_unique<SimAllocation>(sim_, "cudaFree", Waits::yes, [this, view] {
            allocated_bytes_ -= view.bytes;
            sim_.data.memory.free(view.data);
          })};
}

HostBuffer SimDevice::allocate_host(std::size_t bytes, HostMemory kind, Prefault) {
  const HostCalls calls = calls_of(kind);
  const RecordedCall recorded(sim_.recorder.get(), calls.allocate);
  const std::size_t socket =
      sim_.host_node ? static_cast<std::size_t>(*sim_.host_node) : sim_.wiring.socket_of(number());
  const HostView view = sim_.data.memory.allocate_host(bytes, kind, socket);
  const auto give_back = [this, view] { sim_.data.memory.free(view.data); };
  return {view, std::make_unique<SimAllocation>(sim_, calls.free, Waits::yes, give_back)};
}

void SimDevice::remove(const SimStream& stream) noexcept {
  std::erase(streams_, &stream);
  std::erase_if(left_behind_, [](const OperationPtr& o) { return o->done(); });
  try {
    for (const OperationPtr& o : stream.last_operations()) {
      if (o && !o->done()) left_behind_.push_back(o);
    }
  } catch (const std::bad_alloc&) {
    sim_.settle();
  }
}

void SimDevice::synchronize() {
  const RecordedCall recorded(sim_.recorder.get(), "cudaDeviceSynchronize");
  recorded.waits({.kind = recording::SyncKind::context, .gpu = operations_.number()});
  std::vector<OperationPtr> pending = left_behind_;
  for (const SimStream* stream : streams_) {
    for (const OperationPtr& o : stream->last_operations()) {
      if (o) pending.push_back(o);
    }
  }
  sim_.host.wait_for(pending);
}

void SimDevice::set_peer_access(Device& peer, bool on) {
  if (&peer == this || sim_.profile.nvlinks == 0) {
    throw DeviceError("reaching the memory of another GPU",
                      fmt::format("there is no link from device {} to device {}", number(), peer.number()));
  }
  operations_.grant_access(peer.number(), on);
}

Registration SimDevice::register_host(const HostView& memory) {
  const RecordedCall recorded(sim_.recorder.get(), "cudaHostRegister");
  const Profile& p = sim_.profile;
  const auto bytes = static_cast<double>(memory.bytes);
  sim_.data.memory.pin(memory);
  sim_.host.advance(p.register_call + bytes / p.register_rate);
  return std::make_unique<SimAllocation>(sim_, "cudaHostUnregister", Waits::no, [this, &p, data = memory.data, bytes] {
    sim_.data.memory.unpin(data);
    sim_.host.advance(p.unregister_call + bytes / p.unregister_rate);
  });
}

// --- The machine ----------------------------------------------------------------------------------------------------

SimMachine::SimMachine(Profile profile, std::vector<int> gpus, const MakeDevice& make_device)
    : sim_(std::move(profile), std::move(gpus)) {
  for (std::size_t i = 0; i < sim_.gpus.size(); ++i) {
    owned_.push_back(make_device(*this, i));
    devices_.push_back(owned_.back().get());
  }
}

void SimMachine::record(const RecordingRequest& request, std::string_view profile) {
  sim_.recorder = std::make_unique<Recorder>(request, sim_.host, profile);
  for (std::size_t i = 0; i < owned_.size(); ++i) {
    const Environment& e = owned_[i]->capabilities().environment;
    sim_.recorder->add_device(static_cast<unsigned>(i), e.gpus.empty() ? e.gpu : e.gpus[i]);
  }
}

// --- Unsupported features -------------------------------------------------------------------------------------------

namespace {

/// Represents a user's kernel. The simulation never runs it.
class StandIn final : public LoadedKernel {
 public:
  [[nodiscard]] bool has_stand_in() const override { return true; }
  [[nodiscard]] const LaunchRequest& launch_request() const override { return wishes_; }
  [[nodiscard]] unsigned best_block_size() const override { return 256; }
  void launch(const OwnLaunch&, void*) const override {
    throw std::logic_error("a simulated kernel was launched on a real GPU");
  }

 private:
  LaunchRequest wishes_;
};

}  // namespace

const LoadedKernel& SimDevice::load_kernel(const KernelSource& source) {
  const auto known = std::ranges::find(own_kernels_, source, &decltype(own_kernels_)::value_type::first);
  if (known != own_kernels_.end()) return *known->second;
  // The code is compiled or checked only to report errors that can be found without a GPU.
  if (!source.arch.empty() || !is_cuda_source(source)) static_cast<void>(image_of(source));
  return *own_kernels_.emplace_back(source, std::make_unique<StandIn>()).second;
}

std::size_t SimDevice::reserve_device_launches(std::size_t) {
  throw DeviceError("setting the limit of pending device launches", kNoLaunches);
}

std::size_t SimDevice::reserved_device_launches() const {
  throw DeviceError("querying the limit of pending device launches", kNoLaunches);
}

}  // namespace xferbench::sim

namespace xferbench {

namespace {

/// Returns a hint for error messages: the profiles with enough GPUs, for example ", or another profile: h200-x8".
std::string profiles_with(const GpuSelection& selection) {
  if (selection.named) return {};
  const auto for_number = [](int number) { return static_cast<std::size_t>(number) + 1; };
  const std::size_t wanted = selection.first ? *selection.first : most_of(selection.numbers, for_number);
  const auto fit = those_of(sim::profiles(), [&](const sim::Profile& p) { return p.gpus >= wanted; });
  const auto names = list_of(fit, &sim::Profile::name);
  return names.empty() ? "" : fmt::format(", or another profile: {}", fmt::join(names, ", "));
}

std::unique_ptr<Machine> open_profile(sim::ProfileFile known, const std::string& profile, const GpuSelection& selection,
                                      int rank) {
  known.profile.varies.rank = static_cast<std::uint64_t>(rank);
  std::vector<int> gpus = chosen_gpus(
      selection, known.profile.gpus, [&known](int index) { return sim::describe_gpu(known.profile, index); },
      profiles_with(selection));
  auto machine = std::make_unique<sim::SimMachine>(std::move(known.profile), std::move(gpus));
  // Recordings of only NVTX ranges need real times, which the simulation does not have.
  const auto request = recording_request(&std::getenv);
  if (request && !request->only_ranges) {  // an absolute path, because a recording may be read from another folder
    machine->record(*request, is_profile_file(profile) ? std::filesystem::absolute(profile).string() : profile);
  }
  if (!known.fault) return machine;
  return with_fault(std::move(machine), *known.fault, "the profile");
}

}  // namespace

std::unique_ptr<Machine> open_simulated(const std::string& profile, const GpuSelection& selection, int rank) {
  return open_profile(sim::find_profile(profile), profile, selection, rank);
}

std::unique_ptr<Machine> open_simulated(const ProfileText& profile, const GpuSelection& selection, int rank) {
  sim::ProfileFile file = sim::parse_profile(profile.json, profile.name);
  file.profile = sim::at_ends(file, profile.ends);
  return open_profile(std::move(file), profile.name, selection, rank);
}

double number_of_profile(const std::string& profile, std::string_view field) {
  const sim::ProfileField* known = sim::find_profile_field(field);
  if (known == nullptr) throw std::logic_error("profile has no field " + std::string(field));
  return known->get(sim::find_profile(profile).profile);
}

std::string problem_of_number(std::string_view field, double value) {
  const sim::Quantity& q = *sim::find_profile_field(field)->quantity;
  const bool fits = value >= q.least && value <= q.most && (!q.whole || value == std::floor(value));
  if (fits) return {};
  return fmt::format("{}, expected {} from {} to {} ({})", value, q.whole ? "a whole number" : "one", q.least, q.most,
                     q.unit);
}

ProfileOrigins origins_of(const ProfileText& profile) {
  sim::ProfileFile file = sim::parse_profile(profile.json, profile.name);
  const auto matters = [](const sim::Uncertain& u) { return u.field->quantity->faster != sim::Faster::neither; };
  return {.sources = std::move(file.sources), .has_intervals = std::ranges::any_of(file.uncertain, matters)};
}

ModelledRank modelled_rank(const std::string& profile) { return sim::find_profile(profile).rank; }

bool is_built_in_profile(std::string_view name) {
  return std::ranges::find(sim::profiles(), name, &sim::Profile::name) != sim::profiles().end();
}

std::vector<std::pair<std::string, std::string>> simulated_profiles() {
  return list_of(sim::profiles(), [](const sim::Profile& p) { return std::pair(p.name, p.description); });
}

}  // namespace xferbench
