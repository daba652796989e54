#include "device/cuda/describe.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <fstream>

#include "core/spelling.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/cuda_stream.hpp"
#include "device/topology.hpp"

namespace xferbench::cuda {

namespace {

int attribute(cudaDeviceAttr which, int index) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, index), "cudaDeviceGetAttribute");
  return value;
}

std::string format_uuid(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

std::string format_version(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

/// Adds NVLink and MIG properties from NVML. A MIG instance has no NVLinks of its own.
void describe_links(Environment::Gpu& gpu, const Nvml& nvml) {
  const auto handle = nvml.device(gpu.pci_bus_id);
  if (!handle) return;
  gpu.mig = nvml.is_divided(*handle);
  if (gpu.mig) {
    // For a MIG instance, CUDA may report the UUID of the whole GPU. Only an instance's UUID gets the prefix MIG.
    if (gpu.uuid != nvml.uuid(*handle)) gpu.uuid.replace(0, 3, "MIG");
    return;
  }
  gpu.nvlinks = static_cast<unsigned>(nvml.nvlinks(*handle).size());
  gpu.nvlink_bandwidth = nvml.nvlink_bandwidth(*handle);
}

}  // namespace

Environment::Gpu describe_gpu(int index, const Nvml& nvml) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
  Environment::Gpu gpu;
  gpu.name = properties.name;
  gpu.index = index;
  gpu.uuid = format_uuid(properties.uuid);
  gpu.pci_bus_id = pci_bus_id(index);
  gpu.compute_capability = fmt::format("{}.{}", properties.major, properties.minor);
  gpu.multiprocessors = static_cast<unsigned>(properties.multiProcessorCount);
  gpu.memory_bytes = properties.totalGlobalMem;
  gpu.l2_bytes = static_cast<std::uint64_t>(properties.l2CacheSize);
  gpu.copy_engines = static_cast<unsigned>(properties.asyncEngineCount);
  gpu.max_sm_clock_hz = 1e3 * attribute(cudaDevAttrClockRate, index);
  // The factor 2 is for double-data-rate memory, which makes two transfers per clock.
  gpu.memory_bandwidth =
      2e3 * attribute(cudaDevAttrMemoryClockRate, index) * attribute(cudaDevAttrGlobalMemoryBusWidth, index) / 8;
  gpu.ecc = properties.ECCEnabled != 0;
  gpu.numa_node = numa_node_of(index);
  gpu.bridges = bridges_above(sysfs_folder(gpu.pci_bus_id));
  gpu.confidential = nvml.is_confidential();
  describe_links(gpu, nvml);
  return gpu;
}

namespace {

Multiprocessor describe_multiprocessor(int index) {
  const auto number = [index](cudaDeviceAttr which) { return static_cast<unsigned>(attribute(which, index)); };
  return {
      .compute_capability = 10 * number(cudaDevAttrComputeCapabilityMajor) + number(cudaDevAttrComputeCapabilityMinor),
      .shared_per_block = number(cudaDevAttrMaxSharedMemoryPerBlockOptin),
      .shared_in_all = number(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
      .shared_reserved = number(cudaDevAttrReservedSharedMemoryPerBlock),
      .threads = number(cudaDevAttrMaxThreadsPerMultiProcessor)};
}

Environment::PeerLink describe_way(const Environment::Gpu& from, const Environment::Gpu& to, const Nvml& nvml) {
  Environment::PeerLink link{.from = from.index.value(), .to = to.index.value()};
  int access = 0;
  check(cudaDeviceCanAccessPeer(&access, link.from, link.to), "cudaDeviceCanAccessPeer");
  link.access = access != 0;
  int atomics = 0;
  check(cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, link.from, link.to),
        "cudaDeviceGetP2PAttribute");
  link.atomics = link.access && atomics != 0;
  const auto one = nvml.device(from.pci_bus_id);
  const auto other = nvml.device(to.pci_bus_id);
  if (!one || !other || from.nvlinks == 0 || to.nvlinks == 0) return link;
  link.nvlinks =
      nvlinks_between(nvml.nvlinks(*one), nvml.nvlinks(*other), to.pci_bus_id, nvml.reachable_by_nvlink(*one, *other));
  link.bandwidth = from.nvlink_bandwidth / from.nvlinks * link.nvlinks;
  return link;
}

std::string describe_driver(const Nvml& nvml) {
  int version = 0;
  check(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
  const std::string release = nvml.driver();
  const std::string cuda = "CUDA " + format_version(version);
  return release.empty() ? cuda : fmt::format("{} ({})", release, cuda);
}

std::string describe_runtime() {
  int version = 0;
  check(cudaRuntimeGetVersion(&version), "cudaRuntimeGetVersion");
  return format_version(version);
}

}  // namespace

std::string pci_bus_id(int gpu) {
  char text[32] = {};
  check(cudaDeviceGetPCIBusId(text, sizeof(text), gpu), "cudaDeviceGetPCIBusId");
  return text;
}

bool is_on_pcie(int gpu) {
  return attribute(cudaDevAttrIntegrated, gpu) == 0 &&
         attribute(cudaDevAttrPageableMemoryAccessUsesHostPageTables, gpu) == 0;
}

std::string sysfs_folder(const std::string& pci_bus_id) { return "/sys/bus/pci/devices/" + lower_case(pci_bus_id); }

std::optional<int> numa_node_of(int gpu) {
  int node = -1;
  std::ifstream(sysfs_folder(pci_bus_id(gpu)) + "/numa_node") >> node;
  return node < 0 ? std::nullopt : std::optional(node);
}

std::vector<Environment::PeerLink> peer_links(std::span<const Environment::Gpu> gpus, const Nvml& nvml) {
  std::vector<Environment::PeerLink> links;
  for (const Environment::Gpu& from : gpus) {
    for (const Environment::Gpu& to : gpus) {
      if (&from != &to) links.push_back(describe_way(from, to, nvml));
    }
  }
  return links;
}

Capabilities describe_device(int gpu, const Nvml& nvml) {
  Capabilities c;
  c.managed_memory = attribute(cudaDevAttrConcurrentManagedAccess, gpu) != 0;
  c.pageable_access = attribute(cudaDevAttrPageableMemoryAccess, gpu) != 0;
  c.batch_copies = supports_batch_copies();
  c.multiprocessor = describe_multiprocessor(gpu);
  c.environment.backend = "cuda";
  c.environment.gpu = describe_gpu(gpu, nvml);
  c.environment.driver = describe_driver(nvml);
  c.environment.runtime = describe_runtime();
  return c;
}

}  // namespace xferbench::cuda
