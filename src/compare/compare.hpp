// Compares runs, case by case, with the certainty of each change. Turns results files into plain records; words/ and
// report/ turn those into text. docs/lab/compare.md says what is computed and why.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/enum_text.hpp"
#include "core/error.hpp"
#include "results/result.hpp"
#include "results/spread_file.hpp"

namespace xferbench::compare {

/// How the ranks of two fleets are matched.
enum class Match {
  uuid,  ///< by the UUID of the GPU, wherever it is
  rank,  ///< by the number of the rank, whichever GPU it has
};
constexpr auto texts_of(Match) { return std::to_array<std::string_view>({"uuid", "rank"}); }

struct Options {
  /// Declarations of metrics, for files that do not declare their own.
  MetricsDeclared metrics_declared{};
  double threshold = 0.03;              ///< relative changes up to this do not matter
  std::optional<std::string> metric{};  ///< measurement or derived metric to compare; absent: the headline
  std::vector<std::string> only{};      ///< patterns for keys, any of which may match; empty: all cases
  std::optional<Match> match{};         ///< for fleets; absent: by UUID if all GPUs have one
  bool bootstrap = false;               ///< estimate the ratio of medians and its interval by bootstrap
  bool allow_simulated = false;         ///< compare simulated with measured results, and different profiles
  bool strict = false;                  ///< cases that cannot be judged make the comparison undecided
  /// The relative spread between processes to assume if none is known; 0 assumes none.
  double assumed_spread = 0.02;
  std::optional<SpreadFile> known_spreads{};  ///< spreads between processes on this kind of GPU, from --spread
};

/// The verdicts on a case, in the order in which they are shown.
enum class Verdict {
  regressed,     ///< significantly worse, and the whole interval is beyond the threshold
  missing,       ///< base has a number, new has none; or new fails
  improved,      ///< significantly better, and the whole interval is beyond the threshold
  changed,       ///< like regressed or improved, for a number for which neither direction is better
  inconclusive,  ///< none of the other verdicts is certain
  same,          ///< the whole interval lies within the threshold
  added,         ///< new has a number, base has none; written "new"
};
inline constexpr std::array kVerdicts{Verdict::regressed,    Verdict::missing, Verdict::improved, Verdict::changed,
                                      Verdict::inconclusive, Verdict::same,    Verdict::added};
constexpr auto texts_of(Verdict) {
  return std::to_array<std::string_view>(
      {"regressed", "missing", "improved", "changed", "inconclusive", "same", "new"});
}

/// The statistical test that decided about a case.
enum class TestUsed {
  none,   ///< there are too few numbers for a test
  ranks,  ///< Mann-Whitney
  welch,  ///< Welch's t on the logarithms of the processes' medians
};
constexpr auto texts_of(TestUsed) { return std::to_array<std::string_view>({"none", "mann-whitney", "welch-t"}); }

/// Where the spread between processes comes from.
enum class SpreadSource {
  assumed,   ///< unknown, so Options::assumed_spread is used
  known,     ///< from a file of spreads
  measured,  ///< from the several processes that are compared
};
constexpr auto texts_of(SpreadSource) { return std::to_array<std::string_view>({"assumed", "known", "measured"}); }

/// One side of a case.
struct Side {
  std::size_t n = 0;  ///< number of samples; with several files per side, number of files
  double median = 0;  ///< median of the samples; with several files per side, median of their medians
};

/// One case on both sides.
struct Row {
  std::string key;       ///< identity of the case; of fleets, with concurrency and rank or GPU
  std::string place{};   ///< of fleets, a text that says where it was measured
  std::string measured;  ///< name of the measurement or metric
  std::string unit;
  Better better = Better::neither;
  Verdict verdict = Verdict::inconclusive;
  bool failed = false;  ///< the case fails in new, but not in base
  std::optional<Side> base;
  std::optional<Side> new_side;
  std::optional<double> ratio;       ///< new / base
  std::optional<Interval> interval;  ///< 95 % interval of the ratio, with the spread between processes
  std::optional<Interval> within;    ///< with one process a side: the interval for these two processes alone
  TestUsed test = TestUsed::none;
  std::optional<double> p;                ///< p-value of the test, before the adjustment for many cases
  std::optional<double> p_holm;           ///< p-value adjusted for all tested cases
  std::optional<double> spread;           ///< relative spread between processes that the test used
  std::optional<double> observed_spread;  ///< relative spread that several processes alone show
  SpreadSource spread_from = SpreadSource::assumed;
  /// The smallest changes that these runs would have detected, as ratios below and above 1.
  std::optional<Interval> detectable_ratios;
  bool identical = false;          ///< exactly the same samples on both sides
  std::string reason;              ///< reason for the verdict; empty for `same`
  std::vector<std::string> notes;  ///< doubts about the numbers of this case

  /// The smallest detectable change for the worse, as a share; in either direction if neither one is better.
  [[nodiscard]] std::optional<double> detectable_slowdown() const;
};

/// A fact about the machine, the program or the command that differs between the sides.
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
  std::optional<double> detectable_slowdown{};  ///< smallest detectable slow-down in the median case, as a share
  std::vector<std::string> reach{};  ///< lines about the detectable slow-down and the spread between processes
};

struct Comparison {
  Options options;
  std::vector<Source> base;
  std::vector<Source> new_side;
  std::optional<std::string> simulated;  ///< the profile, if at least one side is simulated
  std::optional<Match> match{};          ///< of fleets: how ranks are matched
  std::string matched{};                 ///< sentence without its full stop that says how ranks are matched
  std::vector<Difference> differences;
  std::vector<std::string> warnings;  ///< sentences without their full stop
  std::vector<Row> rows;              ///< in the order of the base's files, followed by cases that only new has
  std::size_t not_compared = 0;       ///< number of cases that have a number on neither side
  std::vector<std::string> failing;   ///< cases that fail on both sides, with the reason in new
  Outcome outcome;

  [[nodiscard]] std::size_t count(Verdict verdict) const;
  [[nodiscard]] bool several_files() const { return base.size() > 1 || new_side.size() > 1; }
};

/// Several files on a side are several processes, whose medians are the samples. Throws UsageError if the files cannot
/// be compared: real with simulated times, nothing in common, no case that the options select, spreads of another kind
/// of GPU; InputError if a median is not that of its samples.
Comparison compare(std::span<const NamedReport> base, std::span<const NamedReport> new_side, const Options& options);

/// A table of different machines side by side.
struct Across {
  struct Cell {
    double median = 0;
    std::optional<Interval> ci95{};  ///< 95 % confidence interval; only of a measurement with enough samples
    bool best = false;               ///< the best of its row, or tied with the best: the intervals overlap
  };
  struct Row {
    std::string key;
    std::string measured{};
    std::string unit{};
    Better better = Better::neither;
    std::vector<std::optional<Cell>> cells;  ///< one for each column
  };
  Options options;
  std::vector<std::string> columns;  ///< GPU names, with the file's name if two files have the same GPU
  std::vector<Source> sources;
  std::optional<std::string> simulated;
  std::vector<std::string> warnings;
  std::vector<Row> rows;
};

/// Throws UsageError as compare() does.
Across across(std::span<const NamedReport> reports, const Options& options);

/// Differences between the machines, programs and commands of two sides that could explain a change.
std::vector<Difference> differences(std::span<const NamedReport> base, std::span<const NamedReport> new_side);

/// Doubts about a whole file: it is incomplete, was made by a debug build or from sources that were not committed, or
/// its link runs below its maximum.
std::vector<std::string> doubts(const NamedReport& report);

}  // namespace xferbench::compare
