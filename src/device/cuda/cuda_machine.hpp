// This machine, with some of its GPUs, through the CUDA runtime.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device/cuda/cuda_tracer.hpp"
#include "device/cuda/opened_gpu.hpp"
#include "device/host.hpp"
#include "device/machine.hpp"
#include "device/open.hpp"

namespace xferbench::cuda {

/// Places the process as `numa` says and creates a context on each of these GPUs. Throws NoDeviceError if there is no
/// such GPU, UsageError if the process cannot be placed. The first is current in the thread that opens the machine and
/// in those that its host starts; with several, that changes as they are used.
[[nodiscard]] std::unique_ptr<Machine> open_machine(const GpuSelection& selection, const NumaPolicy& numa,
                                                    TraceBy trace_by = TraceBy::cupti_or_events);

/// Of these GPUs, which have contexts. `host` is what reports say of the host. Throws NoDeviceError if one of them
/// cannot run this build's kernels.
[[nodiscard]] std::vector<std::unique_ptr<Device>> make_devices(Machine& machine, const CudaTracer& tracer,
                                                                std::span<const OpenedGpu> gpus,
                                                                const Environment::Host& host);

}  // namespace xferbench::cuda
