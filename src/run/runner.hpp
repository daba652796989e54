// Runs cases one after another. A failure of one case does not affect the others.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/heap_optional.hpp"
#include "results/result.hpp"
#include "run/health.hpp"
#include "run/scenario.hpp"

namespace xferbench {

struct PlannedCase {
  const Scenario* scenario;
  Case config;
  HeapOptional<SamplingPolicy> policy{};  ///< replaces the policy of the run for this case
};

/// Why a case cannot run on this device, as far as that is known before allocation: because of its scenario, or because
/// it needs more memory than there is.
std::optional<SkipReason> skip_reason(const PlannedCase& planned, Machine& machine, bool verify);

/// What these cases stand for on a machine with these GPUs (Scenario::expand()), in order, each case once.
std::vector<PlannedCase> expanded(std::span<const PlannedCase> cases, const GpusOfRun& gpus);

/// Adds warnings: one for each flag of the measurements, and one for intervals wider than the policy demands.
void warn(Result& result, const SamplingPolicy& policy);

/// Marks the result's measurements as interrupted.
void mark_unfinished(Result& result);

/// Callbacks during a run, so that nothing is lost if the process ends early. All may be empty.
struct RunObserver {
  /// Called before a case, with its index and the number of the turn, from 0.
  std::function<void(std::size_t index, std::size_t turn)> begin;
  /// Called after each turn of a case. Before its last turn, the result has the samples so far, marked as interrupted.
  std::function<void(std::size_t index, const Result& result)> done;
  /// Whether done() stores results. If so, results of finished cases are freed, and run() returns none.
  bool keeps = false;
};

/// Runs `body` and returns why it failed, whatever it throws; empty if it did not fail.
std::string failure_of(const std::function<void()>& body);

/// Runs the cases of a run in turns, and holds their state.
class InterleavedRuns {
 public:
  /// All arguments must outlive this object.
  InterleavedRuns(std::span<const PlannedCase> cases, const RunContext& bench, const RunObserver& observer,
                  std::size_t turns);

  /// Runs all cases in all turns.
  std::vector<Result> run();
  /// Runs one turn of one case. After Ctrl-C, the case keeps the samples of earlier turns.
  void visit(std::size_t i, std::size_t turn);
  /// The result of case `i` so far.
  [[nodiscard]] const Result& result(std::size_t i) const { return *results_[i]; }

 private:
  /// Runs a turn of a case. Returns false if a turn other than the first was interrupted before it gave a result.
  bool measure(std::size_t i, std::size_t turn);
  /// Frees the state of a case after its last turn, except a result that run() has to return.
  void release_case(std::size_t i);
  RunContext bench_for(std::size_t i, std::size_t turn, const SamplingPolicy& wanted);

  std::span<const PlannedCase> cases_;
  const RunContext& bench_;
  const RunObserver& observer_;
  std::size_t turns_;
  std::vector<std::shared_ptr<SampleHistory>> histories_;
  std::vector<CaseHealth> health_;
  /// Null before the first turn, and after the last one if the observer keeps results.
  std::vector<std::unique_ptr<Result>> results_;
};

/// Runs every case; its status becomes `ok`, `failed` with a reason, or `skipped` with a reason (skip_reason(), a lost
/// context, Ctrl-C). Runs through all cases `turns` times, each time with a share of the samples, so that drift during
/// the run affects all of them evenly.
std::vector<Result> run_cases(std::span<const PlannedCase> cases, const RunContext& bench, const RunObserver& observer,
                              std::size_t turns = 1);

}  // namespace xferbench
