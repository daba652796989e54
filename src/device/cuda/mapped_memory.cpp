#include "device/cuda/mapped_memory.hpp"

#include <cuda.h>
#include <fmt/format.h>

#include <vector>

#include "core/error.hpp"
#include "core/units.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/driver_function.hpp"

namespace xferbench::cuda {

void wait_for(const std::set<int>& gpus) noexcept {
  for (const int gpu : gpus) {
    if (cudaSetDevice(gpu) == cudaSuccess) static_cast<void>(cudaDeviceSynchronize());
  }
  static_cast<void>(cudaGetLastError());
}

#if CUDART_VERSION >= 12080

namespace {

/// CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, which older headers and drivers lack.
constexpr auto kHostMapping = static_cast<CUdevice_attribute>(141);

/// Calls a function of the driver, as of CUDA 12.2, which introduced memory of the host's NUMA nodes.
template <class Function, class... Arguments>
cudaError_t call(const char* name, const Arguments&... arguments) {
  Function* const function = driver_function<Function>(name, 12020);
  // Errors of driver and runtime have the same numbers.
  return function == nullptr ? cudaErrorNotSupported : static_cast<cudaError_t>(function(arguments...));
}

class DriverMapping final : public Resource {
 public:
  DriverMapping(std::size_t bytes, const std::set<int>& accessing) : bytes_(bytes), accessing_(accessing) {}
  /// Releases what has been taken, also if map() failed half-way.
  ~DriverMapping() override {
    if (mapped_) wait_for(accessing_);
    if (mapped_) static_cast<void>(call<decltype(cuMemUnmap)>("cuMemUnmap", address_, bytes_));
    if (address_ != 0) static_cast<void>(call<decltype(cuMemAddressFree)>("cuMemAddressFree", address_, bytes_));
    if (memory_ != 0) static_cast<void>(call<decltype(cuMemRelease)>("cuMemRelease", memory_));
  }

  std::byte* map(const CUmemLocation& place) {
    const bool on_host = place.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
    CUmemAllocationProp what{};
    what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.location = place;
    std::size_t step = 1;
    call_checked<decltype(cuMemGetAllocationGranularity)>("cuMemGetAllocationGranularity", &step, &what,
                                                          CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    bytes_ = (bytes_ + step - 1) / step * step;
    const cudaError_t created = call<decltype(cuMemCreate)>("cuMemCreate", &memory_, bytes_, &what, 0ULL);
    if (created != cudaSuccess && on_host) {
      throw UnavailableError(fmt::format(
          "the driver refuses {} on NUMA node {} (cuMemCreate: {}); in a container it needs --cap-add SYS_NICE, and "
          "the node needs that much free memory; or choose pinned memory",
          format_size(bytes_), place.id, describe(created)));
    }
    check_call(created, "cuMemCreate");
    call_checked<decltype(cuMemAddressReserve)>("cuMemAddressReserve", &address_, bytes_, 0U, CUdeviceptr{0}, 0ULL);
    call_checked<decltype(cuMemMap)>("cuMemMap", address_, bytes_, 0U, memory_, 0ULL);
    mapped_ = true;
    std::vector<CUmemAccessDesc> access;
    for (const int gpu : accessing_) {
      access.push_back({{CU_MEM_LOCATION_TYPE_DEVICE, gpu}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
    }
    if (on_host) access.push_back({place, CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
    call_checked<decltype(cuMemSetAccess)>("cuMemSetAccess", address_, bytes_, access.data(), access.size());
    return reinterpret_cast<std::byte*>(address_);
  }

 private:
  void check_call(cudaError_t status, const char* function) const {
    if (status != cudaSuccess) check(status, fmt::format("{} ({})", function, format_size(bytes_)).c_str());
  }
  template <class Function, class... Arguments>
  void call_checked(const char* name, const Arguments&... arguments) const {
    check_call(call<Function>(name, arguments...), name);
  }

  std::size_t bytes_;  // a multiple of the granularity, once it is known
  std::set<int> accessing_;
  CUmemGenericAllocationHandle memory_ = 0;
  CUdeviceptr address_ = 0;
  bool mapped_ = false;
};

}  // namespace

Mapping map_memory(int gpu, std::size_t bytes, std::optional<int> host_node, const std::set<int>& accessing) {
  int supported = 0;
  const auto which = host_node ? kHostMapping : CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED;
  const cudaError_t asked =
      call<decltype(cuDeviceGetAttribute)>("cuDeviceGetAttribute", &supported, which, CUdevice{gpu});
  // A driver that does not know the attribute shows when it is asked for memory.
  if (supported == 0 && asked != cudaErrorInvalidValue) {
    throw UnavailableError(fmt::format("this GPU or its driver cannot map memory of {} (cuMemCreate); choose {}",
                                       host_node ? "a NUMA node" : "the GPU",
                                       host_node ? "pinned memory" : "memory from cudaMalloc"));
  }
  auto memory = std::make_unique<DriverMapping>(bytes, accessing);
  CUmemLocation place{};
  place.type = host_node ? CU_MEM_LOCATION_TYPE_HOST_NUMA : CU_MEM_LOCATION_TYPE_DEVICE;
  place.id = host_node.value_or(gpu);
  std::byte* const data = memory->map(place);
  return {data, std::move(memory)};
}

#else

Mapping map_memory(int, std::size_t, std::optional<int>, const std::set<int>&) {
  throw UnavailableError("mapping memory (cuMemCreate) needs a build with CUDA 12.8 or newer");
}

#endif

}  // namespace xferbench::cuda
