// The interface of scenarios. One file in scenarios/ defines a class like this, and scenarios/scenarios.cpp lists it.
// Flags, help, cases, memory checks, tables and files follow from its declarations.
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
#include "ranks/lockstep.hpp"
#include "ranks/timed_collectives.hpp"
#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"
#include "run/skip_reason.hpp"
#include "run/tunable.hpp"

namespace xferbench {

/// Memory that a case will hold at once, in bytes.
struct MemoryNeeds {
  std::uint64_t host = 0;
  std::uint64_t device = 0;   ///< of each GPU that takes part
  std::uint64_t managed = 0;  ///< managed memory, which moves between host and devices
};

/// The GPUs of a run, from which scenarios choose before anything is measured.
struct GpusOfRun {
  const Environment& environment;  ///< of the opened machine
  bool asked_for = false;          ///< by --gpus, not only opened because another scenario of the run needs them
  int ranks = 1;                   ///< number of processes that measure together

  [[nodiscard]] std::size_t count() const { return environment.gpu_count(); }
  /// Their numbers as users write them, in order.
  [[nodiscard]] std::vector<int> numbers() const { return environment.gpu_numbers(); }
};

/// Indexes of these GPU numbers among the run's GPUs, without numbers that the run does not have.
std::vector<std::size_t> places_of(std::span<const int> numbers, const Environment& environment);
/// The devices with these GPU numbers, without numbers that the run does not have.
std::vector<Device*> devices_of(std::span<const int> numbers, const Machine& machine);
/// Why a case that uses these GPUs cannot run here; nothing if it can.
std::optional<SkipReason> missing_gpus(std::span<const int> numbers, const Environment& environment);
/// Why a case cannot run in which each GPU of `from` must reach the memory of each of `to`; nothing if it can.
std::optional<SkipReason> missing_access(std::span<const int> from, std::span<const int> to,
                                         const Environment& environment);

/// The processes of a run under mpirun or srun, for scenarios that measure between several of them.
struct FleetContext {
  Communicator& ranks;
  std::span<const int> nodes;  ///< node of each rank
  Timeout timeout;
  RankConcurrency pace = RankConcurrency::all;  ///< concurrency of the case
  /// Ranks that measure the case, ascending; empty: all of them. Other ranks would not answer.
  std::span<const int> taking_part{};

  [[nodiscard]] bool takes_part(int rank) const {
    return taking_part.empty() || std::ranges::find(taking_part, rank) != taking_part.end();
  }
};

/// The first N series as an array, for structured bindings.
template <std::size_t N>
std::array<Series, N> first_n(std::vector<Series> series) {
  std::array<Series, N> each;
  std::move(series.begin(), series.begin() + N, each.begin());
  return each;
}

/// Caches what one run measures once and several of its cases use.
class Memo {
 public:
  /// Returns what `make` returned at the first request for this key. A key must always be used with one type.
  template <class T>
  const T& remember(const std::string& key, const std::function<T()>& make) {
    auto found = values_.find(key);
    if (found == values_.end()) found = values_.emplace(key, make()).first;
    return *std::any_cast<T>(&found->second);
  }

 private:
  std::map<std::string, std::any> values_;
};

/// What a scenario runs with: the machine and the user's settings.
struct RunContext {
  Machine& machine;
  Device& device;  ///< device of the machine that the scenario measures
  SamplingPolicy policy;
  std::uint64_t seed = 0;
  bool verify = true;
  SamplingObserver observe;
  bool trace = false;                       ///< a timeline was requested
  Objective objective = Objective::device;  ///< what `tune` minimizes
  /// Cache shared by the cases of a run; a case that runs by itself has its own.
  std::shared_ptr<Memo> memo = std::make_shared<Memo>();

  /// Keeps the case in step with other processes; null if there are none.
  Lockstep* pace = nullptr;
  /// The processes of the run; null if this is the only one.
  const FleetContext* fleet = nullptr;
  /// If set, receives begin and end of the passes of each region, keyed by the region's name.
  std::map<std::string, std::vector<Lockstep::Moments>>* moments = nullptr;

  /// The samples of earlier turns; null if a case has only one turn.
  std::shared_ptr<SampleHistory> history{};

  /// Whether the payload must be filled: because it is verified, or because timed copies really move it.
  [[nodiscard]] bool needs_data() const { return verify || device.capabilities().moves_data_when_timed; }
  /// Which timed passes are checked, if their region has a check; none on a machine that only models times.
  [[nodiscard]] PassChecks checks() const { return {verify && device.capabilities().moves_data_when_timed, seed}; }
  /// Whether the run is to end: after Ctrl-C here, or in step, on any process that measures together.
  [[nodiscard]] bool stopped() const;
  /// Whether to verify again after sampling. Not after Ctrl-C, since verifying gigabytes takes long.
  [[nodiscard]] bool verifies_again() const;
  /// Samples the regions of the case, and adds the samples of earlier turns. Throws FailedCheck if the output of a
  /// timed pass is wrong.
  std::vector<Series> sample(std::vector<Region> regions, const SamplingPolicy& wanted) const;
  std::vector<Series> sample(std::vector<Region> regions) const { return sample(std::move(regions), policy); }
  /// Like sample() above, for regions that are never same_batch: one series each, for structured bindings.
  template <std::size_t N>
  std::array<Series, N> sample(const std::array<Region, N>& regions, const SamplingPolicy& wanted) const {
    return first_n<N>(sample(std::vector(regions.begin(), regions.end()), wanted));
  }
  /// If a timeline was requested: runs the region once more, like a timed pass but untimed, and records what the device
  /// did when. Call it only after sampling, because a profiler may have effects even after it is detached.
  void trace_region(const Region& region, Result& result) const;

 private:
  void keep_moments(std::span<const Series> series) const;
};

/// Takes that many samples of regions that prepare or explain the case. Checks no pass.
std::vector<Series> sample_few(const RunContext& bench, std::vector<Region> regions, std::size_t samples);
template <std::size_t N>
std::array<Series, N> sample_few(const RunContext& bench, const std::array<Region, N>& regions, std::size_t samples) {
  return first_n<N>(sample_few(bench, std::vector(regions.begin(), regions.end()), samples));
}

/// Whether every series has samples; after Ctrl-C, some may have none.
bool all_sampled(std::span<const Series> series);
/// Adds the times to the result's measurements. The first series is what the case is about, and is added with its
/// parts. The others are for comparison and cause no warnings. A wall_region() series is added by add_wall().
void add_measurements(std::span<const Series> series, Result& result);

/// Adds the samples of a wall_region() region, and the metrics derived from them (wall_metrics()); nothing without
/// samples.
void add_wall(const Series& wall, Result& result);
/// Declarations of what add_wall() adds. Scenarios that sample such regions declare these and time_to_result().
std::span<const MetricDeclaration> wall_metrics();
/// The declaration of the metric that add_wall() adds. It has a column, so scenarios place it in their tables
/// themselves.
MetricDeclaration time_to_result();
inline constexpr const char* kTimeToResult = "to_result";

/// Declarations of the parts of regions over several devices (measure/region.hpp), for scenarios with such regions.
std::span<const MetricDeclaration> several_gpus_metrics();

/// Declarations of what trace_region() adds to a result, for scenarios that call it.
std::span<const MetricDeclaration> timeline_metrics();

/// A scenario's own axes or metrics, followed by those that it shares with others.
template <class T, class... Shared>
std::vector<T> with_shared(std::vector<T> own, const Shared&... shared) {
  (own.insert(own.end(), shared.begin(), shared.end()), ...);
  return own;
}

class Scenario : NonCopyable {
 public:
  virtual ~Scenario() = default;

  /// The scenario as data; the same object each time.
  [[nodiscard]] virtual const ScenarioDescriptor& descriptor() const = 0;

  /// Why a combination of legal values does not run (more chunks than elements, a device without memory pools), or
  /// nothing. Without a device: only reasons that hold on every device.
  [[nodiscard]] virtual std::optional<SkipReason> skip_reason(const Case&, const Capabilities*) const {
    return std::nullopt;
  }
  [[nodiscard]] virtual MemoryNeeds needs(const Case& c) const = 0;

  /// What a case stands for on a machine with these GPUs, for example if an axis says "all". The case itself if it does
  /// not depend on the machine, or if the machine lacks what it asks for.
  [[nodiscard]] virtual std::vector<Case> expand(const Case& c, const GpusOfRun&) const { return {c}; }
  /// Indexes of the run's GPUs that a case uses; other GPUs need not work. By default the first one.
  [[nodiscard]] virtual std::vector<std::size_t> takes_part(const Case&, const Environment&) const { return {0}; }
  /// Whether a case measures only the link or only the GPU. This distinguishes a slow GPU from a slow link in a fleet.
  [[nodiscard]] virtual DataPath data_path(const Case&) const { return DataPath::mixed; }

  /// Measures and verifies. Adds to `result` as early as possible, so that what was measured before an error is kept.
  /// Throws DeviceError, VerificationError or MeasurementError; the runner turns them into a failed case.
  virtual void run(const Case& c, const RunContext& bench, Result& result) const = 0;

  /// Conclusions from several results: fits, crossovers, a winner (run/findings.hpp helps). Called once, after the last
  /// case, with the results of this scenario with status ok, in run order. After Ctrl-C there may be few of them, with
  /// few samples. A pure function. The caller sets `Finding::scenario`.
  [[nodiscard]] virtual std::vector<Finding> conclude(std::span<const Result* const>) const { return {}; }

  /// Why `tune` cannot search a case that a run can measure; nothing if it can.
  [[nodiscard]] virtual std::optional<SkipReason> reason_against_tuning(const Case&) const { return std::nullopt; }

  /// The cases as a search space for `tune`; null if the scenario cannot be tuned. A scenario that can gives at least
  /// one axis values to tune (Axis::tuning), from which the command line knows it. Measures the stages and allocates
  /// what all candidates share; `bench.policy` is for that, with a share of the user's budget. Throws UsageError if the
  /// cases do not do the same work, so that their times cannot be compared; DeviceError or MeasurementError as run()
  /// does. After Ctrl-C it may return a space that cannot predict, since that is not used.
  [[nodiscard]] virtual std::unique_ptr<Tunable> tunable(std::span<const Case>, const RunContext&) const {
    return nullptr;
  }
};

/// A scenario that works with parsed cases. `parse` converts a Case with its axes, legal or not, to a struct.
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
  // The functions of Scenario, for parsed cases.
  [[nodiscard]] virtual std::optional<SkipReason> reason_to_skip(const Parsed&, const Capabilities*) const {
    return std::nullopt;
  }
  [[nodiscard]] virtual MemoryNeeds memory_needs(const Parsed& c) const = 0;
  virtual void measure(const Parsed& c, const RunContext& bench, Result& result) const = 0;

 private:
  ScenarioDescriptor descriptor_;
};

/// Whether `tune` can search this scenario: whether any of its axes has values to tune.
[[nodiscard]] inline bool can_tune(const Scenario& scenario) {
  return std::ranges::any_of(scenario.descriptor().axes, [](const Axis& axis) { return !axis.tuning.empty(); });
}

}  // namespace xferbench
