// Finds out, before MPI is started, whether a launcher (mpirun, srun) started this process as one of several.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace xferbench {

/// What a launcher's environment variables say.
struct Launch {
  std::string launcher;       ///< name of the launcher, for example "Open MPI" or "Slurm"
  std::optional<int> rank{};  ///< nothing if unknown
  std::optional<int> size{};
  std::optional<int> local_rank{};  ///< number among the ranks of this node
};

/// Returns an environment variable; null if it is not set, as getenv does.
using Variables = std::function<const char*(const char*)>;

/// Nothing if no launcher started the process. A Slurm allocation alone does not count, only a step (srun).
std::optional<Launch> launch_of(const Variables& variables);

}  // namespace xferbench
