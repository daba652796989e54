// What a scenario is. One file in scenarios/ defines a class like this; scenarios/scenarios.cpp lists it; nothing else
// needs to know: flags, help, cases, memory checks, tables and files follow from what is declared here.
#pragma once

#include <algorithm>
#include <any>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/axis.hpp"
#include "core/non_copyable.hpp"
#include "device/machine.hpp"
#include "measure/history.hpp"
#include "measure/sampler.hpp"
#include "ranks/communicator.hpp"
#include "ranks/pace.hpp"
#include "ranks/waiting.hpp"
#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"
#include "run/skip_reason.hpp"
#include "run/tunable.hpp"

namespace xferbench {

/// Memory that a case will hold at once, in bytes.
struct MemoryNeeds {
  std::uint64_t host = 0;
  std::uint64_t device = 0;   ///< of each GPU that takes part
  std::uint64_t managed = 0;  ///< of both, as pages move
};

/// The GPUs of a run, as scenarios choose among them before anything is measured.
struct GpusOfRun {
  const Environment& environment;  ///< of the machine that was opened
  bool asked_for = false;          ///< by --gpus, and not only there because another scenario of the run needs them
  int ranks = 1;                   ///< processes that measure together

  [[nodiscard]] std::size_t count() const { return environment.gpu_count(); }
  /// Their numbers as users write them, in their order.
  [[nodiscard]] std::vector<int> numbers() const { return environment.gpu_numbers(); }
};

/// The places among the run's GPUs of those that have these numbers, without such as it has not got.
std::vector<std::size_t> places_of(std::span<const int> numbers, const Environment& environment);
/// The devices themselves, likewise.
std::vector<Device*> devices_of(std::span<const int> numbers, const Machine& machine);
/// Why a case about these GPUs cannot run here; nothing if it can.
std::optional<SkipReason> missing_gpus(std::span<const int> numbers, const Environment& environment);
/// Why a case in which each of the first is to reach the memory of each of the second cannot; nothing if it can.
std::optional<SkipReason> missing_access(std::span<const int> from, std::span<const int> to,
                                         const Environment& environment);

/// The other processes of a run under mpirun or srun, for scenarios that are about several of them.
struct FleetContext {
  Communicator& ranks;
  std::span<const int> nodes;  ///< of each rank, its node
  Patience patience;
  Pacing pace = Pacing::all;  ///< of the case
  /// Those that measure the case, ascending; empty: all of them. Others would not answer.
  std::span<const int> taking_part{};

  [[nodiscard]] bool takes_part(int rank) const {
    return taking_part.empty() || std::ranges::find(taking_part, rank) != taking_part.end();
  }
};

/// The first so many, of as many regions: an array can be bound to names.
template <std::size_t N>
std::array<Series, N> each_of(std::vector<Series> series) {
  std::array<Series, N> each;
  std::move(series.begin(), series.begin() + N, each.begin());
  return each;
}

/// What one run measures once and several of its cases use.
class Memo {
 public:
  /// What `make` returned when it was first asked for under this key, which also stands for its type.
  template <class T>
  const T& remember(const std::string& key, const std::function<T()>& make) {
    auto found = values_.find(key);
    if (found == values_.end()) found = values_.emplace(key, make()).first;
    return *std::any_cast<T>(&found->second);
  }

 private:
  std::map<std::string, std::any> values_;
};

/// What a scenario runs with: the machine and the user's wishes.
struct RunContext {
  Machine& machine;
  Device& device;  ///< of the machine, that the scenario is about
  SamplingPolicy policy;
  std::uint64_t seed = 0;
  bool verify = true;
  SamplingObserver observe;
  bool trace = false;                       ///< a timeline was asked for
  Objective objective = Objective::device;  ///< of `tune`
  /// What the cases of a run share; a case run by itself has its own.
  std::shared_ptr<Memo> memo = std::make_shared<Memo>();

  /// Where the case is measured in step with other processes.
  Pace* pace = nullptr;
  /// Where there are any: who they are.
  const FleetContext* fleet = nullptr;
  /// Where it is: gets when the passes of each region began and ended, by the region's name.
  std::map<std::string, std::vector<Pace::Moments>>* moments = nullptr;

  /// Where the case comes in several turns: what was sampled in those before.
  std::shared_ptr<SampleHistory> history{};

  /// Whether the payload has to be filled: what is moved is looked at, or moved in truth while it is timed.
  [[nodiscard]] bool needs_data() const { return verify || device.capabilities().moves_data_when_timed; }
  /// Which timed passes are checked, of regions that can be: on a machine that only models times, none.
  [[nodiscard]] PassChecks checks() const { return {verify && device.capabilities().moves_data_when_timed, seed}; }
  /// Whether somebody wants the run to end: Ctrl-C, here or, in step, at any of those who measure together.
  [[nodiscard]] bool stopped() const;
  /// Whether to verify once more what was sampled. Not after Ctrl-C: gigabytes take their time.
  [[nodiscard]] bool verifies_again() const;
  /// Samples what the case is about: together with the samples of earlier turns, if there were any. Throws FailedCheck
  /// where the output of a timed pass is wrong.
  std::vector<Series> sample(std::vector<Region> regions, const SamplingPolicy& wanted) const;
  std::vector<Series> sample(std::vector<Region> regions) const { return sample(std::move(regions), policy); }
  /// The same of regions that are never repeated_alike: a series for each, to be bound to names.
  template <std::size_t N>
  std::array<Series, N> sample(const std::array<Region, N>& regions, const SamplingPolicy& wanted) const {
    return each_of<N>(sample(std::vector(regions.begin(), regions.end()), wanted));
  }
  /// Where a timeline was asked for: runs the region once more, untimed and as a timed pass does, and keeps what the
  /// device did and when. After sampling only: a profiler that has been attached may leave traces of its own.
  void trace_region(const Region& region, Result& result) const;

 private:
  void keep_moments(std::span<const Series> series) const;
};

/// Samples what leads to the case or explains it, and is not the case itself: so many times, and no pass is checked.
std::vector<Series> sample_few(const RunContext& bench, std::vector<Region> regions, std::size_t samples);
template <std::size_t N>
std::array<Series, N> sample_few(const RunContext& bench, const std::array<Region, N>& regions, std::size_t samples) {
  return each_of<N>(sample_few(bench, std::vector(regions.begin(), regions.end()), samples));
}

/// Whether everything was sampled: after Ctrl-C, some may have been not.
bool all_sampled(std::span<const Series> series);
/// Adds the times to the result's measurements: the first is what the case is about, and brings its parts along. The
/// others are there to be compared with, and nobody is warned of them; wall_of() one is added by add_wall().
void add_measurements(std::span<const Series> series, Result& result);

/// Adds what was sampled of wall_of() a region, and from it the metrics that follow (wall_metrics()); nothing where
/// there are no samples.
void add_wall(const Series& wall, Result& result);
/// What add_wall() adds, for scenarios that sample such regions to declare as their own, beside time_to_result().
std::span<const MetricDeclaration> wall_metrics();
/// The metric of it that has a column, for its place in the table.
MetricDeclaration time_to_result();
inline constexpr const char* kTimeToResult = "to_result";

/// The parts that regions over several devices have (measure/region.hpp); a scenario with such regions declares these
/// as its own.
std::span<const MetricDeclaration> several_gpus_metrics();

/// What trace_region() adds to a result; a scenario that calls it declares these as its own.
std::span<const MetricDeclaration> timeline_metrics();

/// Axes or metrics of a scenario's own, and behind them those that it shares with others.
template <class T, class... Shared>
std::vector<T> with_shared(std::vector<T> own, const Shared&... shared) {
  (own.insert(own.end(), shared.begin(), shared.end()), ...);
  return own;
}

class Scenario : NonCopyable {
 public:
  virtual ~Scenario() = default;

  /// What it is, as data. The same object each time.
  [[nodiscard]] virtual const ScenarioDescriptor& descriptor() const = 0;

  /// Why a combination of legal values does not run (more chunks than elements, a device without memory pools), or
  /// nothing. Without a device: what holds on every one.
  [[nodiscard]] virtual std::optional<SkipReason> skip_reason(const Case&, const Capabilities*) const {
    return std::nullopt;
  }
  [[nodiscard]] virtual MemoryNeeds needs(const Case& c) const = 0;

  /// The cases that one stands for on a machine with these GPUs, as where an axis says "all"; itself where the machine
  /// has nothing to do with it, or has not got what it asks for.
  [[nodiscard]] virtual std::vector<Case> expand(const Case& c, const GpusOfRun&) const { return {c}; }
  /// The places among the run's GPUs of those that a case uses: only they must be in order for it. The first of all,
  /// unless the scenario says otherwise.
  [[nodiscard]] virtual std::vector<std::size_t> takes_part(const Case&, const Environment&) const { return {0}; }
  /// Whether it is the link or the GPU alone that a case measures. Among many machines it tells a slow GPU from a slow
  /// link.
  [[nodiscard]] virtual DataPath data_path(const Case&) const { return DataPath::mixed; }

  /// Measures and verifies. Adds to `result` as it goes, so that what was measured before an error is kept. Throws
  /// DeviceError, VerificationError or MeasurementError; the runner turns them into a failed case.
  virtual void run(const Case& c, const RunContext& bench, Result& result) const = 0;

  /// What the results say together: fits, crossovers, a winner (run/findings.hpp helps). Called once, after the last
  /// case, with those results of this scenario that are ok, in the order in which they ran; after Ctrl-C these may be
  /// few and have few samples. Pure. `Finding::scenario` is filled in by the caller.
  [[nodiscard]] virtual std::vector<Finding> conclude(std::span<const Result* const>) const { return {}; }

  /// Why `tune` cannot search a case that a run can measure; nothing if it can.
  [[nodiscard]] virtual std::optional<SkipReason> reason_against_tuning(const Case&) const { return std::nullopt; }

  /// The cases as a space for `tune` to search; nothing if the scenario cannot be tuned. One that can gives at least
  /// one axis values to tune (Axis::tuning), by which the command line knows it. Measures the stages and allocates what
  /// all candidates share: `bench.policy` is for that, a share of the user's budget. Throws UsageError if the cases do
  /// not do the same work, so that their times cannot be compared; DeviceError or MeasurementError as run() does. After
  /// Ctrl-C it may return a space that predicts nothing: nobody asks it then.
  [[nodiscard]] virtual std::unique_ptr<Tunable> tunable(std::span<const Case>, const RunContext&) const {
    return nullptr;
  }
};

/// A scenario that sees its cases in its own terms, and not by the names of its axes. `parse` is what makes them so: a
/// function from a Case of its axes, legal or not, to a struct.
template <auto parse>
class ScenarioOf : public Scenario {
 public:
  using Parsed = decltype(parse(Case()));

  explicit ScenarioOf(ScenarioDescriptor descriptor) : descriptor_(std::move(descriptor)) {}

  [[nodiscard]] const ScenarioDescriptor& descriptor() const final { return descriptor_; }
  [[nodiscard]] std::optional<SkipReason> skip_reason(const Case& c, const Capabilities* can) const final {
    return reason_to_skip(parse(c), can);
  }
  [[nodiscard]] MemoryNeeds needs(const Case& c) const final { return memory_needs(parse(c)); }
  void run(const Case& c, const RunContext& bench, Result& result) const final { measure(parse(c), bench, result); }

 protected:
  // What Scenario asks for under other names.
  [[nodiscard]] virtual std::optional<SkipReason> reason_to_skip(const Parsed&, const Capabilities*) const {
    return std::nullopt;
  }
  [[nodiscard]] virtual MemoryNeeds memory_needs(const Parsed& c) const = 0;
  virtual void measure(const Parsed& c, const RunContext& bench, Result& result) const = 0;

 private:
  ScenarioDescriptor descriptor_;
};

/// Whether `tune` can search this scenario: it says so by the values that its axes are to be tuned over.
[[nodiscard]] inline bool can_tune(const Scenario& scenario) {
  return std::ranges::any_of(scenario.descriptor().axes, [](const Axis& axis) { return !axis.tuning.empty(); });
}

}  // namespace xferbench
