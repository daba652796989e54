// `tune`: searches a scenario's cases for the fastest, led by its own predictions, and measures the best again.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/result.hpp"
#include "run/runner.hpp"
#include "run/scenario.hpp"

namespace xferbench {

/// Why a case does not belong to the space: no device could run it, or it needs more device memory than `limit`
/// (bytes). Touches no device.
std::optional<SkipReason> skip_reason_of_tune(const PlannedCase& planned, std::optional<std::uint64_t> limit);

/// The cases that can run on this device within `limit`. Throws UsageError with the first reason if there is none.
std::vector<Case> feasible(std::span<const PlannedCase> cases, Machine& machine, bool verify,
                           std::optional<std::uint64_t> limit);

/// How far a tune has come.
struct TuneProgress {
  std::size_t measured = 0;    ///< configurations
  std::size_t most = 0;        ///< configurations that are measured at most
  std::optional<double> best;  ///< lowest median so far, in seconds
  bool confirming = false;     ///< measuring the best once more
};

/// Who wants to know; both must be callable.
struct TuneObserver {
  std::function<void(const TuneProgress&)> progress;         ///< often, while sampling
  std::function<void(const std::vector<Result>&)> measured;  ///< after each round, with all results so far
};

/// Writes the command that runs a case by itself.
using CommandOf = std::function<std::string(const Case&)>;

/// One result for each configuration measured or failed, in the order of their first measurement, and what follows from
/// them: findings of kind "tune".
struct Tuned {
  std::vector<Result> results;
  std::vector<Finding> findings;
};

/// A scenario as a tune's results have it: with what the tune writes itself, and without a map, as a search leaves
/// holes.
ScenarioDescriptor tuned_descriptor(const ScenarioDescriptor& scenario);

/// Those that a table shows: the ten fastest in their order, those that were measured only in the search after those
/// that were measured again beside each other; then all that failed.
std::vector<Result> fastest(std::span<const Result> results);

/// How much of a space is measured: what a model's predictions lead to, or all of it.
enum class Thoroughness { guided, exhaustive };

/// Searches `space`, whose cases must all be feasible. `bench.policy.budget` is for all warm-up and sampling together;
/// the rest of the policy is for the last round, in which the best are measured afresh and the winner is decided.
/// Preparing and verifying a configuration is not counted. Ends early with what there is when interrupted() says so,
/// and when the device is lost. Throws UsageError if the scenario cannot be tuned, and whatever making its Tunable
/// throws.
Tuned tune(const Scenario& scenario, std::span<const Case> space, const RunContext& bench, const CommandOf& command_of,
           const TuneObserver& observer, Thoroughness thoroughness = Thoroughness::guided);

}  // namespace xferbench
