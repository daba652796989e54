// `tune`: searches a scenario's cases for the fastest one, guided by predicted times, and measures the best ones again.
#pragma once

#include <cstddef>

#include "run/runner.hpp"
#include "run/scenario.hpp"

namespace xferbench {

/// Returns why a case does not belong to the search space: no device can run it, or it needs more than `limit` bytes of
/// device memory. Returns nothing if it belongs. Does not access a device.
std::optional<SkipReason> skip_reason_of_tune(const PlannedCase& planned, std::optional<std::uint64_t> limit);

/// Returns the cases that can run on this device with at most `limit` bytes of device memory. Throws UsageError with
/// the reason for the first case if none can.
std::vector<Case> feasible(std::span<const PlannedCase> cases, Machine& machine, bool verify,
                           std::optional<std::uint64_t> limit);

struct TuneProgress {
  std::size_t measured = 0;
  std::size_t most = 0;        ///< maximum number of configurations that the search will measure
  std::optional<double> best;  ///< lowest median so far, in seconds; empty before the first measurement
  bool confirming = false;     ///< true in the last round (confirmation), which measures the best configurations again
};

/// Callbacks during a `tune`. Neither may be empty.
struct TuneObserver {
  std::function<void(const TuneProgress&)> progress;         ///< called often, while sampling
  std::function<void(const std::vector<Result>&)> measured;  ///< called after each search round, with all results
};

/// Returns the command line that runs a case by itself.
using CommandOf = std::function<std::string(const Case&)>;

/// Return value of tune(): a result for each measured or failed configuration, in the order in which their measurement
/// began, and findings of kind "tune".
struct Tuned {
  std::vector<Result> results;
  std::vector<Finding> findings;
};

/// Returns the descriptor for the results of a `tune`: the scenario's, plus the metrics that `tune` adds, without heat
/// maps, because a search does not measure every cell.
ScenarioDescriptor tuned_descriptor(const ScenarioDescriptor& scenario);

/// Returns the results to show in a table: the `most` fastest, then all that failed. Results from the confirmation come
/// before results only from the search.
std::vector<Result> fastest(std::span<const Result> results, std::size_t most = 10);

/// How many configurations of a space are measured: those that the predictions suggest, or all.
enum class SearchMode { guided, exhaustive };

/// Searches `space` for the fastest case. All its cases must be feasible(). `bench.policy.budget` limits the total time
/// of warm-up and sampling; preparing and verifying configurations is not counted. The other fields of the policy apply
/// to the last round, in which the best are measured again to decide the winner. After Ctrl-C or if the device is lost,
/// returns early with the results so far. Throws UsageError if the scenario cannot be tuned, and any exception of
/// Scenario::tunable().
Tuned tune(const Scenario& scenario, std::span<const Case> space, const RunContext& bench, const CommandOf& command_of,
           const TuneObserver& observer, SearchMode thoroughness = SearchMode::guided);

}  // namespace xferbench
