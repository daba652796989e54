// Whether a launcher (mpirun, srun) has started this process as one of several, before MPI is asked.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace xferbench {

/// What a launcher's environment variables say.
struct Launch {
  std::string launcher;       ///< "Open MPI", "Slurm": whose variables they are
  std::optional<int> rank{};  ///< what is unknown is absent
  std::optional<int> size{};
  std::optional<int> local_rank{};  ///< among the ranks of this node
};

/// Looks a variable up; null if it is not set. As getenv.
using Variables = std::function<const char*(const char*)>;

/// Nothing where no launcher has started the process. A Slurm allocation alone is none: only a step (srun) is.
std::optional<Launch> launch_of(const Variables& variables);

}  // namespace xferbench
