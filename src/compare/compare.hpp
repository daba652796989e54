// Compares the results of runs, case by case, with a confidence interval for each change. Turns results files into
// plain records, from which words/ and report/ make text. docs/lab/compare.md describes the statistics.
#pragma once

#include <array>

#include "core/error.hpp"
#include "results/result.hpp"
#include "results/spread_file.hpp"

namespace xferbench::compare {

/// How the ranks of two fleets (runs of many MPI ranks) are matched.
enum class Match {
  uuid,  ///< by the UUID of the GPU, even if the GPU has moved to another rank or host
  rank,  ///< by the rank number, even if the rank has another GPU
};
constexpr auto texts_of(Match) { return enum_texts("uuid", "rank"); }

struct Options {
  /// Declarations of metrics, used for files that contain none.
  MetricsDeclared metrics_declared{};
  double threshold = 0.03;  ///< smaller relative changes are not reported
  /// name of the measurement or metric to compare; absent: the headline (main measurement)
  std::optional<std::string> metric{};
  /// patterns of case keys to compare; a key must match one of them; empty: all cases
  std::vector<std::string> only{};
  std::optional<Match> match{};  ///< for fleets: how ranks are matched; absent: by UUID if all GPUs have one
  bool bootstrap = false;        ///< estimate the ratio of medians and its interval by bootstrap
  bool allow_simulated = false;  ///< compare simulated with measured results, and different profiles
  bool strict = false;           ///< a case that cannot be judged makes the outcome `undecided`
  /// Relative spread between processes that is assumed if none is known; 0: assume none.
  double assumed_spread = 0.02;
  /// measured spreads between processes on this GPU model, from the file of --spread
  std::optional<SpreadFile> known_spreads{};
};

/// The verdicts on a case, in the order in which they are shown.
enum class Verdict {
  regressed,     ///< significantly worse, and the whole interval of the ratio is beyond the threshold
  missing,       ///< the base side has a number, but the new side has none or fails
  improved,      ///< significantly better, and the whole interval of the ratio is beyond the threshold
  changed,       ///< like `regressed` or `improved`, but neither direction is better for this number
  inconclusive,  ///< the data is not sufficient for any of the other verdicts
  same,          ///< the whole interval of the ratio lies within the threshold
  added,         ///< the new side has a number, but the base side has none; shown as "new"
};
inline constexpr std::array kVerdicts{Verdict::regressed,    Verdict::missing, Verdict::improved, Verdict::changed,
                                      Verdict::inconclusive, Verdict::same,    Verdict::added};
constexpr auto texts_of(Verdict) {
  return enum_texts("regressed", "missing", "improved", "changed", "inconclusive", "same", "new");
}

/// The statistical test that decided about a case.
enum class TestUsed {
  none,   ///< there are too few numbers for a test
  ranks,  ///< the Mann-Whitney test
  welch,  ///< Welch's t-test on the logarithms of the processes' medians
};
constexpr auto texts_of(TestUsed) { return enum_texts("none", "mann-whitney", "welch-t"); }

/// The source of the spread between processes that a test used.
enum class SpreadSource {
  assumed,   ///< the spread is unknown, so Options::assumed_spread is used
  known,     ///< from a file of spreads
  measured,  ///< measured between the processes that are compared
};
constexpr auto texts_of(SpreadSource) { return enum_texts("assumed", "known", "measured"); }

/// The numbers of one case on one side.
struct Side {
  std::size_t n = 0;  ///< number of samples; with several files per side, number of files
  double median = 0;  ///< median of the samples; with several files per side, median of their medians
};

/// One case on both sides.
struct Row {
  std::string key;       ///< identity of the case; in fleets, it includes concurrency and rank or GPU
  std::string place{};   ///< in fleets, text that says where the case was measured
  std::string measured;  ///< name of the measurement or metric
  std::string unit;
  Better better = Better::neither;
  Verdict verdict = Verdict::inconclusive;
  bool failed = false;  ///< the case fails on the new side but not on the base side
  std::optional<Side> base;
  std::optional<Side> new_side;
  std::optional<double> ratio;  ///< new / base
  /// 95 % confidence interval of the ratio, which includes the spread between processes
  std::optional<Interval> interval;
  /// with one process per side: interval of the ratio that includes only the noise of the samples
  std::optional<Interval> within;
  TestUsed test = TestUsed::none;
  std::optional<double> p;                ///< p-value of the test, before the adjustment for many cases
  std::optional<double> p_holm;           ///< p-value adjusted for all tested cases
  std::optional<double> spread;           ///< relative spread between processes that the test assumed or estimated
  std::optional<double> observed_spread;  ///< relative spread between the processes of this case alone
  SpreadSource spread_from = SpreadSource::assumed;
  /// The smallest changes that would have been detected with this data, as ratios below and above 1.
  std::optional<Interval> detectable_ratios;
  bool identical = false;          ///< exactly the same samples on both sides
  std::string reason;              ///< reason for the verdict; empty for `same`
  std::vector<std::string> notes;  ///< doubts about the numbers of this case

  /// Returns the smallest detectable change for the worse as a fraction. If neither direction is better, returns the
  /// larger of the two smallest detectable changes, one for each direction.
  [[nodiscard]] std::optional<double> detectable_slowdown() const;
};

/// A property of the machine, the program or the command that differs between the sides.
struct Difference {
  std::string what;
  std::string base;
  std::string new_side;
};

struct Source {
  std::string name;
  std::string started_at;
  std::string gpu;
  std::string version;  ///< version of xferbench, with its commit if known
  bool verified = true;
  std::string fault{};    ///< fault that was injected into the device; empty if none
  bool complete = true;   ///< false: the run was interrupted or is still running
  std::string profile{};  ///< profile of the simulated device; empty if the run was measured
};

/// The overall result of a comparison.
struct Outcome {
  ExitCode code = ExitCode::ok;
  std::string because;                          ///< reason for the code: a sentence without its full stop
  std::optional<double> detectable_slowdown{};  ///< smallest detectable slow-down in the median case, as a fraction
  std::vector<std::string> reach{};  ///< sentences about the detectable slow-down and the spread between processes
};

struct Comparison {
  Options options;
  std::vector<Source> base;
  std::vector<Source> new_side;
  std::optional<std::string> simulated;  ///< name of the simulation profile; absent if both sides are measured
  std::optional<Match> match{};          ///< for fleets: how ranks are matched; absent without a fleet
  std::string matched{};                 ///< sentence without its full stop that says how ranks are matched
  std::vector<Difference> differences;
  std::vector<std::string> warnings;  ///< sentences without their full stop
  std::vector<Row> rows;              ///< in the order of the base files, followed by cases that only the new side has
  std::size_t not_compared = 0;       ///< number of cases without a number on either side
  std::vector<std::string> failing;   ///< cases that fail on both sides, with the reason on the new side
  Outcome outcome;

  [[nodiscard]] std::size_t count(Verdict verdict) const;
  [[nodiscard]] bool several_files() const { return base.size() > 1 || new_side.size() > 1; }
};

/// Compares the files of two sides. Several files on a side are several processes, and the medians of the processes are
/// then the samples. Throws UsageError if the files cannot be compared: real and simulated times, no common case, no
/// case that the options select, or known spreads of another GPU model. Throws InputError if a stored median is not the
/// median of its samples.
Comparison compare(std::span<const NamedReport> base, std::span<const NamedReport> new_side, const Options& options);

/// A table that shows results of different machines side by side.
struct Across {
  struct Cell {
    double median = 0;
    std::optional<Interval> ci95{};  ///< 95 % confidence interval; absent without enough samples
    bool best = false;               ///< whether this number's interval overlaps that of the best number in the row
  };
  struct Row {
    std::string key;
    std::string measured{};
    std::string unit{};
    Better better = Better::neither;
    std::vector<std::optional<Cell>> cells;  ///< one for each column; absent if the file has no such number
  };
  Options options;
  std::vector<std::string> columns;  ///< GPU names, with the file's name if two files have the same GPU
  std::vector<Source> sources;
  std::optional<std::string> simulated;
  std::vector<std::string> warnings;
  std::vector<Row> rows;
};

/// Returns a table of the reports' results with the machines side by side. Throws the same exceptions as compare().
Across across(std::span<const NamedReport> reports, const Options& options);

/// Returns the differences between the machines, programs and commands of two sides that could explain a change.
std::vector<Difference> differences(std::span<const NamedReport> base, std::span<const NamedReport> new_side);

/// Returns reasons to doubt a whole file: it is incomplete, was made by a debug build or from uncommitted sources, or
/// its PCIe link runs below its maximum.
std::vector<std::string> doubts(const NamedReport& report);

}  // namespace xferbench::compare
