// The interface that every scenario (one kind of measurement) implements. scenarios/scenarios.cpp lists all of them.
// Flags, help, memory checks, tables and files are derived from its declarations.
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
#include <vector>

#include "core/axis.hpp"
#include "core/lists.hpp"
#include "core/non_copyable.hpp"
#include "device/machine.hpp"
#include "measure/history.hpp"
#include "measure/sampler.hpp"
#include "ranks/communicator.hpp"
#include "ranks/lockstep.hpp"
#include "ranks/timed_collectives.hpp"
#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"
#include "run/skip_reason.hpp"
#include "run/tunable.hpp"

namespace xferbench {

/// Memory that a case allocates at most at one time, in bytes.
struct MemoryNeeds {
  std::uint64_t host = 0;
  std::uint64_t device = 0;   ///< device memory of each GPU that takes part
  std::uint64_t managed = 0;  ///< managed memory, whose pages migrate between host and devices
  double oversubscribed = 0;  ///< managed memory may be so many times the GPU's; 0: a quarter of its free memory
};

/// The GPUs of a run. Scenarios use it to choose GPUs before anything is measured.
struct GpusOfRun {
  const Environment& environment;  ///< description of the opened machine
  bool asked_for = false;          ///< whether the user gave --gpus; if not, only some scenarios use all the GPUs
  bool each_node = false;          ///< whether the user gave --numa all
  int ranks = 1;                   ///< number of MPI processes that measure together

  [[nodiscard]] std::size_t count() const { return environment.gpu_count(); }
  /// GPU numbers as users write them, in the order of the machine's devices.
  [[nodiscard]] std::vector<int> numbers() const { return environment.gpu_numbers(); }
};

/// Returns the positions of the GPUs with these numbers among the run's GPUs. Ignores GPUs that the run does not use.
std::vector<std::size_t> places_of(std::span<const int> numbers, const Environment& environment);
/// Returns the devices with these GPU numbers. Ignores GPUs that the run does not use.
std::vector<Device*> devices_of(std::span<const int> numbers, const Machine& machine);
/// Returns why a case on these GPUs cannot run (the run does not use one of them); nothing if it can.
std::optional<SkipReason> missing_gpus(std::span<const int> numbers, const Environment& environment);
/// Returns why a GPU of `from` cannot access the memory of a GPU of `to`; std::nullopt if all can.
std::optional<SkipReason> missing_access(std::span<const int> from, std::span<const int> to,
                                         const Environment& environment);

/// The processes (ranks) of a run under mpirun or srun, for scenarios that measure between ranks.
struct FleetContext {
  Communicator& ranks;
  std::span<const int> nodes;  ///< index of each rank's node
  Timeout timeout;
  RankConcurrency pace = RankConcurrency::all;  ///< which ranks measure at the same time
  /// Ranks that measure the case, ascending; empty: all ranks. A message to any other rank would not be answered.
  std::span<const int> taking_part{};

  [[nodiscard]] bool takes_part(int rank) const { return taking_part.empty() || has_item(taking_part, rank); }
};

/// Moves the first N series into an array, so that callers can use structured bindings.
template <std::size_t N>
std::array<Series, N> first_n(std::vector<Series> series) {
  std::array<Series, N> each;
  std::move(series.begin(), series.begin() + N, each.begin());
  return each;
}

/// Cache of values that are measured once per run and used by several cases.
class Memo {
 public:
  /// Returns what `make` returned at the first call with this key. All calls with one key must have the same T.
  template <class T>
  const T& remember(const std::string& key, const std::function<T()>& make) {
    auto found = values_.find(key);
    if (found == values_.end()) found = values_.emplace(key, make()).first;
    return *std::any_cast<T>(&found->second);
  }

 private:
  std::map<std::string, std::any> values_;
};

/// Everything that a scenario needs to run a case: the machine and the user's settings.
struct RunContext {
  Machine& machine;
  Device& device;  ///< the device that the scenario measures
  SamplingPolicy policy;
  std::uint64_t seed = 0;
  bool verify = true;
  SamplingObserver observe;
  bool trace = false;                       ///< whether the user requested a timeline
  Objective objective = Objective::device;  ///< the time that `tune` minimizes
  /// Cache shared by all cases of a run. By default, a new cache for this case only.
  std::shared_ptr<Memo> memo = std::make_shared<Memo>();

  /// Synchronizes each pass with those of other processes; null if the case runs in one process.
  Lockstep* pace = nullptr;
  /// The processes of the run; null if there is only this one.
  const FleetContext* fleet = nullptr;
  /// If not null, receives the begin and end times of the passes of each region, keyed by the region's name.
  std::map<std::string, std::vector<Lockstep::Moments>>* moments = nullptr;

  /// Samples from earlier turns of the case (see measure/history.hpp); null if the case has only one turn.
  std::shared_ptr<SampleHistory> history{};

  /// Returns the same settings for a scenario that measures another device.
  [[nodiscard]] RunContext on(Device& other) const {
    return {machine, other, policy, seed, verify, observe, trace, objective, memo, pace, fleet, moments, history};
  }
  /// Whether the payload must be filled: if results are verified, or if timed copies move real data.
  [[nodiscard]] bool needs_data() const { return verify || device.capabilities().moves_data_when_timed; }
  /// Timed passes whose results are checked: none on a simulated machine, where they move no data.
  [[nodiscard]] PassChecks checks() const { return {verify && device.capabilities().moves_data_when_timed, seed}; }
  /// Whether the run must end, after Ctrl-C in this process or in any process that measures with it.
  [[nodiscard]] bool stopped() const;
  /// Whether to verify again after sampling: not after Ctrl-C, because verifying gigabytes takes long.
  [[nodiscard]] bool verifies_again() const;
  /// Samples the regions of the case and adds the samples of earlier turns. Throws FailedCheck if a result is wrong.
  std::vector<Series> sample(std::vector<Region> regions, const SamplingPolicy& wanted) const;
  std::vector<Series> sample(std::vector<Region> regions) const { return sample(std::move(regions), policy); }
  /// Like sample() for a vector, but returns an array for structured bindings. No region may have same_batch set, so
  /// that each region gives exactly one series.
  template <std::size_t N>
  std::array<Series, N> sample(const std::array<Region, N>& regions, const SamplingPolicy& wanted) const {
    return first_n<N>(sample(std::vector(regions.begin(), regions.end()), wanted));
  }
  /// If the user requested a timeline, runs the region once more, like a timed pass, and stores the timeline of the
  /// device's activity in the result. Call it only after sampling, because a profiler may slow later passes.
  void trace_region(const Region& region, Result& result) const;

 private:
  void keep_moments(std::span<const Series> series) const;
};

/// Takes `samples` samples of each region, to prepare or explain a case. Checks no results.
std::vector<Series> sample_few(const RunContext& bench, std::vector<Region> regions, std::size_t samples);
template <std::size_t N>
std::array<Series, N> sample_few(const RunContext& bench, const std::array<Region, N>& regions, std::size_t samples) {
  return first_n<N>(sample_few(bench, std::vector(regions.begin(), regions.end()), samples));
}

/// Whether every series has samples. After Ctrl-C, some series may be empty.
bool all_sampled(std::span<const Series> series);
/// Adds the measured times to the result. The first series is the main measurement and is added together with its
/// parts. The others are auxiliary: they cause no warnings. A series of wall_region() is added by add_wall().
void add_measurements(std::span<const Series> series, Result& result);

/// Adds the samples of a wall_region(), and their median as metric kTimeToResult. Adds nothing if there are no samples.
void add_wall(const Series& wall, Result& result);
/// Declares the measurements that add_wall() adds; time_to_result() declares its metric.
std::span<const MetricDeclaration> wall_metrics();
/// Declares the metric that add_wall() adds. It has a table column, whose place each scenario chooses.
MetricDeclaration time_to_result();
inline constexpr const char* kTimeToResult = "to_result";

/// Declares the parts of regions that use several devices (kGpuTime, kGpuEnd, kSinceOpening).
std::span<const MetricDeclaration> several_gpus_metrics();

/// Declares what trace_region() adds to a result.
std::span<const MetricDeclaration> timeline_metrics();

/// Joins a scenario's own axes or metrics and those that it shares with other scenarios.
template <class T, class... Shared>
std::vector<T> with_shared(std::vector<T> own, const Shared&... shared) {
  (own.insert(own.end(), shared.begin(), shared.end()), ...);
  return own;
}

class Scenario : NonCopyable {
 public:
  virtual ~Scenario() = default;

  /// Describes the scenario (name, axes, metrics). Always returns the same object.
  [[nodiscard]] virtual const ScenarioDescriptor& descriptor() const = 0;

  /// Returns why a case with valid axis values cannot run, such as more chunks than elements, or a device without
  /// memory pools; nothing if it can. If the capabilities are null, returns only reasons that hold on every device.
  [[nodiscard]] virtual std::optional<SkipReason> skip_reason(const Case&, const Capabilities*) const {
    return std::nullopt;
  }
  [[nodiscard]] virtual MemoryNeeds needs(const Case& c) const = 0;

  /// Returns the concrete cases that a case stands for on a machine with these GPUs, for example if the value of an
  /// axis is "all". Returns the case itself if it does not depend on the machine, or needs more than the machine has.
  [[nodiscard]] virtual std::vector<Case> expand(const Case& c, const GpusOfRun&) const { return {c}; }
  /// Returns the positions, among the run's GPUs, of the GPUs that the case uses. By default only the first GPU.
  [[nodiscard]] virtual std::vector<std::size_t> takes_part(const Case&, const Environment&) const { return {0}; }
  /// Whether a case measures only the link, only the GPU, or both. With this, a fleet tells slow GPUs from slow links.
  [[nodiscard]] virtual DataPath data_path(const Case&) const { return DataPath::mixed; }

  /// Measures and verifies one case. Adds to `result` as early as possible, so that measurements before an error are
  /// kept. Throws DeviceError, VerificationError or MeasurementError; the runner then marks the case as failed.
  virtual void run(const Case& c, const RunContext& bench, Result& result) const = 0;

  /// Returns findings from several results: fits, crossovers, a winner (see run/findings.hpp). Called once after the
  /// last case, with this scenario's results of status ok, in run order. After Ctrl-C, results may be few and have few
  /// samples. Must be a pure function. The caller sets `Finding::scenario`.
  [[nodiscard]] virtual std::vector<Finding> conclude(std::span<const Result* const>) const { return {}; }

  /// Returns why `tune` cannot search a case although a normal run can measure it; nothing if it can.
  [[nodiscard]] virtual std::optional<SkipReason> reason_against_tuning(const Case&) const { return std::nullopt; }

  /// Returns the cases as a search space for `tune`; null if the scenario cannot be tuned. A scenario that can be tuned
  /// declares values to try for at least one axis (Axis::tuning). This function measures the inputs of predictions,
  /// within `bench.policy`, and allocates data that all candidates share. Throws UsageError if the cases do different
  /// work, so that their times are not comparable. Also throws DeviceError or MeasurementError, like run(). After
  /// Ctrl-C, predict() of the returned space may fail.
  [[nodiscard]] virtual std::unique_ptr<Tunable> tunable(std::span<const Case>, const RunContext&) const {
    return nullptr;
  }
};

/// Base class of scenarios that work with a struct instead of a Case. `parse` converts a Case to that struct; it must
/// accept invalid combinations of values. `space` makes the search space of `tune`, see Scenario::tunable(); null:
/// there is none.
template <auto parse, std::unique_ptr<Tunable> (*space)(std::span<const Case>, const RunContext&) = nullptr>
class ScenarioOf : public Scenario {
 public:
  using Parsed = decltype(parse(Case()));

  explicit ScenarioOf(ScenarioDescriptor descriptor) : descriptor_(std::move(descriptor)) {}

  [[nodiscard]] const ScenarioDescriptor& descriptor() const final { return descriptor_; }
  [[nodiscard]] std::optional<SkipReason> skip_reason(const Case& c, const Capabilities* can) const final {
    return reason_to_skip(parse(c), can);
  }
  [[nodiscard]] MemoryNeeds needs(const Case& c) const final { return memory_needs(parse(c)); }
  [[nodiscard]] std::unique_ptr<Tunable> tunable(std::span<const Case> cases, const RunContext& bench) const override {
    if constexpr (constexpr auto kSpace = space; kSpace != nullptr) return kSpace(cases, bench);
    return nullptr;
  }
  void run(const Case& c, const RunContext& bench, Result& result) const final { measure(parse(c), bench, result); }

 protected:
  // Counterparts of skip_reason(), needs() and run() with parsed cases, for derived classes to implement.
  [[nodiscard]] virtual std::optional<SkipReason> reason_to_skip(const Parsed&, const Capabilities*) const {
    return std::nullopt;
  }
  [[nodiscard]] virtual MemoryNeeds memory_needs(const Parsed& c) const = 0;
  virtual void measure(const Parsed& c, const RunContext& bench, Result& result) const = 0;

 private:
  ScenarioDescriptor descriptor_;
};

/// Returns the only object of a scenario's class.
template <class OneScenario>
const Scenario& the_only() {
  static const OneScenario scenario;
  return scenario;
}

/// Whether `tune` can search this scenario, which is so if any of its axes has values to tune (Axis::tuning).
[[nodiscard]] inline bool can_tune(const Scenario& scenario) {
  return std::ranges::any_of(scenario.descriptor().axes, [](const Axis& axis) { return !axis.tuning.empty(); });
}

}  // namespace xferbench
