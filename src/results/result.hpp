// The records of a run, which are also the contents of a results file. They have no presentation.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/axis.hpp"
#include "core/enum_text.hpp"
#include "core/environment.hpp"
#include "core/health.hpp"
#include "core/trace.hpp"
#include "results/fleet.hpp"
#include "results/heap_optional.hpp"
#include "results/metric_declaration.hpp"
#include "results/samples.hpp"

namespace xferbench {

/// The clock that timed a measurement. docs/measurement.md explains what the times of each clock include.
enum class Clock {
  event_gated,
  event,
  host,
  cpu,     ///< CPU time of the calling thread
  device,  ///< the GPU's own counters, read by a kernel; related to the host's clock if the host is involved
};
constexpr auto texts_of(Clock) { return enum_texts("event-gated", "event", "host", "cpu", "device"); }

/// Why sampling ended.
enum class Stop {
  ci,
  budget,
  max_samples,
  interrupted,
  /// All measurements that decide when sampling ends reached their target. This one does not decide, and missed it.
  others,
  out_of_reach,  ///< the samples showed that the time budget would not suffice
};
constexpr auto texts_of(Stop) {
  return enum_texts("ci", "budget", "max-samples", "interrupted", "others", "out-of-reach");
}

struct Interval {
  double low = 0;
  double high = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Raw samples in run order, and their statistics. Never edited after sampling.
struct Measurement {
  std::string name;
  Clock clock = Clock::event;
  std::string unit = "s";
  Samples samples;
  unsigned batch = 1;  ///< number of repetitions timed together for one sample, which is their mean
  double min = 0;
  double median = 0;
  double max = 0;
  std::optional<Interval> ci95;  ///< 95 % confidence interval of the median; absent below six samples
  std::optional<double> p90;     ///< 90th percentile; absent below 10 samples
  std::optional<double> p99;     ///< 99th percentile; absent below 100 samples
  Stop stop = Stop::budget;
  std::size_t warmup_runs = 0;
  bool warmup_converged = false;
  std::size_t outliers_mild = 0;
  std::size_t outliers_severe = 0;
  std::size_t gate_timeouts = 0;
  /// Number of timed passes whose output was checked; absent if none could be checked.
  std::optional<std::size_t> checked;
  std::vector<std::string> flags;
  std::optional<int> gpu{};  ///< Environment::Gpu::index, if the value is of one of several GPUs
  bool auxiliary = false;    ///< of minor interest, so its flags cause no warnings; not stored in files
  friend bool operator==(const Measurement&, const Measurement&) = default;
};

/// Returns half the width of the median's confidence interval, as a share of the median; nothing below six samples.
std::optional<double> relative_half_width(const Measurement& measurement);

/// A number derived from measurements. Units: "GB/s" is 10^9 payload bytes per second, "1" a ratio, "s", "B", "Hz".
struct Metric {
  std::string name;
  double value = 0;
  std::string unit;
  std::optional<int> gpu{};  ///< Environment::Gpu::index, if the value is of one of several GPUs
  friend bool operator==(const Metric&, const Metric&) = default;
};

enum class Status { ok, failed, skipped };
constexpr auto texts_of(Status) { return enum_texts("ok", "failed", "skipped"); }

inline constexpr std::string_view kNotBegun = "interrupted before it began";
inline constexpr std::string_view kNoSamples = "interrupted before its first samples";
/// Reason of a case that was skipped because the GPU was lost before the case began.
inline constexpr std::string_view kDeviceLost =
    "an earlier error destroyed the GPU's context; run this case again in a new process, as --resume does";

/// Reason of a case that was skipped because the GPU no longer answered.
inline constexpr std::string_view kDeviceStuck =
    "the GPU is stuck in an earlier case; run this case again in a new process, as --resume does";

/// Pairs of a name and a word, for example {"limited_by", "link"}.
using Labels = std::vector<std::pair<std::string, std::string>>;

/// The result of one case, just measured or read from a file.
struct Result {
  Case config;
  Status status = Status::ok;
  std::string reason;
  std::vector<std::string> warnings;
  std::vector<Measurement> measurements;
  std::vector<Metric> metrics;
  Labels labels;                      ///< results in words, such as what limits the speed
  std::vector<int> gpus{};            ///< Environment::Gpu::index of the GPUs that took part, if the run has several
  HeapOptional<InFleet> in_fleet{};   ///< which rank of a fleet measured the case, and how; empty without a fleet
  HeapOptional<HealthRecord> health;  ///< GPU health before and after the case was last sampled; empty if unknown
  HeapOptional<Trace> trace;          ///< timeline of one additional pass, if one was requested; not in files

  Result() = default;
  explicit Result(Case c) : config(std::move(c)) {}
  /// Returns a text that is unique within a report: the key of the case, and in a fleet the concurrency, rank and
  /// round: "memcpy/size=1MiB/dir=h2d pace=all rank=3", then " round=2".
  [[nodiscard]] std::string identity() const;
  /// Frees the memory of the samples, which must already be in a file.
  void release_samples();
  [[nodiscard]] bool has_released_samples() const;
  /// Returns sender and receiver of a transfer, from the labels kFromRank and kToRank; nothing for a result of one rank
  /// alone.
  [[nodiscard]] std::optional<std::pair<int, int>> ranks_of_transfer() const;
  void add(std::string name, double value, std::string unit) {
    metrics.push_back({std::move(name), value, std::move(unit)});
  }
  void add(std::string name, double value, std::string unit, int of_gpu) {
    metrics.push_back({std::move(name), value, std::move(unit), of_gpu});
  }
  /// Return the measurement or metric with that name, of the case or of one of its GPUs; null if there is none.
  [[nodiscard]] const Measurement* measurement(std::string_view name, std::optional<int> gpu = {}) const;
  [[nodiscard]] const Metric* metric(std::string_view name, std::optional<int> gpu = {}) const;
  /// Return the measurement or metric with that name, which every result of the scenario has. Throw InputError with the
  /// key and the name if it is missing, which happens if the result comes from a defective file.
  const Measurement& needed_measurement(std::string_view name) const;
  const Metric& needed_metric(std::string_view name) const;
  /// Return the median of the measurement, or the value of the metric, of that name; 0 if there is none.
  [[nodiscard]] double median(std::string_view name) const;
  [[nodiscard]] double value(std::string_view name) const;
  /// Returns the word of that label; empty if there is no such label.
  [[nodiscard]] std::string label(std::string_view name) const;
  friend bool operator==(const Result&, const Result&) = default;
};

/// Whether the case ended, successfully or not. False for a skipped case, and for one that was interrupted.
bool ran_to_its_end(const Result& result);

/// Returns the main measurement of a case: the first declared headline that it has, or without one its first
/// measurement. Ignores measurements of single GPUs. Returns null if that measurement has no samples.
const Measurement* headline_of(const Result& result, std::span<const MetricDeclaration> declared);

/// Declarations of what the results of each scenario may contain, keyed by the scenario's name.
using MetricsDeclared = std::map<std::string, std::vector<MetricDeclaration>, std::less<>>;
/// Returns the declarations for a scenario; none for an unknown one.
std::span<const MetricDeclaration> declared_for(const MetricsDeclared& all, std::string_view scenario);

/// A conclusion from several results of a scenario.
struct Finding {
  std::string scenario{};
  std::string kind{};  ///< "fit", "crossover", "break-even", "winner"; findings of a kind share a table
  Labels labels{};     ///< subject of the finding: {"dir", "h2d"}, {"host", "pinned"}
  std::vector<Metric> metrics{};
  std::string text{};   ///< a sentence without its final period; empty: shown as a row in the table of its kind
  bool row = false;     ///< shown as a row in the table of its kind, although it has a text; not in files
  bool detail = false;  ///< follows from other findings; shown only if all are requested

  /// Returns the word of that label; empty if there is no such label.
  [[nodiscard]] std::string label(std::string_view name) const;
  friend bool operator==(const Finding&, const Finding&) = default;
};

/// The program that measured. Unknown values are empty.
struct Tool {
  std::string version;
  std::string git;
  std::string compiler;
  std::string cuda;  ///< version of the CUDA toolkit
  std::string type;  ///< CMake's build type
  friend bool operator==(const Tool&, const Tool&) = default;
};

/// Returns the facts about the running program.
Tool this_tool();

/// Results of another process that ran the same command on the same machine.
struct FurtherProcess {
  std::string started_at;
  std::vector<Result> results;
  friend bool operator==(const FurtherProcess&, const FurtherProcess&) = default;
};

struct Report {
  bool complete = false;
  bool verified = true;                 ///< false with --no-verify; older files do not contain it
  std::string started_at;               ///< ISO 8601, UTC
  std::vector<std::string> resumed_at;  ///< times at which the stopped run was resumed, ISO 8601, UTC
  Tool tool = this_tool();
  std::vector<std::string> command;
  Environment environment;
  MetricsDeclared metrics_declared;  ///< metrics that the scenarios with results declare
  std::vector<Result> results;
  std::optional<Fleet> fleet{};                     ///< only for a run under mpirun or srun
  std::vector<Finding> findings;                    ///< empty until the last case has ended
  std::vector<FurtherProcess> further_processes{};  ///< if several processes ran a suite: results of all but the first
  friend bool operator==(const Report&, const Report&) = default;
};

/// A report and the name that messages use for it.
struct NamedReport {
  std::string name;
  Report report;
};

/// Returns one report for each process: a file that holds results of several processes becomes several reports.
std::vector<NamedReport> by_process(std::vector<NamedReport> files);

/// The results of one case from several processes.
struct SameCase {
  std::string identity;                ///< Result::identity()
  std::vector<const Result*> results;  ///< one for each report, in order; null if a report lacks the case
};

/// Returns all cases of the reports, each once, in order of appearance. In fleets, each rank, concurrency and round is
/// a case of its own. The reports must outlive the returned list.
std::vector<SameCase> same_cases(std::span<const Report* const> reports);

/// Like same_cases() above, but uses the identities that `identify` returns. Leaves out results with an empty identity.
using Identify = std::function<std::string(const Report& report, const Result& result)>;
std::vector<SameCase> same_cases(std::span<const Report* const> reports, const Identify& identify);

}  // namespace xferbench
