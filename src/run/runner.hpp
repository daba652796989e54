// Runs cases one after another. A case that fails, fails alone.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/boxed.hpp"
#include "results/result.hpp"
#include "run/health.hpp"
#include "run/scenario.hpp"

namespace xferbench {

struct PlannedCase {
  const Scenario* scenario;
  Case config;
  Boxed<SamplingPolicy> policy{};  ///< where it has one of its own
};

/// Why a case does not run on this device, known before anything is allocated: its scenario says so, or it needs more
/// memory than there is.
std::optional<SkipReason> skip_reason(const PlannedCase& planned, Machine& machine, bool verify);

/// The cases that these stand for on a machine with these GPUs, in their order, each once.
std::vector<PlannedCase> expanded(std::span<const PlannedCase> cases, const GpusOfRun& gpus);

/// Adds the flags of a result's measurements as warnings, each flag once, and intervals wider than the policy wants.
void warn(Result& result, const SamplingPolicy& policy);

/// Says of its measurements that they have not come to their end.
void mark_unfinished(Result& result);

/// Who is told what happens, so that nothing is lost if the process ends before the last case. All may be empty.
struct RunObserver {
  /// Before a case, with its index and the number of the turn, from 0.
  std::function<void(std::size_t index, std::size_t turn)> begin;
  /// After a case. Until its last turn the result has the samples so far, and says of them that they were interrupted.
  std::function<void(std::size_t index, const Result& result)> done;
  /// done() keeps what it is told: results of cases that have ended are not held a second time, and run() returns none.
  bool keeps = false;
};

/// Runs `body`; why it failed, whatever it throws. Empty if it did not.
std::string failure_of(const std::function<void()>& body);

/// The cases of a run, and how far each has come.
class InterleavedRuns {
 public:
  /// Everything must outlive it.
  InterleavedRuns(std::span<const PlannedCase> cases, const RunContext& bench, const RunObserver& observer,
                  std::size_t turns);

  /// All of them, in all turns.
  std::vector<Result> run();
  /// One turn of one case; after Ctrl-C a case keeps what the turns before have sampled.
  void visit(std::size_t i, std::size_t turn);
  /// So far.
  [[nodiscard]] const Result& result(std::size_t i) const { return *results_[i]; }

 private:
  /// False where the turn gave nothing and was not the first one.
  bool measure(std::size_t i, std::size_t turn);
  /// No more turns of it come: nothing of it need be held, unless this has to return it.
  void let_go(std::size_t i);
  RunContext bench_for(std::size_t i, std::size_t turn, const SamplingPolicy& wanted);

  std::span<const PlannedCase> cases_;
  const RunContext& bench_;
  const RunObserver& observer_;
  std::size_t turns_;
  std::vector<std::shared_ptr<SampleHistory>> histories_;
  std::vector<CaseHealth> health_;
  std::vector<std::unique_ptr<Result>> results_;  ///< of cases that had their first turn; none where the observer keeps
};

/// Runs every case: `ok`, `failed` with a reason, or `skipped` with a reason (see
/// skip_reason(); a lost context, Ctrl-C). Goes through all cases `turns` times, each time for a share of
/// the samples, so that what drifts during the run is spread evenly over them.
std::vector<Result> run_cases(std::span<const PlannedCase> cases, const RunContext& bench, const RunObserver& observer,
                              std::size_t turns = 1);

}  // namespace xferbench
