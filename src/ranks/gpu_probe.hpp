// Tests whether MPI accepts GPU memory. MPI reports only how it was built. Where that is wrong, a process that relies
// on it crashes or receives nothing, so a separate process tries it.
#pragma once

#include <string>

#include "device/device.hpp"
#include "ranks/communicator.hpp"

namespace xferbench {

/// First argument of the test process, before the GPU's number.
inline constexpr const char* kGpuProbeArgument = "__mpi-gpu-probe";
/// Timeout of the test process in seconds.
inline constexpr double kGpuProbeTimeout = 10;

/// Starts this program again, without the launcher's environment variables, and waits up to `timeout` seconds for its
/// end. Returns why MPI must not be given memory of GPU `gpu`; empty if it accepts it.
std::string why_mpi_takes_no_gpu_memory(int gpu, double timeout);

/// The work of the test process: sends GPU memory to itself and checks every byte received. Returns why MPI must not be
/// given GPU memory; empty if it accepts it.
std::string try_gpu_memory(Communicator& alone, Device& device, double timeout);

}  // namespace xferbench
