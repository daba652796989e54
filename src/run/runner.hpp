// Runs planned cases one after another, in one or more turns. A failure of one case does not affect the others.
#pragma once

#include "results/heap_optional.hpp"
#include "run/health.hpp"
#include "run/scenario.hpp"

namespace xferbench {

struct PlannedCase {
  const Scenario* scenario;
  Case config;
  HeapOptional<SamplingPolicy> policy{};  ///< sampling policy of this case; if empty, that of the run
};

/// Returns why a case cannot run on this machine, as far as this is known before allocation: a reason of its scenario,
/// or too little memory. Returns nothing if it can run.
std::optional<SkipReason> skip_reason(const PlannedCase& planned, Machine& machine, bool verify);

/// Replaces cases that depend on the machine (such as those with an axis value "all") by concrete cases for these GPUs
/// (Scenario::expand()). Keeps the order and drops duplicates.
std::vector<PlannedCase> expanded(std::span<const PlannedCase> cases, const GpusOfRun& gpus);

/// Adds warnings to the result: one for each flag of its measurements that needs attention, and one if an interval is
/// wider than the policy's target.
void warn(Result& result, const SamplingPolicy& policy);

/// Sets the stop reason of all the result's measurements to Stop::interrupted.
void mark_unfinished(Result& result);

/// Callbacks during a run, for example to store results at once, so that they are not lost if the process ends early.
/// Any of them may be empty.
struct RunObserver {
  /// Called before a turn of a case, with the index of the case and the number of the turn (from 0).
  std::function<void(std::size_t index, std::size_t turn)> begin;
  /// Called after a turn of a case with its samples so far. Before the last turn, the result is marked as interrupted.
  std::function<void(std::size_t index, const Result& result)> done;
  /// Whether done() stores the results. If so, a result is freed after the last turn of its case; run() returns none.
  bool keeps = false;
};

/// Runs `body` and returns the message of the exception that it throws; empty if it throws none.
std::string failure_of(const std::function<void()>& body);

/// Runs all cases once per turn, and keeps the samples of each case between turns.
class InterleavedRuns {
 public:
  /// All referenced arguments must outlive this object.
  InterleavedRuns(std::span<const PlannedCase> cases, const RunContext& bench, const RunObserver& observer,
                  std::size_t turns);

  /// Runs all turns of all cases and returns the results in order. Returns none if RunObserver::keeps is set.
  std::vector<Result> run();
  /// Runs one turn of case `i`. If the turn is interrupted, the case keeps the samples of earlier turns.
  void visit(std::size_t i, std::size_t turn);
  [[nodiscard]] const Result& result(std::size_t i) const { return *results_[i]; }

 private:
  /// Runs one turn of a case and stores its result. Returns false, and stores nothing, if a later turn than the first
  /// was interrupted before it had samples.
  bool measure(std::size_t i, std::size_t turn);
  /// Frees the state of a case after its last turn, including its result if the observer stores results itself.
  void release_case(std::size_t i);
  RunContext bench_for(std::size_t i, std::size_t turn, const SamplingPolicy& wanted);

  std::span<const PlannedCase> cases_;
  const RunContext& bench_;
  const RunObserver& observer_;
  std::size_t turns_;
  std::vector<std::shared_ptr<SampleHistory>> histories_;
  std::vector<CaseHealth> health_;
  /// Result of each case; null before its first turn, and after its last one if RunObserver::keeps.
  std::vector<std::unique_ptr<Result>> results_;
};

/// Runs every case `turns` times, each time with a part of the samples, so that drift affects all cases evenly. The
/// status of each result becomes `ok`, or `failed` or `skipped` with a reason (skip_reason(), a lost device, Ctrl-C).
std::vector<Result> run_cases(std::span<const PlannedCase> cases, const RunContext& bench, const RunObserver& observer,
                              std::size_t turns = 1);

}  // namespace xferbench
