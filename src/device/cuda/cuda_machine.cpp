#include "device/cuda/cuda_machine.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/cuda_stream.hpp"
#include "device/cuda/describe.hpp"
#include "device/host.hpp"
#include "device/open.hpp"

namespace xferbench::cuda {

namespace {

constexpr const char* kSimulateHint = "without a GPU, try: xferbench --simulate h200";

/// Throws NoDeviceError unless GPU `index` exists.
void require_gpu(int index) {
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess || count == 0) {
    int driver = 0;
    static_cast<void>(cudaDriverGetVersion(&driver));
    const std::string reason = driver == 0             ? "no NVIDIA driver is installed on this machine"
                               : status == cudaSuccess ? "no CUDA-capable device is detected"
                                                       : describe(status);
    throw NoDeviceError(fmt::format("no usable GPU: {}; {}", reason, kSimulateHint));
  }
  if (index >= count) {
    throw NoDeviceError(
        fmt::format("there is no GPU {}: this machine has {}, numbered from 0; choose another --gpu", index, count));
  }
}

/// With blocking launches the kernel that holds a stream would keep the host from ever opening the gate.
void refuse_blocking_launches() {
  const char* value = std::getenv("CUDA_LAUNCH_BLOCKING");
  if (value == nullptr || std::string_view(value) == "0" || *value == '\0') return;
  throw UsageError(
      "CUDA_LAUNCH_BLOCKING is set: every launch would wait for its kernel, and nothing could overlap; unset it");
}

/// Makes the GPU current for the calling thread and creates its context.
void make_context(int gpu) {
  if (const cudaError_t status = cudaSetDevice(gpu); status != cudaSuccess) {
    throw NoDeviceError(
        fmt::format("GPU {} cannot be used: {}; is another process holding it exclusively?", gpu, describe(status)));
  }
  check(cudaFree(nullptr), "creating the GPU's context");
}

/// What reports say of the host, once the process is placed and the GPU has its context.
Environment::Host prepare_host(int gpu, const NumaPolicy& numa) {
  refuse_blocking_launches();
  require_node(numa);
  require_gpu(gpu);
  // Before there is a context: the driver allocates the buffers that pageable copies go through with it.
  const std::optional<int> gpu_node = numa_node_of(gpu);
  const std::string numa_note = place_process(numa, gpu_node);
  make_context(gpu);
  Environment::Host host = describe_host();
  host.gpu_numa_node = gpu_node;
  host.numa_policy = to_text(numa.kind);
  host.numa_note = numa_note;
  return host;
}

class CudaMachine final : public Machine {
 public:
  CudaMachine(int gpu, const NumaPolicy& numa, TraceBy trace_by)
      : host_([gpu] { check(cudaSetDevice(gpu), "cudaSetDevice"); }),
        tracer_(trace_by),
        device_(make_device(*this, tracer_, gpu, prepare_host(gpu, numa))),
        devices_{device_.get()} {}

  [[nodiscard]] std::span<Device* const> devices() const override { return devices_; }
  [[nodiscard]] HostRuntime& host() override { return host_; }
  [[nodiscard]] Tracer& tracer() override { return tracer_; }
  [[nodiscard]] Gate make_gate(double timeout) override { return cuda::make_gate(timeout); }

 private:
  RealHost host_;
  CudaTracer tracer_;
  std::unique_ptr<Device> device_;
  std::array<Device*, 1> devices_;
};

}  // namespace

std::unique_ptr<Machine> open_machine(int gpu, const NumaPolicy& numa, TraceBy trace_by) {
  return std::make_unique<CudaMachine>(gpu, numa, trace_by);
}

}  // namespace xferbench::cuda

namespace xferbench {

std::unique_ptr<Machine> open_gpu(int index, const NumaPolicy& numa) { return cuda::open_machine(index, numa); }

}  // namespace xferbench
