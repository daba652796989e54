// Opens this machine with selected GPUs through the CUDA runtime.
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

/// Binds the process as `numa` says, then creates a context on each selected GPU. Throws NoDeviceError if a GPU is
/// missing, and UsageError if the process cannot be bound. The first GPU is current in the calling thread and in
/// threads that the host runtime starts; with several GPUs, later operations change the current GPU.
[[nodiscard]] std::unique_ptr<Machine> open_machine(const GpuSelection& selection, const NumaPolicy& numa,
                                                    TraceSource trace_by = TraceSource::cupti_or_events);

/// Creates the Device objects of GPUs whose contexts exist. `host` becomes part of their environment description.
/// Throws NoDeviceError if a GPU cannot run this build's kernels.
[[nodiscard]] std::vector<std::unique_ptr<Device>> make_devices(Machine& machine, const CudaTracer& tracer,
                                                                std::span<const OpenedGpu> gpus,
                                                                const Environment::Host& host);

}  // namespace xferbench::cuda
