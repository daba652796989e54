// A run of several MPI ranks, started by mpirun or srun.
#pragma once

#include "cli/command.hpp"
#include "ranks/launcher.hpp"

namespace xferbench::app {

/// Measures together with the other MPI ranks; rank 0 prints and writes the files. Returns the exit code, which is the
/// same on all ranks. If a rank stops answering, the process ends, because MPI could not be finalized.
int run_in_fleet(cli::RunCommand command, const Launch& launch);

}  // namespace xferbench::app
