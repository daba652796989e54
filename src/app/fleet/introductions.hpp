// What the ranks of a fleet say of themselves before they measure, and what rank 0 makes of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "ranks/communicator.hpp"
#include "ranks/farewell.hpp"
#include "ranks/waiting.hpp"
#include "results/fleet.hpp"
#include "results/result.hpp"

namespace xferbench::app {

/// Why a rank cannot measure, and the exit code that says so; no code where it can.
struct Problem {
  int code = 0;
  std::string text{};
  friend bool operator==(const Problem&, const Problem&) = default;
};
/// Of what the body throws.
Problem problem_of(const std::function<void()>& body);

/// What all ranks must have in common because collective calls depend on it: what it is, and what it is here.
using Terms = Labels;
Terms terms_of(const cli::RunCommand& command);

struct Introduction {
  RankPlace place;  ///< only its host counts where there is a problem
  Problem problem{};
  Terms terms{};
  /// The number among the ranks of its host by which it has chosen its GPU, where the launcher says one.
  std::optional<int> launched_as{};
  int node_root = 0;  ///< the lowest rank of its node, by MPI
};

/// What all ranks say of themselves, by their numbers.
using Introductions = std::vector<Introduction>;

/// Collective: what all say, at rank 0; nothing elsewhere.
Introductions introduce(Communicator& mpi, Introduction mine, const Patience& patience);

/// What is in the way, for all. Of several problems that of the lowest rank, with its code.
Problem judged(const Introductions& all, bool share_gpus);

/// In what the ranks differ that may well measure together: a sentence for each, without its full stop.
std::vector<std::string> differences_of(const Introductions& all);

/// The node of each rank, counted in the order of their lowest ranks. Modelled hosts are nodes wherever their ranks
/// are.
std::vector<int> nodes_of(const Introductions& all);

/// A process as others of its host may watch it.
struct OwnProcess {
  int number = 0;
  std::uint64_t name_space = 0;  ///< of process numbers; 0: unknown
};
OwnProcess this_process();

/// Collective: other ranks on this node, as far as their numbers mean the same processes here: in another container
/// they are those of others.
std::vector<Farewell::Neighbour> neighbours_of(Communicator& mpi, const OwnProcess& mine, const Patience& patience);

}  // namespace xferbench::app
