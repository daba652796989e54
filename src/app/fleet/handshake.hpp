// The handshake of a fleet: what ranks report of themselves before they measure, and how rank 0 checks it.
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

/// Why a rank cannot measure, and the exit code for that; code 0: it can.
struct Problem {
  int code = 0;
  std::string text{};
  friend bool operator==(const Problem&, const Problem&) = default;
};
/// The exception that `body` throws as a problem; no problem if it throws none.
Problem problem_of(const std::function<void()>& body);

/// Settings that must be the same on all ranks, because collective calls depend on them: the name of each and its value
/// on this rank.
using SharedSettings = Labels;
SharedSettings shared_settings_of(const cli::RunCommand& command);

struct RankHandshake {
  RankPlace place;  ///< if there is a problem, only its host is valid
  Problem problem{};
  SharedSettings settings{};
  /// The launcher's local rank, by which this rank chose its GPU; absent if the launcher gives none.
  std::optional<int> launched_as{};
  int node_root = 0;  ///< the lowest rank of its node, according to MPI
};

/// The handshakes of all ranks, by rank.
using RankHandshakes = std::vector<RankHandshake>;

/// Collective: returns the handshakes of all ranks at rank 0; empty elsewhere.
RankHandshakes exchange_handshakes(Communicator& mpi, RankHandshake mine, const Timeout& timeout);

/// Why the fleet cannot measure. If several ranks have a problem: that of the lowest rank, with its exit code.
Problem handshake_problem(const RankHandshakes& all, bool share_gpus);

/// Differences between ranks that do not prevent measuring: a sentence for each, without its full stop.
std::vector<std::string> differences_of(const RankHandshakes& all);

/// The node of each rank. Nodes are numbered in the order of their lowest ranks. Each simulated host is a node,
/// wherever its ranks run.
std::vector<int> nodes_of(const RankHandshakes& all);

/// A process, identified so that other ranks of its host can watch it.
struct ProcessIdentity {
  int number = 0;
  std::uint64_t name_space = 0;  ///< inode of its PID namespace; 0: unknown
};
ProcessIdentity this_process();

/// Collective: the other ranks on this node in the same PID namespace. In another container the same process number
/// would mean another process.
std::vector<ShutdownHandshake::Neighbour> neighbours_of(Communicator& mpi, const ProcessIdentity& mine,
                                                        const Timeout& timeout);

}  // namespace xferbench::app
