// This machine, with one of its GPUs, through the CUDA runtime.
#pragma once

#include <memory>

#include "device/cuda/cuda_tracer.hpp"
#include "device/host.hpp"
#include "device/machine.hpp"

namespace xferbench::cuda {

/// Places the process as `numa` says, makes the GPU of that number current and creates its context. Throws
/// NoDeviceError if there is no such GPU, UsageError if the process cannot be placed.
///
/// The GPU is current in the thread that opens the machine and in those that its host starts. With several, whatever
/// launches would first have to make its stream's GPU current; waiting for events and gates needs nothing.
[[nodiscard]] std::unique_ptr<Machine> open_machine(int gpu, const NumaPolicy& numa,
                                                    TraceBy trace_by = TraceBy::cupti_or_events);

/// The GPU is current and has a context. `host` is what reports say of the host. Throws NoDeviceError if the GPU cannot
/// run this build's kernels.
[[nodiscard]] std::unique_ptr<Device> make_device(Machine& machine, const CudaTracer& tracer, int gpu,
                                                  const Environment::Host& host);

}  // namespace xferbench::cuda
