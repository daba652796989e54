#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <list>
#include <new>
#include <set>
#include <utility>

#include "core/error.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/cuda_machine.hpp"
#include "device/cuda/cuda_memory.hpp"
#include "device/cuda/cuda_stream.hpp"
#include "device/cuda/describe.hpp"
#include "device/cuda/health.hpp"
#include "device/cuda/loaded_kernel.hpp"
#include "device/cuda/timing_kernels.hpp"

namespace xferbench::cuda {

namespace {

class CudaDevice final : public Device {
 public:
  CudaDevice(Machine& machine, const CudaTracer& tracer, const OpenedGpu& gpu, const Environment::Host& host)
      : Device(machine, gpu.place()), tracer_(tracer), gpu_(gpu) {
    gpu_.make_current();
    const Nvml nvml;
    capabilities_ = describe_device(gpu_.number(), nvml);
    Environment& environment = capabilities_.environment;
    environment.host = host;
    kernels::preload_timing_kernels();
    if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) {
      throw NoDeviceError(
          fmt::format("GPU {} (compute capability {}) cannot run this build's kernels: {}; build xferbench for it with "
                      "the preset this-gpu",
                      gpu_.number(), environment.gpu.compute_capability, describe(status)));
    }
    if (is_on_pcie(gpu_.number())) environment.gpu.pcie = pcie_link(*this, nvml, environment.gpu.pci_bus_id);
  }
  ~CudaDevice() override {
    if (peers_.empty() || !gpu_.try_make_current()) return;
    for (const int peer : peers_) static_cast<void>(cudaDeviceDisablePeerAccess(peer));
  }

  /// Stores facts about all GPUs, which make_devices() knows only after it has created every device.
  void know_all(const std::vector<Environment::Gpu>& gpus, const std::vector<Environment::PeerLink>& links) {
    capabilities_.environment.gpus = gpus;
    capabilities_.environment.links = links;
  }

  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }

  [[nodiscard]] MemoryInfo memory() override {
    gpu_.make_current();
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return {free, total};
  }

  [[nodiscard]] bool usable() noexcept override {
    const bool current = gpu_.try_make_current();
    static_cast<void>(cudaGetLastError());  // clears an error that another GPU may have left
    return current && cudaDeviceSynchronize() == cudaSuccess;
  }

  [[nodiscard]] Stream make_stream(StreamKind kind) override { return cuda::make_stream(*this, tracer_, gpu_, kind); }
  [[nodiscard]] Event make_event(EventKind kind) override { return cuda::make_event(*this, gpu_, kind); }

  using Device::allocate_device;
  [[nodiscard]] DeviceBuffer allocate_device(std::size_t bytes, GpuMemory kind) override {
    return allocate(gpu_, bytes, kind, accessing_);
  }
  [[nodiscard]] HostBuffer allocate_host(std::size_t bytes, HostMemory kind, Prefault faults) override {
    std::set<int> all{gpu_.number()};  // while devices are being opened, the machine has none yet
    for (const Device* device : machine().devices()) all.insert(static_cast<const CudaDevice*>(device)->gpu_.number());
    return allocate_on_host(gpu_, bytes, kind, faults, all);
  }
  [[nodiscard]] Registration register_host(const HostView& memory) override { return pin(gpu_, memory); }
  void set_peer_access(Device& peer, bool on) override;

  void copy_blocking(const Copy& copy) override { cuda::copy_blocking(gpu_, copy, tracer_); }
  void synchronize() override {
    gpu_.make_current();
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  void set_wait_policy(WaitPolicy policy) override {
    unsigned flags = cudaDeviceScheduleAuto;
    if (policy == WaitPolicy::spin) flags = cudaDeviceScheduleSpin;
    if (policy == WaitPolicy::yield) flags = cudaDeviceScheduleYield;
    if (policy == WaitPolicy::blocking) flags = cudaDeviceScheduleBlockingSync;
    gpu_.make_current();
    check(cudaSetDeviceFlags(flags), "cudaSetDeviceFlags");
  }

  void preload(const Kernel& kernel) override {
    gpu_.make_current();
    kernel.preload();
    check(cudaGetLastError(), "loading a kernel");
  }

  [[nodiscard]] std::optional<KernelResources> resources(const Kernel& kernel) override {
    gpu_.make_current();
    const auto resources = kernel.resources();
    check(cudaGetLastError(), "querying a kernel's resources");
    return resources;
  }

  const LoadedKernel& load_kernel(const KernelSource& source) override {
    const auto known = std::ranges::find(own_kernels_, source, &decltype(own_kernels_)::value_type::first);
    if (known != own_kernels_.end()) return *known->second;
    gpu_.make_current();
    return *own_kernels_.emplace_back(source, cuda::load_kernel(gpu_, source)).second;
  }

  std::size_t reserve_device_launches(std::size_t pending) override {
    gpu_.make_current();
    check(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, pending),
          fmt::format("cudaDeviceSetLimit (room for {} pending launches from the device)", pending).c_str());
    return reserved_device_launches();
  }

  [[nodiscard]] std::size_t reserved_device_launches() const override {
    gpu_.make_current();
    std::size_t room = 0;
    check(cudaDeviceGetLimit(&room, cudaLimitDevRuntimePendingLaunchCount), "cudaDeviceGetLimit");
    return room;
  }

  [[nodiscard]] std::optional<double> sm_clock_hz() override;
  [[nodiscard]] ClockRelation relate_clocks() override;
  [[nodiscard]] Health health() noexcept override { return health_.look(); }
  [[nodiscard]] Clocks clocks() noexcept override { return health_.clocks(); }
  [[nodiscard]] std::optional<LinkBytes> link_bytes() noexcept override { return health_.link_bytes(); }

 private:
  [[nodiscard]] std::optional<ClockRelation> request_timer();

  const CudaTracer& tracer_;
  OpenedGpu gpu_;
  std::set<int> peers_;                        // CUDA indices of the GPUs whose memory this GPU can access
  std::set<int> accessing_ = {gpu_.number()};  // CUDA indices of the GPUs that can access this GPU's memory
  Capabilities capabilities_;
  std::list<std::pair<KernelSource, std::unique_ptr<LoadedKernel>>> own_kernels_;
  HealthMonitor health_{pci_bus_id(gpu_.number())};
};

// --- Peer access ----------------------------------------------------------------------------------------------------

void CudaDevice::set_peer_access(Device& peer, bool on) {
  auto& other = static_cast<CudaDevice&>(peer);
  const int number = other.gpu_.number();
  if (peers_.contains(number) == on) return;
  gpu_.make_current();
  const cudaError_t status = on ? cudaDeviceEnablePeerAccess(number, 0) : cudaDeviceDisablePeerAccess(number);
  // Other code in this process may have changed peer access of this GPU already.
  if (status == (on ? cudaErrorPeerAccessAlreadyEnabled : cudaErrorPeerAccessNotEnabled)) {
    static_cast<void>(cudaGetLastError());
  } else {
    check(status, fmt::format("{} (of GPU {} to the memory of GPU {})",
                              on ? "cudaDeviceEnablePeerAccess" : "cudaDeviceDisablePeerAccess", gpu_.number(), number)
                      .c_str());
  }
  const auto set = [on](std::set<int>& gpus, int gpu) {
    on ? static_cast<void>(gpus.insert(gpu)) : static_cast<void>(gpus.erase(gpu));
  };
  set(peers_, number);
  set(other.accessing_, gpu_.number());
}

// --- Clocks ---------------------------------------------------------------------------------------------------------

std::optional<double> CudaDevice::sm_clock_hz() {
  constexpr std::uint64_t kDurationNs = 100'000;
  const HostBuffer buffer = Device::allocate_host(2 * sizeof(std::uint64_t), HostMemory::pinned);
  auto* sample = reinterpret_cast<std::uint64_t*>(buffer.data);
  const Stream stream = make_stream(StreamKind::nonblocking);
  gpu_.make_current();
  kernels::launch_clock_probe(sample, kDurationNs, native(stream));
  check(cudaGetLastError(), "launching the clock probe");
  stream.synchronize();
  if (sample[1] == 0) return std::nullopt;
  return static_cast<double>(sample[0]) / static_cast<double>(sample[1]) * 1e9;
}

/// Relates the GPU's timer to the host's clock: the host asks a running kernel for the time, through pinned memory.
/// Returns nothing if the GPU did not answer in time. The kernel has ended on return.
std::optional<ClockRelation> CudaDevice::request_timer() {
  constexpr std::uint32_t kRounds = 32;
  constexpr std::uint64_t kTimeoutNs = 100'000'000;
  const HostBuffer memory = Device::allocate_host(sizeof(kernels::ClockExchange), HostMemory::mapped);
  auto* exchange = new (memory.data) kernels::ClockExchange();
  const Stream stream = make_stream(StreamKind::nonblocking);
  gpu_.make_current();
  kernels::launch_clock_exchange(exchange, 1, kRounds, kTimeoutNs, native(stream));
  check(cudaGetLastError(), "launching the clock exchange");

  // The kernel reads the timer between question and answer, so the shortest exchange has the smallest uncertainty.
  ClockRelation best;
  best.uncertainty = std::numeric_limits<double>::infinity();
  bool answers = true;
  for (std::uint32_t round = 1; round <= kRounds && answers; ++round) {
    const double asked = host().now();
    std::atomic_ref(exchange->asked).store(round, std::memory_order_release);
    while (answers && std::atomic_ref(exchange->answered).load(std::memory_order_acquire) != round) {
      answers = host().now() - asked <= 1e-9 * kTimeoutNs;
    }
    const double answered = host().now();
    if (!answers || (answered - asked) / 2 >= best.uncertainty) continue;
    best = {std::atomic_ref(exchange->nanoseconds).load(), (asked + answered) / 2, (answered - asked) / 2};
  }
  // After a timeout, the kernel ends by itself.
  stream.synchronize();
  return answers ? std::optional(best) : std::nullopt;
}

ClockRelation CudaDevice::relate_clocks() {
  constexpr int kMostAttempts = 5;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    if (const auto relation = request_timer()) return *relation;
  }
  throw DeviceError("synchronising the clocks of host and GPU",
                    "the GPU did not answer within 0.1 s, five times in a row");
}

}  // namespace

std::vector<std::unique_ptr<Device>> make_devices(Machine& machine, const CudaTracer& tracer,
                                                  std::span<const OpenedGpu> gpus, const Environment::Host& host) {
  std::vector<std::unique_ptr<CudaDevice>> made;
  std::vector<Environment::Gpu> facts;
  for (const OpenedGpu& gpu : gpus) {
    made.push_back(std::make_unique<CudaDevice>(machine, tracer, gpu, host));
    facts.push_back(made.back()->capabilities().environment.gpu);
  }
  std::vector<std::unique_ptr<Device>> devices;
  const std::vector<Environment::PeerLink> links = peer_links(facts, Nvml());
  for (std::unique_ptr<CudaDevice>& device : made) {
    if (facts.size() > 1) device->know_all(facts, links);
    devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace xferbench::cuda
