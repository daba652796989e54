// Whether MPI can be given the memory of a GPU. What MPI says of itself is how it was built, and where it is wrong a
// process that believes it crashes or receives nothing: so it is tried, in a process of its own.
#pragma once

#include <string>

#include "device/device.hpp"
#include "ranks/communicator.hpp"

namespace xferbench {

/// The first argument of the process that tries it, before the GPU's number.
inline constexpr const char* kGpuProbeArgument = "__mpi-gpu-probe";
/// Seconds that it may take.
inline constexpr double kGpuProbePatience = 10;

/// Starts this program once more, without what a launcher has told this one, and waits for its end. Why MPI must not
/// be given memory of the GPU of that number; empty if it can be.
std::string why_mpi_takes_no_gpu_memory(int gpu, double patience);

/// What that process does: sends memory of the GPU to itself, and looks at every byte of what arrives. The same answer.
std::string try_gpu_memory(Communicator& alone, Device& device, double patience);

}  // namespace xferbench
