// What a run produces, and what a results file holds: plain records without any presentation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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
#include "results/boxed.hpp"
#include "results/fleet.hpp"
#include "results/metric_declaration.hpp"
#include "results/samples.hpp"

namespace xferbench {

/// Which clock timed a measurement; docs/measurement.md says what each includes.
enum class Clock {
  event_gated,
  event,
  host,
  cpu,     ///< CPU time of the calling thread
  device,  ///< the GPU's own counters, read by a kernel, related to the host's clock where the host is involved
};
constexpr auto texts_of(Clock) {
  return std::to_array<std::string_view>({"event-gated", "event", "host", "cpu", "device"});
}

/// Why sampling ended.
enum class Stop {
  ci,
  budget,
  max_samples,
  interrupted,
  others,        ///< all that decide had reached their target; this one, which does not, has not
  out_of_reach,  ///< the samples said that the budget would not do
};
constexpr auto texts_of(Stop) {
  return std::to_array<std::string_view>({"ci", "budget", "max-samples", "interrupted", "others", "out-of-reach"});
}

struct Interval {
  double low = 0;
  double high = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Raw samples in run order, and what the statistics say of them. Never edited after sampling.
struct Measurement {
  std::string name;
  Clock clock = Clock::event;
  std::string unit = "s";
  Samples samples;
  unsigned batch = 1;  ///< repetitions timed together for one sample, which is their mean
  double min = 0;
  double median = 0;
  double max = 0;
  std::optional<Interval> ci95;  ///< of the median; absent below six samples
  std::optional<double> p90;     ///< 90th percentile; absent below 10 samples
  std::optional<double> p99;     ///< 99th percentile; absent below 100 samples
  Stop stop = Stop::budget;
  std::size_t warmup_runs = 0;
  bool warmup_converged = false;
  std::size_t outliers_mild = 0;
  std::size_t outliers_severe = 0;
  std::size_t gate_timeouts = 0;
  std::optional<std::size_t> checked;  ///< timed passes whose output was checked; absent where none could be
  std::vector<std::string> flags;
  std::optional<int> gpu{};  ///< Environment::Gpu::index of that which it is of, where it is of one of several
  bool auxiliary =
      false;  ///< beside the point of the case: its flags are kept but nobody is warned of them; not in files
  friend bool operator==(const Measurement&, const Measurement&) = default;
};

/// Half the width of the median's interval over the median; nothing below six samples.
std::optional<double> relative_half_width(const Measurement& measurement);

/// A number derived from measurements. Units: "GB/s" is 10^9 payload bytes per second, "1" a ratio, "s", "B", "Hz".
struct Metric {
  std::string name;
  double value = 0;
  std::string unit;
  std::optional<int> gpu{};  ///< as a measurement's
  friend bool operator==(const Metric&, const Metric&) = default;
};

enum class Status { ok, failed, skipped };
constexpr auto texts_of(Status) { return std::to_array<std::string_view>({"ok", "failed", "skipped"}); }

/// The reason of a case that was skipped because the run was interrupted before its turn.
inline constexpr std::string_view kNotBegun = "interrupted before it began";
/// Of one that was interrupted in its turn.
inline constexpr std::string_view kNoSamples = "interrupted before its first samples";
/// And of one that was skipped because the GPU was lost before its turn.
inline constexpr std::string_view kDeviceLost =
    "an earlier error destroyed the GPU's context; run this case again in a new process, as --resume does";

/// Or because it did not answer any more.
inline constexpr std::string_view kDeviceStuck =
    "the GPU is stuck in an earlier case; run this case again in a new process, as --resume does";

/// Words by their names: {"limited_by", "link"}.
using Labels = std::vector<std::pair<std::string, std::string>>;

/// One case: as it was measured just now, or as a file tells it.
struct Result {
  Case config;
  Status status = Status::ok;
  std::string reason;
  std::vector<std::string> warnings;
  std::vector<Measurement> measurements;
  std::vector<Metric> metrics;
  Labels labels;               ///< findings that are words
  std::vector<int> gpus{};     ///< Environment::Gpu::index of those that took part, where a run has several
  Boxed<InFleet> in_fleet{};   ///< of one rank of a fleet
  Boxed<HealthRecord> health;  ///< of the GPU around its last turn, where it tells
  Boxed<Trace> trace;          ///< of one more pass, where a timeline was asked for; not in files

  Result() = default;
  explicit Result(Case c) : config(std::move(c)) {}
  /// What tells it from all others of a report: the key of its case, and in a fleet who measured it, at which pace and
  /// in which round: "memcpy/size=1MiB/dir=h2d pace=all rank=3", then " round=2".
  [[nodiscard]] std::string identity() const;
  /// What is in a file need not stay in memory.
  void put_samples_away();
  [[nodiscard]] bool has_samples_put_away() const;
  /// The one that sends and the one that receives, as the labels kFromRank and kToRank say; nothing of what is of one
  /// rank alone.
  [[nodiscard]] std::optional<std::pair<int, int>> ranks_of_transfer() const;
  void add(std::string name, double value, std::string unit) {
    metrics.push_back({std::move(name), value, std::move(unit)});
  }
  void add(std::string name, double value, std::string unit, int of_gpu) {
    metrics.push_back({std::move(name), value, std::move(unit), of_gpu});
  }
  /// That of the case, or of one of its GPUs; null if there is none.
  [[nodiscard]] const Measurement* measurement(std::string_view name, std::optional<int> gpu = {}) const;
  [[nodiscard]] const Metric* metric(std::string_view name, std::optional<int> gpu = {}) const;
  /// The same of one that every such result of its scenario has. Throws InputError with the key and the name where this
  /// one has it not: it comes from a file that says otherwise.
  const Measurement& needed_measurement(std::string_view name) const;
  const Metric& needed_metric(std::string_view name) const;
  /// The median of the measurement, or the value of the metric, of that name; 0 if there is none.
  [[nodiscard]] double median(std::string_view name) const;
  [[nodiscard]] double value(std::string_view name) const;
  /// Empty if there is no such label.
  [[nodiscard]] std::string label(std::string_view name) const;
  friend bool operator==(const Result&, const Result&) = default;
};

/// Whether all that was to be sampled was, whatever came of it; a case that was skipped has not begun.
bool ran_to_its_end(const Result& result);

/// What a case is about: the first of the headlines declared that it has, or, where none is, its first measurement;
/// none of a single GPU among several. Null if that was not sampled.
const Measurement* headline_of(const Result& result, std::span<const MetricDeclaration> declared);

/// What results of each scenario may have, by the scenario's name.
using MetricsDeclared = std::map<std::string, std::vector<MetricDeclaration>, std::less<>>;
/// Empty for a scenario that is not among them.
std::span<const MetricDeclaration> declared_for(const MetricsDeclared& all, std::string_view scenario);

/// What several results of a scenario say together.
struct Finding {
  std::string scenario{};  ///< its name
  std::string kind{};      ///< "fit", "crossover", "break-even", "winner"; findings of a kind share a table
  Labels labels{};         ///< what it is about: {"dir", "h2d"}, {"host", "pinned"}
  std::vector<Metric> metrics{};
  std::string text{};   ///< a sentence without its full stop; empty: shown as a row of the table of its kind
  bool row = false;     ///< shown as such a row although it has a text, which stands alone elsewhere; not in files
  bool detail = false;  ///< follows from others, and is shown only where all findings are asked for
  friend bool operator==(const Finding&, const Finding&) = default;
};

/// The program that measured. What is unknown is empty.
struct Tool {
  std::string version;
  std::string git;
  std::string compiler;
  std::string cuda;  ///< its toolkit
  std::string type;  ///< CMake's build type
  friend bool operator==(const Tool&, const Tool&) = default;
};

/// The program that is running.
Tool this_tool();

/// What a further process measured of the same command, on the same machine.
struct FurtherProcess {
  std::string started_at;
  std::vector<Result> results;
  friend bool operator==(const FurtherProcess&, const FurtherProcess&) = default;
};

struct Report {
  bool complete = false;
  bool verified = true;                 ///< false with --no-verify; files from before there was this say nothing
  std::string started_at;               ///< ISO 8601, UTC
  std::vector<std::string> resumed_at;  ///< when a run that had been stopped went on, each time
  Tool tool = this_tool();
  std::vector<std::string> command;
  Environment environment;
  MetricsDeclared metrics_declared;  ///< of the scenarios of its results
  std::vector<Result> results;
  std::optional<Fleet> fleet{};                     ///< of a run under mpirun or srun
  std::vector<Finding> findings;                    ///< empty until the last case has ended
  std::vector<FurtherProcess> further_processes{};  ///< of a suite that takes several: all after the first
  friend bool operator==(const Report&, const Report&) = default;
};

/// A results file and what messages call it.
struct NamedReport {
  std::string name;
  Report report;
};

/// One for each process: a file with further processes counts as that many files.
std::vector<NamedReport> by_process(std::vector<NamedReport> files);

/// The same case as several processes measured it.
struct SameCase {
  std::string identity;                ///< Result::identity()
  std::vector<const Result*> results;  ///< one for each report, in their order; null where a report has no such case
};

/// The cases of all reports (of fleets, with each rank, pace and round), each once, in the order in which they come.
/// The reports must outlive what is returned.
std::vector<SameCase> same_cases(std::span<const Report* const> reports);

/// The same where something else identifies a result; an empty text leaves it out.
using Identify = std::function<std::string(const Report& report, const Result& result)>;
std::vector<SameCase> same_cases(std::span<const Report* const> reports, const Identify& identify);

}  // namespace xferbench
