// Loads MPI on demand, through the plug-in library xferbench-mpi. The program itself is not linked with MPI.
#pragma once

#include <memory>
#include <string>

#include "ranks/communicator.hpp"

namespace xferbench {

/// Loads the plug-in and starts MPI in this process. XFERBENCH_MPI names the plug-in's file. Without it, the file is
/// searched in the program's folder, in its installation (../lib/xferbench/ from there), and on the loader's paths.
/// Throws UsageError if there is no plug-in or one of another version, with one line on where it was searched and what
/// to install. Throws CommunicationError if MPI does not start.
///
/// Destroying the communicator finalizes MPI, which all ranks do together; the destructor waits kFinalizeTimeout
/// seconds for the others. It does not finalize MPI if other ranks do not respond, if an operation was abandoned, or
/// during an exception, because MPI would wait for ever. The launcher then takes the exit for a failure and ends the
/// other ranks.
std::unique_ptr<Communicator> start_mpi();
constexpr double kFinalizeTimeout = 10;

/// Returns the version of the plug-in's MPI and the plug-in's path, for example "Open MPI v4.1.4, by
/// /usr/lib/xferbench/libxferbench-mpi.so". Loads the plug-in, but does not start MPI. If loading fails, returns the
/// reason in one line.
std::string describe_mpi();

}  // namespace xferbench
