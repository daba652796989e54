// Makes a process that mpirun or srun has started a rank of a fleet. It opens its GPU, starts MPI, and all ranks agree
// whether they can measure.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/fleet/handshake.hpp"
#include "app/session.hpp"
#include "cli/command.hpp"
#include "ranks/communicator.hpp"
#include "ranks/launcher.hpp"
#include "ranks/shutdown_handshake.hpp"
#include "ranks/timed_collectives.hpp"
#include "results/fleet.hpp"

namespace xferbench::app {

/// The launch that the environment describes; nullopt if no launcher started this process.
std::optional<Launch> launch_from_environment();

/// Throws UsageError if a launcher has started this process as one of several, because the command is for one.
void refuse_several_ranks(std::string_view command);

/// The launch of a fleet; nullopt if this process measures alone: a launcher started no or only one rank, and neither
/// MPI nor a flag of fleets was asked for. Throws UsageError for a flag of fleets without a launcher.
std::optional<Launch> launch_for(const cli::RunCommand& command);

/// The profile of the simulated machine if this process runs alone. Under a launcher with a single rank, %r in paths
/// stands for rank 0.
std::string profile_of_single_rank(const std::string& profile);

/// Whether this process prints what concerns all ranks; rank 0 does.
bool may_print(const Launch& launch);

/// Returns for example "rank 3 on host a", to begin messages that concern only one rank.
std::string rank_label(const Launch& launch);

/// How long this rank waits for others, from the command line.
Timeout timeout_of(const cli::RunCommand& command, std::function<void()> idle = {});

/// A rank that can measure, or one that was refused.
struct RankSession {
  /// The exit code if not all ranks can measure, the same on all ranks; the reason was printed. Not thrown: MPI can be
  /// finalized properly only without an exception in flight.
  std::optional<int> refusal;
  std::unique_ptr<MonitoredMachine> machine;  ///< opened before MPI, which would otherwise create a context on GPU 0
  std::unique_ptr<Communicator> mpi;          ///< destroyed before the machine
  std::unique_ptr<HostRuntime> skewed;        ///< host with a skewed clock, if the simulated machine has one; else null
  std::unique_ptr<Communicator> modelled;     ///< the network between simulated machines; null between real ones
  RankPlace place;
  std::vector<ShutdownHandshake::Neighbour> neighbours;  ///< other ranks that really run on this host
  std::vector<int> nodes;                                ///< node number of each rank, by rank
  std::optional<Fleet> fleet;                            ///< at rank 0: the record of all ranks; absent on others

  [[nodiscard]] Communicator& ranks() const { return modelled ? *modelled : *mpi; }
  /// The host whose clock the common clock is computed from.
  [[nodiscard]] HostRuntime& clock_host() const { return skewed ? *skewed : machine->machine->host(); }
  [[nodiscard]] bool is_rank0() const { return mpi->rank() == 0; }
};

/// Collective. The exit code of rank 0's problem, on all ranks; 0 if it has none. Rank 0 prints the problem before any
/// rank can end.
int broadcast_exit_code(Communicator& mpi, const Problem& of_first, const Timeout& timeout);

/// Collective. Replaces the command's cases by those for this machine; they are the same on all ranks. Throws
/// RankTimeoutError, CommunicationError, and UsageError if flags are for one process alone.
RankSession join_fleet(cli::RunCommand& command, const Launch& launch);

}  // namespace xferbench::app
