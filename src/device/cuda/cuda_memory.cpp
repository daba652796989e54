#include "device/cuda/cuda_memory.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/mapped_memory.hpp"
#include "device/host.hpp"
#include "device/pages.hpp"

namespace xferbench::cuda {

namespace {

/// Like check(), but formats the message only on an error.
void check_allocation(cudaError_t status, const char* function, std::size_t bytes) {
  if (status != cudaSuccess) check(status, fmt::format("{} ({})", function, format_size(bytes)).c_str());
}

/// Like check_allocation(), for pinned memory: the message has a hint if the system limits pinning.
void check_pinning(cudaError_t status, const char* function, std::size_t bytes) {
  const std::string hint = status == cudaErrorMemoryAllocation ? pinning_hint(describe_host().kernel, bytes) : "";
  if (hint.empty()) return check_allocation(status, function, bytes);
  check(status, fmt::format("{} ({}; {})", function, format_size(bytes), hint).c_str());
}

unsigned host_alloc_flags(HostMemory kind) {
  switch (kind) {
    case HostMemory::portable: return cudaHostAllocPortable;
    case HostMemory::mapped: return cudaHostAllocMapped;
    case HostMemory::write_combined: return cudaHostAllocWriteCombined;
    default: return cudaHostAllocDefault;
  }
}

bool from_system(HostMemory kind) { return is_pageable(before_registration(kind)); }

PageSize page_size(HostMemory kind) {
  switch (before_registration(kind)) {
    case HostMemory::pageable_small: return PageSize::small;
    case HostMemory::pageable_huge: return PageSize::huge;
    case HostMemory::pageable_hugetlb: return PageSize::reserved;
    default: return PageSize::usual;
  }
}

/// Rounds up to whole huge pages, because the system would use small pages for a partial one at the end.
std::size_t mapped_bytes(std::size_t bytes, HostMemory kind) {
  return is_on_huge_pages(kind) ? (bytes + kHugePage - 1) / kHugePage * kHugePage : bytes;
}

void* allocate_by_cuda(const OpenedGpu& gpu, std::size_t bytes, HostMemory kind) {
  void* data = nullptr;
  if (kind == HostMemory::managed) {
    check_allocation(cudaMallocManaged(&data, bytes), "cudaMallocManaged", bytes);
  } else if (kind == HostMemory::pinned && gpu.alone()) {
    check_pinning(cudaMallocHost(&data, bytes), "cudaMallocHost", bytes);
  } else {
    const unsigned for_all = gpu.alone() ? 0 : cudaHostAllocPortable;
    check_pinning(cudaHostAlloc(&data, bytes, host_alloc_flags(kind) | for_all), "cudaHostAlloc", bytes);
  }
  return data;
}

/// Pins memory in place. `flags`: added to those that the number of GPUs requires. Throws UnavailableError if the
/// system cannot do that, for example on Jetson or with confidential computing.
void register_memory(const OpenedGpu& gpu, std::byte* data, std::size_t bytes, unsigned flags = 0) {
  flags |= gpu.alone() ? cudaHostRegisterDefault : cudaHostRegisterPortable;
  const cudaError_t status = cudaHostRegister(data, bytes, flags);
  int supported = 1;
  if (status != cudaSuccess &&
      cudaDeviceGetAttribute(&supported, cudaDevAttrHostRegisterSupported, gpu.number()) == cudaSuccess &&
      supported == 0) {
    static_cast<void>(cudaGetLastError());  // clears the error, which is reported below
    throw UnavailableError("this system cannot pin memory in place (cudaHostRegister); choose pinned memory");
  }
  check_pinning(status, "cudaHostRegister", bytes);
}

/// Owner of memory that a CUDA call releases. The destructor first makes the memory's own GPU current, because the
/// context of the current GPU may be lost. It ignores errors, because nothing can be done about them.
template <class GiveBack>
class CudaAllocation final : public Resource {
 public:
  CudaAllocation(const OpenedGpu& gpu, const GiveBack& give_back) : gpu_(gpu), give_back_(give_back) {}
  ~CudaAllocation() override {
    gpu_.try_make_current();
    static_cast<void>(give_back_());
  }

 private:
  OpenedGpu gpu_;
  GiveBack give_back_;
};

template <class GiveBack>
std::unique_ptr<Resource> given_back(const OpenedGpu& gpu, const GiveBack& give_back) {
  return std::make_unique<CudaAllocation<GiveBack>>(gpu, give_back);
}

/// Owner of ordinary system memory, which may be pinned in place.
class SystemAllocation final : public Resource {
 public:
  SystemAllocation(const OpenedGpu& gpu, std::size_t bytes, HostMemory kind, Prefault faults)
      : gpu_(gpu), pages_(mapped_bytes(bytes, kind), page_size(kind)), pinned_(!is_pageable(kind)) {
    // Touching the pages on this thread places them on its NUMA node, whichever thread writes to them later.
    if (faults == Prefault::yes) touch_pages(pages_.data(), bytes);
    if (pinned_) register_memory(gpu, pages_.data(), bytes);
  }
  ~SystemAllocation() override {
    if (!pinned_) return;
    gpu_.try_make_current();
    static_cast<void>(cudaHostUnregister(pages_.data()));
  }
  [[nodiscard]] std::byte* data() const { return pages_.data(); }

 private:
  OpenedGpu gpu_;
  Pages pages_;
  bool pinned_;
};

/// Lets the peers access the GPU's default pool, or takes that access away.
cudaError_t share_pool(const OpenedGpu& gpu, const std::set<int>& accessing, cudaMemAccessFlags access) {
  std::vector<cudaMemAccessDesc> peers;
  for (const int peer : accessing) {
    if (peer != gpu.number()) peers.push_back({{cudaMemLocationTypeDevice, peer}, access});
  }
  cudaMemPool_t pool = nullptr;
  const cudaError_t status = cudaDeviceGetDefaultMemPool(&pool, gpu.number());
  return peers.empty() || status != cudaSuccess ? status : cudaMemPoolSetAccess(pool, peers.data(), peers.size());
}

/// Allocates from the GPU's default pool and waits until the memory is usable. The memory leaves the pool when it is
/// freed, because the default pool releases unused memory when a stream is synchronized.
DeviceBuffer allocate_pooled(const OpenedGpu& gpu, std::size_t bytes, const std::set<int>& accessing) {
  void* data = nullptr;
  const cudaError_t status = cudaMallocAsync(&data, bytes, cudaStreamLegacy);
  if (status == cudaErrorNotSupported) {
    static_cast<void>(cudaGetLastError());  // clears the error, which is reported below
    throw UnavailableError("this GPU or its driver does not support memory pools; choose memory from cudaMalloc");
  }
  check_allocation(status, "cudaMallocAsync", bytes);
  DeviceBuffer memory({static_cast<std::byte*>(data), bytes}, given_back(gpu, [gpu, data, accessing] {
                        wait_for(accessing);
                        static_cast<void>(gpu.try_make_current());
                        static_cast<void>(cudaFreeAsync(data, cudaStreamLegacy));
                        static_cast<void>(share_pool(gpu, accessing, cudaMemAccessFlagsProtNone));
                        return cudaStreamSynchronize(cudaStreamLegacy);
                      }));
  check(share_pool(gpu, accessing, cudaMemAccessFlagsProtReadWrite), "cudaMemPoolSetAccess");
  check(cudaStreamSynchronize(cudaStreamLegacy), "cudaStreamSynchronize");
  return memory;
}

}  // namespace

DeviceBuffer allocate(const OpenedGpu& gpu, std::size_t bytes, GpuMemory kind, const std::set<int>& accessing) {
  gpu.make_current();
  if (kind == GpuMemory::pooled) return allocate_pooled(gpu, bytes, accessing);
  if (kind == GpuMemory::mapped) {
    auto [data, memory] = map_memory(gpu.number(), bytes, std::nullopt, accessing);
    return {{data, bytes}, std::move(memory)};
  }
  void* data = nullptr;
  check_allocation(cudaMalloc(&data, bytes), "cudaMalloc", bytes);
  return {{static_cast<std::byte*>(data), bytes}, given_back(gpu, [data] { return cudaFree(data); })};
}

HostBuffer allocate_on_host(const OpenedGpu& gpu, std::size_t bytes, HostMemory kind, Prefault faults,
                            const std::set<int>& gpus) {
  gpu.make_current();
  const MemoryFromNode from_its_node(gpu.memory_node());
  if (from_system(kind)) {
    auto memory = std::make_unique<SystemAllocation>(gpu, bytes, kind, faults);
    const HostView view{memory->data(), bytes, kind};
    return {view, std::move(memory)};
  }
  if (kind == HostMemory::numa_mapped) {
    unsigned cpu = 0;
    unsigned node = 0;
    static_cast<void>(getcpu(&cpu, &node));  // the process runs on the node of --numa
    auto [data, memory] = map_memory(gpu.number(), bytes, gpu.memory_node().value_or(static_cast<int>(node)), gpus);
    return {{data, bytes, kind}, std::move(memory)};
  }
  void* const data = allocate_by_cuda(gpu, bytes, kind);
  const HostView view{static_cast<std::byte*>(data), bytes, kind};
  if (kind == HostMemory::managed) return {view, given_back(gpu, [data] { return cudaFree(data); })};
  return {view, given_back(gpu, [data] { return cudaFreeHost(data); })};
}

Registration pin(const OpenedGpu& gpu, const HostView& memory) {
  gpu.make_current();
  register_memory(gpu, memory.data, memory.bytes, memory.read_only ? cudaHostRegisterReadOnly : 0U);
  return given_back(gpu, [data = memory.data] { return cudaHostUnregister(data); });
}

}  // namespace xferbench::cuda
