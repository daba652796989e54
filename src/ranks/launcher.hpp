// Finds out, before MPI is started, whether a launcher (mpirun, srun) started this process as one of several.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace xferbench {

/// What the launcher's environment variables say about this process.
struct Launch {
  std::string launcher;       ///< name of the launcher, for example "Open MPI" or "Slurm"
  std::optional<int> rank{};  ///< rank of this process; absent if unknown
  std::optional<int> size{};
  std::optional<int> local_rank{};  ///< index among the ranks of this node
};

/// A function that returns the value of an environment variable, or null if it is not set, as getenv does.
using Variables = std::function<const char*(const char*)>;

/// Returns how a launcher started this process; nullopt without a launcher. A Slurm allocation (salloc, sbatch) alone
/// does not count, only a Slurm step (srun).
std::optional<Launch> launch_of(const Variables& variables);

}  // namespace xferbench
