// What a scenario is. One file in scenarios/ defines a class like this; scenarios/scenarios.cpp lists it; nothing else
// needs to know: flags, help, cases, memory checks, tables and files follow from what is declared here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/axis.hpp"
#include "core/column.hpp"
#include "device/machine.hpp"
#include "measure/history.hpp"
#include "measure/sampler.hpp"
#include "results/result.hpp"
#include "run/memo.hpp"
#include "run/tunable.hpp"

namespace xferbench {

/// Memory that a case will hold at once, in bytes.
struct MemoryNeeds {
  std::uint64_t host = 0;
  std::uint64_t device = 0;
  std::uint64_t managed = 0;  ///< of both, as pages move
};

/// What a scenario runs with: the machine and the user's wishes.
struct RunContext {
  Machine& machine;
  Device& device;  ///< of the machine, that the scenario is about
  SamplingPolicy policy;
  std::uint64_t seed = 0;
  bool verify = true;
  SamplingObserver observe;
  bool trace = false;  ///< a timeline was asked for
  /// What the cases of a run share; a case run by itself has its own.
  std::shared_ptr<Memo> memo = std::make_shared<Memo>();

  /// Where the case comes in several turns: what was sampled in those before.
  std::shared_ptr<SampleHistory> history{};

  /// Samples what the case is about: together with the samples of earlier turns, if there were any.
  std::vector<Series> sample(std::vector<Region> regions, const SamplingPolicy& wanted) const {
    std::vector<Series> series = xferbench::sample(machine, std::move(regions), wanted, observe);
    return history ? history->continued(std::move(series)) : series;
  }
  std::vector<Series> sample(std::vector<Region> regions) const { return sample(std::move(regions), policy); }
  /// Where a timeline was asked for: runs the region once more, untimed and as a timed pass does, and keeps what the
  /// device did and when. After sampling only: a profiler that has been attached may leave traces of its own.
  void trace_region(const Region& region, Result& result) const;
};

class Scenario {
 public:
  Scenario() = default;
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;
  virtual ~Scenario() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  /// One line for `xferbench list`.
  [[nodiscard]] virtual std::string_view summary() const = 0;
  [[nodiscard]] virtual std::span<const Axis> axes() const = 0;
  [[nodiscard]] virtual std::span<const Column> columns() const = 0;
  [[nodiscard]] ScenarioView view() const { return {name(), summary(), axes(), columns(), heat_map()}; }

  /// The metric worth drawing over two axes, if there is one.
  [[nodiscard]] virtual std::optional<HeatMap> heat_map() const { return std::nullopt; }

  /// Why a combination of legal values makes no sense (more chunks than elements), or nothing.
  [[nodiscard]] virtual std::optional<std::string> objection(const Case&) const { return std::nullopt; }
  /// Whether a combination that it objects to is no case at all where it only came out of a product of values. It
  /// stays, and is skipped with the objection, if a value that was asked for would have no case without it.
  [[nodiscard]] virtual bool leaves_out(const Case&) const { return false; }
  /// Whether run() calls RunContext::trace_region.
  [[nodiscard]] virtual bool has_timeline() const { return false; }
  [[nodiscard]] virtual MemoryNeeds needs(const Case& c) const = 0;
  /// Why this device cannot run the case honestly, or nothing.
  [[nodiscard]] virtual std::optional<std::string> unsupported(const Case&, const Capabilities&) const {
    return std::nullopt;
  }

  /// Measures and verifies. Adds to `result` as it goes, so that what was measured before an error is kept. Throws
  /// DeviceError, VerificationError or MeasurementError; the runner turns them into a failed case.
  /// The first measurement is what the case is about: what `compare` compares and progress shows.
  virtual void run(const Case& c, const RunContext& bench, Result& result) const = 0;

  /// What the results say together: fits, crossovers, a winner (run/findings.hpp helps). Called once, after the last
  /// case, with those results of this scenario that are ok, in the order in which they ran; after Ctrl-C these may be
  /// few and have few samples. Pure. `Finding::scenario` is filled in by the caller.
  [[nodiscard]] virtual std::vector<Finding> conclude(std::span<const Result* const>) const { return {}; }

  /// The cases as a space for `tune` to search; nothing if the scenario cannot be tuned. One that can gives at least
  /// one axis values to tune (Axis::tuning), by which the command line knows it. Measures the stages and allocates what
  /// all candidates share: `bench.policy` is for that, a share of the user's budget. Throws UsageError if the cases do
  /// not do the same work, so that their times cannot be compared; DeviceError or MeasurementError as run() does. After
  /// Ctrl-C it may return a space that predicts nothing: nobody asks it then.
  [[nodiscard]] virtual std::unique_ptr<Tunable> tunable(std::span<const Case>, const RunContext&) const {
    return nullptr;
  }
};

/// Whether `tune` can search this scenario: it says so by the values that its axes are to be tuned over.
[[nodiscard]] inline bool can_tune(const Scenario& scenario) {
  return std::ranges::any_of(scenario.axes(), [](const Axis& axis) { return !axis.tuning.empty(); });
}

}  // namespace xferbench
