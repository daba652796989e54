#include <cuda_runtime.h>
#include <fmt/format.h>

#include <atomic>
#include <limits>
#include <new>

#include "core/error.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/cuda_machine.hpp"
#include "device/cuda/cuda_memory.hpp"
#include "device/cuda/cuda_stream.hpp"
#include "device/cuda/describe.hpp"
#include "device/cuda/health.hpp"
#include "device/cuda/timing_kernels.hpp"

namespace xferbench::cuda {

namespace {

class CudaDevice final : public Device {
 public:
  CudaDevice(Machine& machine, const CudaTracer& tracer, int gpu, const Environment::Host& host)
      : Device(machine), tracer_(tracer), gpu_(gpu) {
    const Nvml nvml;
    capabilities_ = describe_device(gpu, nvml);
    Environment& environment = capabilities_.environment;
    environment.host = host;
    kernels::preload_timing_kernels();
    if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) {
      throw NoDeviceError(
          fmt::format("GPU {} (compute capability {}) cannot run this build's kernels: {}; build for it with "
                      "the preset this-gpu",
                      gpu, environment.gpu.compute_capability, describe(status)));
    }
    environment.gpu.pcie = pcie_link(*this, nvml, environment.gpu.pci_bus_id);
  }

  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }

  [[nodiscard]] MemoryInfo memory() override {
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return {free, total};
  }

  [[nodiscard]] bool usable() noexcept override {
    static_cast<void>(cudaGetLastError());
    return cudaDeviceSynchronize() == cudaSuccess;
  }

  [[nodiscard]] Stream make_stream(StreamKind kind) override { return cuda::make_stream(*this, tracer_, gpu_, kind); }
  [[nodiscard]] Event make_event(EventKind kind) override { return cuda::make_event(*this, kind); }

  [[nodiscard]] DeviceBuffer allocate_device(std::size_t bytes) override { return allocate(bytes); }
  [[nodiscard]] HostBuffer allocate_host(std::size_t bytes, HostMemory kind, Prefault faults) override {
    return allocate_on_host(bytes, kind, faults);
  }
  [[nodiscard]] Registration register_host(const HostView& memory) override { return pin(memory); }

  void copy_blocking(const Copy& copy) override { cuda::copy_blocking(copy, tracer_); }
  void synchronize() override { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

  void set_wait_policy(WaitPolicy policy) override {
    unsigned flags = cudaDeviceScheduleAuto;
    if (policy == WaitPolicy::spin) flags = cudaDeviceScheduleSpin;
    if (policy == WaitPolicy::yield) flags = cudaDeviceScheduleYield;
    if (policy == WaitPolicy::blocking) flags = cudaDeviceScheduleBlockingSync;
    check(cudaSetDeviceFlags(flags), "cudaSetDeviceFlags");
  }

  void preload(const Kernel& kernel) override {
    kernel.preload();
    check(cudaGetLastError(), "loading a kernel");
  }

  [[nodiscard]] std::optional<KernelResources> resources(const Kernel& kernel) override {
    const auto resources = kernel.resources();
    check(cudaGetLastError(), "asking for a kernel's resources");
    return resources;
  }

  std::size_t reserve_device_launches(std::size_t pending) override {
    check(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, pending),
          fmt::format("cudaDeviceSetLimit (room for {} pending launches from the device)", pending).c_str());
    return reserved_device_launches();
  }

  [[nodiscard]] std::size_t reserved_device_launches() const override {
    std::size_t room = 0;
    check(cudaDeviceGetLimit(&room, cudaLimitDevRuntimePendingLaunchCount), "cudaDeviceGetLimit");
    return room;
  }

  [[nodiscard]] std::optional<double> sm_clock_hz() override;
  [[nodiscard]] ClockRelation relate_clocks() override;
  [[nodiscard]] Health health() noexcept override { return health_.look(); }

 private:
  [[nodiscard]] std::optional<ClockRelation> ask_for_its_timer();

  const CudaTracer& tracer_;
  int gpu_;
  Capabilities capabilities_;
  HealthMonitor health_{pci_bus_id(gpu_)};
};

// --- Clocks ---------------------------------------------------------------------------------------------------------

std::optional<double> CudaDevice::sm_clock_hz() {
  constexpr std::uint64_t kDurationNs = 100'000;
  const HostBuffer buffer = Device::allocate_host(2 * sizeof(std::uint64_t), HostMemory::pinned);
  auto* sample = reinterpret_cast<std::uint64_t*>(buffer.data);
  const Stream stream = make_stream(StreamKind::nonblocking);
  kernels::launch_clock_probe(sample, kDurationNs, native(stream));
  check(cudaGetLastError(), "launching the clock probe");
  stream.synchronize();
  if (sample[1] == 0) return std::nullopt;
  return static_cast<double>(sample[0]) / static_cast<double>(sample[1]) * 1e9;
}

/// By question and answer through pinned memory; nothing if the GPU did not answer in time, as where the host or the
/// GPU was kept from it. Leaves no kernel behind that waits for questions.
std::optional<ClockRelation> CudaDevice::ask_for_its_timer() {
  constexpr std::uint32_t kRounds = 32;
  constexpr std::uint64_t kTimeoutNs = 100'000'000;
  const HostBuffer memory = Device::allocate_host(sizeof(kernels::ClockExchange), HostMemory::mapped);
  auto* exchange = new (memory.data) kernels::ClockExchange();
  const Stream stream = make_stream(StreamKind::nonblocking);
  kernels::launch_clock_exchange(exchange, 1, kRounds, kTimeoutNs, native(stream));
  check(cudaGetLastError(), "launching the clock exchange");

  // The timer was read between question and answer; the quickest round pins it down best.
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
  // A kernel that has not been answered in time has given up by itself, or will.
  stream.synchronize();
  return answers ? std::optional(best) : std::nullopt;
}

ClockRelation CudaDevice::relate_clocks() {
  constexpr int kMostAttempts = 5;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    if (const auto relation = ask_for_its_timer()) return *relation;
  }
  throw DeviceError("relating the clocks", "the GPU did not answer within 0.1 s, five times in a row");
}

}  // namespace

std::unique_ptr<Device> make_device(Machine& machine, const CudaTracer& tracer, int gpu,
                                    const Environment::Host& host) {
  return std::make_unique<CudaDevice>(machine, tracer, gpu, host);
}

}  // namespace xferbench::cuda
