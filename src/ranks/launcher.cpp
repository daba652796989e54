#include "ranks/launcher.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace xferbench {

namespace {

/// Returns the variable's value as a number of at least 0. Returns nullopt if it is not set or is any other text.
template <typename Number>
std::optional<Number> number(const Variables& variables, const char* name) {
  const char* text = variables(name);
  if (text == nullptr) return {};
  const std::string_view digits(text);
  Number found{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), found);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.starts_with('-')) return {};
  return found;
}

/// Names of the environment variables in which a launcher passes the rank, the number of ranks, and the local rank.
struct LauncherNames {
  const char* launcher;
  const char* rank;
  const char* size;
  const char* local_rank;
};

std::optional<Launch> named_launch(const LauncherNames& names, const Variables& variables) {
  const std::optional<int> rank = number<int>(variables, names.rank);
  const std::optional<int> size = number<int>(variables, names.size);
  if (!rank || !size || *rank >= *size) return {};
  return Launch{
      .launcher = names.launcher, .rank = rank, .size = size, .local_rank = number<int>(variables, names.local_rank)};
}

constexpr LauncherNames kHydra{"Hydra", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"};
constexpr LauncherNames kSlurm{"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"};

/// Returns the launch by a Slurm step (srun) with several tasks. Scripts of sbatch and shells of salloc do not count:
/// they run in special steps, whose ids are the largest 32-bit numbers. A script may inherit all other variables from
/// the step that called sbatch, so only the step id tells the difference.
std::optional<Launch> slurm_step(const Variables& variables) {
  // SLURM_MAX_NORMAL_STEP_ID; numbers from here on are special steps
  constexpr std::uint64_t kFirstOfItsOwn = 0xFFFFFFF0;
  const std::optional<std::uint64_t> step = number<std::uint64_t>(variables, "SLURM_STEP_ID");
  if (!step || *step >= kFirstOfItsOwn) return {};
  const std::optional<Launch> found = named_launch(kSlurm, variables);
  return found && *found->size > 1 ? found : std::nullopt;
}

/// Returns the launch by a PMI launcher: mpiexec of MPICH or Intel MPI (Hydra), which also sets the local rank, or
/// `srun --mpi=pmi2` and others, which set only PMI_RANK and PMI_SIZE.
std::optional<Launch> pmi_launch(const Variables& variables) {
  std::optional<Launch> found = named_launch(kHydra, variables);
  if (!found || found->local_rank) return found;
  std::optional<Launch> step = slurm_step(variables);
  if (step && step->rank == found->rank && step->size == found->size) return step;
  found->launcher = "PMI";
  return found;
}

/// Returns the launch by a PMIx launcher that sets no variables of its own. The number of ranks is unknown until MPI
/// starts.
std::optional<Launch> pmix_launch(const Variables& variables) {
  const std::optional<int> rank = number<int>(variables, "PMIX_RANK");
  if (!rank || variables("PMIX_NAMESPACE") == nullptr) return {};
  return Launch{.launcher = "PMIx", .rank = rank};
}

/// Returns the launch by a PMIx launcher or by Slurm. Under a PMIx launcher, Slurm's variables describe only the step
/// of the launcher's daemon, so the PMIx variables count. Slurm also sets the PMIx namespace ("slurm.pmix.JOB.STEP");
/// then Slurm's own variables count, because they include the number of ranks.
std::optional<Launch> pmix_or_slurm_launch(const Variables& variables) {
  std::optional<Launch> pmix = pmix_launch(variables);
  const bool of_slurm = pmix && std::string_view(variables("PMIX_NAMESPACE")).starts_with("slurm.");
  if (pmix && !of_slurm) return pmix;
  if (std::optional<Launch> step = slurm_step(variables)) return step;
  // A program started from a shell of `srun --pty` is the only task of its step, so it is the only rank.
  if (pmix && number<int>(variables, kSlurm.size) == 1) pmix->size = 1;
  return pmix;
}

}  // namespace

std::optional<Launch> launch_of(const Variables& variables) {
  // mpirun in a Slurm allocation starts its daemons by srun, so variables of mpirun take precedence over those of
  // Slurm.
  constexpr auto kOwnVariables = std::to_array<LauncherNames>({
      {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
      {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"},
  });
  for (const LauncherNames& names : kOwnVariables) {
    if (std::optional<Launch> found = named_launch(names, variables)) return found;
  }
  if (std::optional<Launch> found = pmi_launch(variables)) return found;
  return pmix_or_slurm_launch(variables);
}

}  // namespace xferbench
