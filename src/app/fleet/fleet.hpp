// A run by several ranks under mpirun or srun.
#pragma once

#include "cli/command.hpp"
#include "ranks/launcher.hpp"

namespace xferbench::app {

/// Measures together with the other ranks. Rank 0 prints and writes files. Returns the exit code, the same on all
/// ranks. If a rank stops answering, this does not return: the process ends, because MPI could not be finalized.
int run_in_fleet(cli::RunCommand command, const Launch& launch);

}  // namespace xferbench::app
