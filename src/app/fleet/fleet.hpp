// A run under mpirun or srun.
#pragma once

#include "cli/command.hpp"
#include "ranks/launcher.hpp"

namespace xferbench::app {

/// Measures together with the other ranks. Rank 0 prints and writes files. Returns the exit code, the same on all
/// ranks; where one of them does not answer any more, this does not return: the process ends, since MPI could not.
int run_in_fleet(cli::RunCommand command, const Launch& launch);

}  // namespace xferbench::app
