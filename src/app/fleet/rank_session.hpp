// Turns a process that mpirun or srun has started into a rank of a fleet: opens its GPU, starts MPI and agrees with all
// other ranks whether they can measure.
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

/// Returns the launch that the launcher's environment variables describe; nullopt if no launcher started this process.
std::optional<Launch> launch_from_environment();

/// Throws UsageError if a launcher has started several processes, because `command` must run as a single process.
void refuse_several_ranks(std::string_view command);

/// Returns the launch if this process is a rank of a fleet. Returns nullopt if the process measures alone: no launcher
/// started it or the launcher started only one rank, and neither --mpi nor a flag for fleets was given. Throws
/// UsageError if a flag for fleets was given without a launcher and without --mpi.
std::optional<Launch> launch_for(const cli::RunCommand& command);

/// Returns the profile's name or path for a process that runs alone. Under a launcher, %r (the rank) is replaced by 0.
std::string profile_of_single_rank(const std::string& profile);

/// Returns whether this process prints messages that concern all ranks; only rank 0 does.
bool may_print(const Launch& launch);

/// Returns the name of this rank for messages, for example "rank 3 on host a".
std::string rank_label(const Launch& launch);

/// Returns how long this rank waits for others, according to the flags of the command.
Timeout timeout_of(const cli::RunCommand& command, std::function<void()> idle = {});

/// The state of a process that is a rank of a fleet. If `refusal` is set, the fleet cannot measure.
struct RankSession {
  /// The exit code if not all ranks can measure, which is the same on all ranks; the reason has been printed. It is not
  /// thrown as an exception, because MPI can be finalized properly only without an exception in flight.
  std::optional<int> refusal;
  /// opened before MPI starts, because MPI would otherwise create a CUDA context on GPU 0
  std::unique_ptr<MonitoredMachine> machine;
  std::unique_ptr<Communicator> mpi;       ///< declared after `machine`, so that it is destroyed first
  std::unique_ptr<HostRuntime> skewed;     ///< simulated host with a skewed clock; null if the profile gives no skew
  std::unique_ptr<Communicator> modelled;  ///< simulated network between simulated machines; null between real machines
  RankPlace place;
  std::vector<ShutdownHandshake::Neighbour> neighbours;  ///< other ranks whose processes run on this real host
  std::vector<int> nodes;                                ///< node number of each rank, by rank
  std::optional<Fleet> fleet;  ///< description of all ranks for the report; absent on all ranks but rank 0

  [[nodiscard]] Communicator& ranks() const { return modelled ? *modelled : *mpi; }
  /// Returns the host whose clock is synchronized with those of the other ranks.
  [[nodiscard]] HostRuntime& clock_host() const { return skewed ? *skewed : machine->machine->host(); }
  [[nodiscard]] bool is_rank0() const { return mpi->rank() == 0; }
};

/// Collective operation. Returns the exit code of rank 0's problem `of_first` on all ranks; 0 if there is no problem.
/// Rank 0 prints the problem before any rank can end.
int broadcast_exit_code(Communicator& mpi, const Problem& of_first, const Timeout& timeout);

/// Collective operation. Makes this process a rank of the fleet, and replaces the command's cases by those for this
/// machine, which are the same on all ranks. Throws UsageError if a flag is only for single processes. Throws
/// RankTimeoutError or CommunicationError if a rank does not answer.
RankSession join_fleet(cli::RunCommand& command, const Launch& launch);

}  // namespace xferbench::app
