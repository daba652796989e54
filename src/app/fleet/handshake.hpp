// The handshake of a fleet: before measuring, ranks report their machines and settings, which rank 0 compares.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "ranks/communicator.hpp"
#include "ranks/shutdown_handshake.hpp"
#include "ranks/timed_collectives.hpp"
#include "results/fleet.hpp"
#include "results/result.hpp"

namespace xferbench::app {

/// The reason why a rank cannot measure, with the exit code for it. Code 0 means that the rank can measure.
struct Problem {
  int code = 0;
  std::string text{};
  friend bool operator==(const Problem&, const Problem&) = default;
};
/// Runs `body` and returns the exception that it throws as a problem. If `body` throws none, the problem has code 0.
Problem problem_of(const std::function<void()>& body);

/// Names and values of settings that must be equal on all ranks, because they decide which collective calls are made.
using SharedSettings = Labels;
SharedSettings shared_settings_of(const cli::RunCommand& command);

struct RankHandshake {
  RankPlace place;  ///< if the rank has a problem, only `place.host` is valid
  Problem problem{};
  SharedSettings settings{};
  /// Local rank number from the launcher, by which this rank chose its GPU; absent if the launcher gives none.
  std::optional<int> launched_as{};
  int node_root = 0;  ///< lowest rank on the same node, according to MPI
};

/// The handshakes of all ranks, indexed by rank.
using RankHandshakes = std::vector<RankHandshake>;

/// Collective operation. Returns the handshakes of all ranks at rank 0 and an empty list on other ranks.
RankHandshakes exchange_handshakes(Communicator& mpi, RankHandshake mine, const Timeout& timeout);

/// Returns why the fleet cannot measure; code 0 if it can. If several ranks have problems, returns the lowest rank's.
Problem handshake_problem(const RankHandshakes& all, bool share_gpus);

/// Returns the differences between ranks that do not prevent measuring, as sentences without a full stop.
std::vector<std::string> differences_of(const RankHandshakes& all);

/// Returns the node number of each rank. Nodes are numbered in the order of their lowest ranks. A simulated host counts
/// as one node, even if its ranks run on several real hosts.
std::vector<int> nodes_of(const RankHandshakes& all);

/// Identifies a process, so that other ranks on its host can check whether it still exists.
struct ProcessIdentity {
  int number = 0;
  std::uint64_t name_space = 0;  ///< inode of its PID namespace; 0: unknown
};
ProcessIdentity this_process();

/// Collective operation. Returns the other ranks on this node, except ranks in another PID namespace (container): their
/// process numbers would mean other processes here.
std::vector<ShutdownHandshake::Neighbour> neighbours_of(Communicator& mpi, const ProcessIdentity& mine,
                                                        const Timeout& timeout);

}  // namespace xferbench::app
