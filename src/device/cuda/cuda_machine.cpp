#include "device/cuda/cuda_machine.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/spelling.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/cuda_stream.hpp"
#include "device/cuda/describe.hpp"

namespace xferbench::cuda {

namespace {

constexpr const char* kSimulateHint = "without one, add --simulate to the same command";

/// Returns the number of GPUs. Throws NoDeviceError if there is none.
std::size_t count_gpus() {
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess || count == 0) {
    int driver = 0;
    static_cast<void>(cudaDriverGetVersion(&driver));
    const std::string reason = driver == 0             ? "no NVIDIA driver is installed on this machine"
                               : status == cudaSuccess ? "no CUDA-capable device is detected"
                                                       : describe(status);
    throw NoDeviceError(fmt::format("no usable GPU: {}; {}", reason, kSimulateHint));
  }
  return static_cast<std::size_t>(count);
}

/// Throws UsageError if CUDA_LAUNCH_BLOCKING is set. The launch of the gate kernel would then block the host thread,
/// which could never open the gate.
void refuse_blocking_launches() {
  const char* value = std::getenv("CUDA_LAUNCH_BLOCKING");
  if (value == nullptr || std::string_view(value) == "0" || *value == '\0') return;
  throw UsageError(
      "CUDA_LAUNCH_BLOCKING is set: every launch would wait for its kernel, so nothing could overlap; unset it");
}

void make_context(int gpu) {
  if (const cudaError_t status = cudaSetDevice(gpu); status != cudaSuccess) {
    throw NoDeviceError(fmt::format("GPU {} cannot be used: {}; does another process use it in exclusive mode?", gpu,
                                    describe(status)));
  }
  check(cudaFree(nullptr), "creating the GPU's context");
}

/// GPUs whose contexts have been created, and the description of their host.
struct Opened {
  std::vector<OpenedGpu> gpus;
  Environment::Host host;
};

/// Makes the MIG instance that is selected by UUID visible to CUDA: by default, a process sees only the first instance.
void show_instance(const GpuSelection& selection) {
  constexpr int kKeepsOthers = 0;
  const bool is_instance = selection.named && lower_case(*selection.named).starts_with("mig-");
  if (is_instance) setenv("CUDA_VISIBLE_DEVICES", selection.named->c_str(), kKeepsOthers);
}

Opened prepare(const GpuSelection& selection, const NumaPolicy& numa) {
  refuse_blocking_launches();
  require_node(numa);
  show_instance(selection);
  const std::vector<int> numbers =
      chosen_gpus(selection, count_gpus(), [](int gpu) { return describe_gpu(gpu, Nvml()); });
  std::vector<std::optional<int>> nodes;
  for (const int number : numbers) nodes.push_back(numa_node_of(number));
  // The process is bound to a NUMA node before contexts exist, because the driver allocates its staging buffers for
  // pageable copies together with the context.
  const std::string numa_note = place_process(numa, nodes);
  const bool own_nodes = bind_each_to_own_node(numa, nodes);
  Opened opened;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::optional<int> memory_node = own_nodes ? nodes[i] : std::nullopt;
    const MemoryFromNode its_buffers(memory_node);
    make_context(numbers[i]);
    opened.gpus.emplace_back(numbers[i], static_cast<unsigned>(i), numbers.size() == 1, memory_node);
  }
  opened.host = describe_host();
  opened.host.gpu_numa_node = common_node(nodes);
  opened.host.numa_policy = to_text(numa.kind);
  opened.host.numa_note = numa_note;
  return opened;
}

/// Returns a function that makes the first GPU current in a new host thread. With several GPUs, the returned function
/// ignores errors, because a thread that uses only other GPUs must start even if the first GPU is lost.
std::function<void()> make_current_in_threads(const OpenedGpu& first) {
  return [first] {
    const cudaError_t status = cudaSetDevice(first.number());
    if (first.alone()) check(status, "cudaSetDevice");
    static_cast<void>(cudaGetLastError());
  };
}

class CudaMachine final : public Machine {
 public:
  CudaMachine(Opened opened, TraceSource trace_by)
      : gpus_(std::move(opened.gpus)),
        host_(make_current_in_threads(gpus_.front())),
        tracer_(gpus_, trace_by),
        owned_(make_devices(*this, tracer_, gpus_, opened.host)) {
    for (const std::unique_ptr<Device>& device : owned_) devices_.push_back(device.get());
    gpus_.front().make_current();
  }

  [[nodiscard]] std::span<Device* const> devices() const override { return devices_; }
  [[nodiscard]] HostRuntime& host() override { return host_; }
  [[nodiscard]] Tracer& tracer() override { return tracer_; }
  [[nodiscard]] Gate make_gate(double timeout) override { return cuda::make_gate(gpus_, timeout); }
  void place_host(std::optional<int> node) override {
    placed_.reset();  // reset first, because the new scope must find the thread's original placement
    if (node) placed_.emplace(*node);
  }

 private:
  std::vector<OpenedGpu> gpus_;
  RealHost host_;
  CudaTracer tracer_;
  std::vector<Device*> devices_;  // before owned_, because devices allocate memory while they are opened
  std::vector<std::unique_ptr<Device>> owned_;
  std::optional<OnNode> placed_;
};

}  // namespace

std::unique_ptr<Machine> open_machine(const GpuSelection& selection, const NumaPolicy& numa, TraceSource trace_by) {
  return std::make_unique<CudaMachine>(prepare(selection, numa), trace_by);
}

}  // namespace xferbench::cuda

namespace xferbench {

std::unique_ptr<Machine> open_gpus(const GpuSelection& selection, const NumaPolicy& numa) {
  return cuda::open_machine(selection, numa);
}

}  // namespace xferbench
