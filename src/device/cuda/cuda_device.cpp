#include "device/cuda/cuda_device.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <memory>

#include "core/error.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/cuda_memory.hpp"
#include "device/cuda/cuda_stream.hpp"
#include "device/cuda/describe.hpp"
#include "device/cuda/gate.hpp"
#include "device/cuda/stamp.hpp"

namespace xferbench::cuda {

CudaDevice::CudaDevice(Machine& machine, CudaTracer& tracer, int index, const Environment::Host& host)
    : Device(machine), tracer_(tracer), index_(index), capabilities_(describe_device(index)) {
  capabilities_.environment.host = host;
  kernels::preload_gate();
  kernels::preload_stamp();
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) {
    throw NoDeviceError(
        fmt::format("GPU {} (compute capability {}) cannot run this build's kernels: {}; build for it with "
                    "the preset this-gpu",
                    index, capabilities_.environment.gpu.compute_capability, describe(status)));
  }
}

MemoryInfo CudaDevice::memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return {free, total};
}

bool CudaDevice::usable() noexcept {
  static_cast<void>(cudaGetLastError());
  return cudaDeviceSynchronize() == cudaSuccess;
}

// --- Streams, events and memory -------------------------------------------------------------------------------------

Stream CudaDevice::make_stream(StreamKind kind) {
  return owned<StreamView>(std::make_unique<CudaStream>(*this, tracer_, kind));
}

Event CudaDevice::make_event(EventKind kind) { return owned<EventView>(std::make_unique<CudaEvent>(*this, kind)); }

DeviceBuffer CudaDevice::allocate_device(std::size_t bytes) { return allocate(bytes); }

HostBuffer CudaDevice::allocate_host(std::size_t bytes, HostMemory kind, Prefault faults) {
  return allocate_on_host(bytes, kind, faults);
}

Registration CudaDevice::register_host(const HostView& memory) { return pin(memory); }

// --- Work and waiting -----------------------------------------------------------------------------------------------

void CudaDevice::copy_blocking(const Copy& copy) { cuda::copy_blocking(copy, tracer_); }

void CudaDevice::synchronize() { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

void CudaDevice::set_wait_policy(WaitPolicy policy) {
  unsigned flags = cudaDeviceScheduleAuto;
  if (policy == WaitPolicy::spin) flags = cudaDeviceScheduleSpin;
  if (policy == WaitPolicy::yield) flags = cudaDeviceScheduleYield;
  if (policy == WaitPolicy::blocking) flags = cudaDeviceScheduleBlockingSync;
  check(cudaSetDeviceFlags(flags), "cudaSetDeviceFlags");
}

// --- Kernels --------------------------------------------------------------------------------------------------------

void CudaDevice::preload(const Kernel& kernel) {
  kernel.preload();
  check(cudaGetLastError(), "loading a kernel");
}

std::optional<KernelResources> CudaDevice::resources(const Kernel& kernel) {
  const auto resources = kernel.resources();
  check(cudaGetLastError(), "asking for a kernel's resources");
  return resources;
}

std::size_t CudaDevice::reserve_device_launches(std::size_t pending) {
  check(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, pending),
        fmt::format("cudaDeviceSetLimit (room for {} pending launches from the device)", pending).c_str());
  return reserved_device_launches();
}

std::size_t CudaDevice::reserved_device_launches() const {
  std::size_t room = 0;
  check(cudaDeviceGetLimit(&room, cudaLimitDevRuntimePendingLaunchCount), "cudaDeviceGetLimit");
  return room;
}

}  // namespace xferbench::cuda
