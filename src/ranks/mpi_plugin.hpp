// MPI, through the plug-in xferbench-mpi, which is loaded only here and only when it is asked for.
#pragma once

#include <memory>
#include <string>

#include "ranks/communicator.hpp"

namespace xferbench {

/// Loads the plug-in and starts MPI in this process: XFERBENCH_MPI names its file; else it is looked for where the
/// program is, where it is installed (../lib/xferbench/ from there), and where the loader looks. Throws UsageError with
/// one line that says where it was looked for and what to install if there is none, or if it is of another version;
/// CommunicationError if MPI does not start.
///
/// Destroying what is returned ends MPI, which all ranks do together: it waits for the others for kLeavingPatience
/// seconds. Where they do not come, where an operation was given up, and while an exception is on its way, MPI is left
/// as it is, because ending it would wait for ever. The launcher then takes the end of the process for a failure, and
/// ends the others.
std::unique_ptr<Communicator> start_mpi();
constexpr double kLeavingPatience = 10;

/// Which MPI the plug-in is for, and where both are: "Open MPI v4.1.4, by /usr/lib/xferbench/libxferbench-mpi.so".
/// Loads it and starts nothing; where that fails, why, in one line.
std::string describe_mpi();

}  // namespace xferbench
