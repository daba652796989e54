// How a process that mpirun or srun has started becomes a rank of a fleet: it opens its GPU, starts MPI, and all find
// out together whether they can measure.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/fleet/introductions.hpp"
#include "app/session.hpp"
#include "cli/command.hpp"
#include "ranks/communicator.hpp"
#include "ranks/farewell.hpp"
#include "ranks/launcher.hpp"
#include "ranks/waiting.hpp"
#include "results/fleet.hpp"

namespace xferbench::app {

/// What the environment says.
std::optional<Launch> started_by_launcher();

/// Throws UsageError where a launcher has started this process as one of several: the command is for one alone.
void refuse_several_ranks(std::string_view command);

/// Nothing where the command is to be run by this process alone: no launcher started it, and MPI was not asked for.
/// Throws UsageError where the command has flags that are for one process alone, or for many and there are none.
std::optional<Launch> launch_for(const cli::RunCommand& command);

/// The profile that a modelled machine has where this process runs alone: a launcher's only rank is rank 0, to which
/// paths may refer (%r).
std::string profile_of_only_rank(const std::string& profile);

/// Whether this process may write to the user: what all have to say, rank 0 says.
bool speaks_for_all(const Launch& launch);

/// "rank 3 on host a": whoever says what others need not find.
std::string speaker(const Launch& launch);

/// How a rank waits for others, as the command says.
Patience patience_of(const cli::RunCommand& command, std::function<void()> idle = {});

/// A rank that can measure, or one that has been refused.
struct Member {
  /// The exit code where not all can measure, the same on all ranks; it has been said why. Not thrown: MPI ends in
  /// order only where no exception is on its way.
  std::optional<int> refusal;
  std::unique_ptr<WatchedMachine> machine;      ///< opened before MPI, which would else open a context on GPU 0
  std::unique_ptr<Communicator> mpi;            ///< ends before the machine does
  std::unique_ptr<HostRuntime> skewed;          ///< of a modelled machine whose clock is off
  std::unique_ptr<Communicator> modelled;       ///< the network between modelled machines; null between real ones
  RankPlace place;                              ///< of this rank
  std::vector<Farewell::Neighbour> neighbours;  ///< other ranks that are on this host in truth
  std::vector<int> nodes;                       ///< of each rank, its node
  std::optional<Fleet> fleet;                   ///< at rank 0: everybody

  [[nodiscard]] Communicator& ranks() const { return modelled ? *modelled : *mpi; }
  /// Whose clock the common one is computed from.
  [[nodiscard]] HostRuntime& clock_host() const { return skewed ? *skewed : machine->machine->host(); }
  [[nodiscard]] bool is_first() const { return mpi->rank() == 0; }
};

/// Collective. The code of rank 0's problem, at all ranks; 0 where it has none. Rank 0 says what it is before anybody
/// can end.
int code_for_all(Communicator& mpi, const Problem& of_first, const Patience& patience);

/// Collective. Changes the command's cases into those of this machine; they are the same on all ranks. Throws
/// RanksSilentError; CommunicationError; UsageError where flags are for one process alone.
Member join_fleet(cli::RunCommand& command, const Launch& launch);

}  // namespace xferbench::app
