// MPI, through the plug-in xferbench-mpi, which is loaded only here and only when it is asked for.
#pragma once

#include <memory>
#include <string>

#include "ranks/communicator.hpp"

namespace xferbench {

/// Loads the plug-in and starts MPI in this process: XFERBENCH_MPI names its file; else it is looked for where the
/// program is, beside its libraries (../lib/xferbench/), and where the loader looks. Throws UsageError with one line
/// that says where it was looked for and what to install if there is none, or if it is of another version;
/// CommunicationError if MPI does not start. Destroying what is returned ends MPI, which waits for all ranks.
std::unique_ptr<Communicator> start_mpi();

}  // namespace xferbench
