// `tune`: searches a scenario's cases for the fastest, guided by predictions, and measures the best again.
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

/// Why a case does not belong to the search space: no device could run it, or it needs more device memory than `limit`
/// (bytes). Uses no device.
std::optional<SkipReason> skip_reason_of_tune(const PlannedCase& planned, std::optional<std::uint64_t> limit);

/// The cases that can run on this device within `limit`. Throws UsageError with the first reason if there is none.
std::vector<Case> feasible(std::span<const PlannedCase> cases, Machine& machine, bool verify,
                           std::optional<std::uint64_t> limit);

/// How far a tune has come.
struct TuneProgress {
  std::size_t measured = 0;    ///< number of measured configurations
  std::size_t most = 0;        ///< maximum number of configurations that will be measured
  std::optional<double> best;  ///< lowest median so far, in seconds
  bool confirming = false;     ///< in the last round, measuring the best again
};

/// Callbacks during a tune; both must be callable.
struct TuneObserver {
  std::function<void(const TuneProgress&)> progress;         ///< called often, while sampling
  std::function<void(const std::vector<Result>&)> measured;  ///< called after each round, with all results so far
};

/// Returns the command that runs a case by itself.
using CommandOf = std::function<std::string(const Case&)>;

/// A result for each measured or failed configuration, in the order of their first measurement, and findings of kind
/// "tune".
struct Tuned {
  std::vector<Result> results;
  std::vector<Finding> findings;
};

/// The descriptor for a tune's results: with what tune itself adds, and without heat maps, because a search leaves
/// holes.
ScenarioDescriptor tuned_descriptor(const ScenarioDescriptor& scenario);

/// Results for a table: the ten fastest, with those measured in the last round before those only measured in the
/// search; then all that failed.
std::vector<Result> fastest(std::span<const Result> results);

/// How much of a space is measured: what predictions suggest, or all of it.
enum class SearchMode { guided, exhaustive };

/// Searches `space`, whose cases must all be feasible. `bench.policy.budget` is for all warm-up and sampling together,
/// but not for preparing and verifying configurations. The rest of the policy is for the last round, in which the best
/// are measured afresh to decide the winner. Ends early, with the results so far, after Ctrl-C or if the device is
/// lost. Throws UsageError if the scenario cannot be tuned, and whatever making its Tunable throws.
Tuned tune(const Scenario& scenario, std::span<const Case> space, const RunContext& bench, const CommandOf& command_of,
           const TuneObserver& observer, SearchMode thoroughness = SearchMode::guided);

}  // namespace xferbench
