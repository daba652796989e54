// Memory of every kind: what CUDA gives, and ordinary memory from the system, pinned in place where asked.
#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "core/error.hpp"
#include "core/units.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"

namespace xferbench::cuda {

namespace {

/// The text is made only when there is something to say.
void check_allocation(cudaError_t status, const char* function, std::size_t bytes) {
  if (status != cudaSuccess) check(status, fmt::format("{} ({})", function, format_size(bytes)).c_str());
}

/// Of the kinds that cudaHostAlloc makes.
unsigned host_alloc_flags(HostMemory kind) {
  switch (kind) {
    case HostMemory::portable: return cudaHostAllocPortable;
    case HostMemory::mapped: return cudaHostAllocMapped;
    case HostMemory::write_combined: return cudaHostAllocWriteCombined;
    default: return cudaHostAllocDefault;
  }
}

bool from_system(HostMemory kind) {
  return is_pageable(kind) || kind == HostMemory::registered || kind == HostMemory::registered_huge;
}

PageSize page_size(HostMemory kind) {
  switch (kind) {
    case HostMemory::pageable_small:
    case HostMemory::registered: return PageSize::small;
    case HostMemory::pageable_huge:
    case HostMemory::registered_huge: return PageSize::huge;
    default: return PageSize::usual;
  }
}

void* allocate_by_cuda(std::size_t bytes, HostMemory kind) {
  void* data = nullptr;
  if (kind == HostMemory::managed) {
    check_allocation(cudaMallocManaged(&data, bytes), "cudaMallocManaged", bytes);
  } else if (kind == HostMemory::pinned) {
    check_allocation(cudaMallocHost(&data, bytes), "cudaMallocHost", bytes);
  } else {
    check_allocation(cudaHostAlloc(&data, bytes, host_alloc_flags(kind)), "cudaHostAlloc", bytes);
  }
  return data;
}

}  // namespace

DeviceView CudaDevice::acquire_device(std::size_t bytes) {
  void* data = nullptr;
  check_allocation(cudaMalloc(&data, bytes), "cudaMalloc", bytes);
  return {static_cast<std::byte*>(data), bytes};
}

PooledRange CudaDevice::acquire_pooled(std::size_t bytes, StreamHandle stream) {
  void* data = nullptr;
  check_allocation(cudaMallocAsync(&data, bytes, static_cast<cudaStream_t>(stream.native)), "cudaMallocAsync", bytes);
  return {static_cast<std::byte*>(data), bytes, stream};
}

HostRange CudaDevice::acquire_host(std::size_t bytes, HostMemory kind, Prefault faults) {
  if (!from_system(kind)) return {static_cast<std::byte*>(allocate_by_cuda(bytes, kind)), bytes, kind};
  Pages pages(bytes, page_size(kind));
  std::byte* data = pages.data();
  // Touched here, so that the pages lie on the NUMA node of the thread that copies, whoever fills them later.
  if (faults == Prefault::yes) touch_pages(data, bytes);
  if (!is_pageable(kind))
    check_allocation(cudaHostRegister(data, bytes, cudaHostRegisterDefault), "cudaHostRegister", bytes);
  const std::lock_guard lock(pages_mutex_);
  pages_.emplace(data, std::move(pages));
  return {data, bytes, kind};
}

RegisteredRange CudaDevice::acquire_registration(const HostRange& range) {
  check_allocation(cudaHostRegister(range.data, range.bytes, cudaHostRegisterDefault), "cudaHostRegister", range.bytes);
  return {range.data, range.bytes};
}

// Releasing reports nothing: the only errors left here are those of a context that is already lost, which the case that
// lost it has reported.

void CudaDevice::release(const DeviceView& memory) noexcept { static_cast<void>(cudaFree(memory.data)); }

void CudaDevice::release(const PooledRange& memory) noexcept {
  static_cast<void>(cudaFreeAsync(memory.data, static_cast<cudaStream_t>(memory.stream.native)));
}

void CudaDevice::release(const HostRange& memory) noexcept {
  if (memory.kind == HostMemory::managed) return static_cast<void>(cudaFree(memory.data));
  if (!from_system(memory.kind)) return static_cast<void>(cudaFreeHost(memory.data));
  if (!is_pageable(memory.kind)) static_cast<void>(cudaHostUnregister(memory.data));
  const std::lock_guard lock(pages_mutex_);
  pages_.erase(memory.data);
}

void CudaDevice::release(const RegisteredRange& memory) noexcept { static_cast<void>(cudaHostUnregister(memory.data)); }

}  // namespace xferbench::cuda
