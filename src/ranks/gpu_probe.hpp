// Tests whether MPI accepts pointers to GPU memory. MPI can report only how it was built, which may be wrong. Passing
// GPU memory then crashes the process or transfers nothing, so a separate process tries it.
#pragma once

#include <string>

#include "device/device.hpp"
#include "ranks/communicator.hpp"

namespace xferbench {

/// First command-line argument of the test process; the second is the GPU's number.
inline constexpr const char* kGpuProbeArgument = "__mpi-gpu-probe";
/// Timeout of the test process in seconds.
inline constexpr double kGpuProbeTimeout = 10;

/// Starts this program again as a test process, without the launcher's environment variables, and waits up to `timeout`
/// seconds for its end. Returns why MPI must not be given memory of GPU `gpu`; empty if MPI accepts that memory.
std::string why_mpi_takes_no_gpu_memory(int gpu, double timeout);

/// Returns that reason from the test process's exit status, as waitpid() gives it, and from its output `said`.
std::string probe_result(int status, const std::string& said);

/// Runs in the test process; `alone` has only one rank. Sends GPU memory to this rank itself through MPI and checks
/// every byte received. Returns why MPI must not be given GPU memory; empty if MPI accepts that memory.
std::string try_gpu_memory(Communicator& alone, Device& device, double timeout);

}  // namespace xferbench
