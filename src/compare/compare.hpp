// What changed between runs: case by case, with how sure one can be. From results files to plain records; report/ turns
// those into text. docs/lab/compare.md says what is computed and why.
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

/// What tells the ranks of fleets apart.
enum class Match {
  uuid,  ///< that of the GPU, wherever it is
  rank,  ///< the number of the process, whichever GPU it has
};
constexpr auto texts_of(Match) { return std::to_array<std::string_view>({"uuid", "rank"}); }

struct Options {
  /// What scenarios declare whose files do not say it themselves.
  MetricsDeclared metrics_declared{};
  double threshold = 0.03;              ///< changes within this share do not matter
  std::optional<std::string> metric{};  ///< the measurement or derived metric; absent: what the case is about
  std::vector<std::string> only{};      ///< patterns for keys, any of which may match; empty: all cases
  std::optional<Match> match{};         ///< of fleets; absent: by UUID where GPUs have any
  bool bootstrap = false;               ///< the interval is that of the ratio of medians
  bool allow_simulated = false;         ///< compare what is simulated with what is not, and different profiles
  bool strict = false;                  ///< what cannot be judged counts, too
  /// Between processes, as a share: what is taken where nothing better is known; 0 takes nothing.
  double assumed_spread = 0.02;
  std::optional<SpreadFile> known_spreads{};  ///< of this machine, from --repeat
};

/// In the order in which people want to read them.
enum class Verdict {
  regressed,     ///< significantly worse, and beyond the threshold with the whole interval
  missing,       ///< base has a number, new has none; or new fails
  improved,      ///< the reverse of regressed
  changed,       ///< the same of a number of which neither more nor less is better
  inconclusive,  ///< none of the others can be said
  same,          ///< the whole interval lies within the threshold
  added,         ///< new has a number, base has none; written "new"
};
inline constexpr std::array kVerdicts{Verdict::regressed,    Verdict::missing, Verdict::improved, Verdict::changed,
                                      Verdict::inconclusive, Verdict::same,    Verdict::added};
constexpr auto texts_of(Verdict) {
  return std::to_array<std::string_view>(
      {"regressed", "missing", "improved", "changed", "inconclusive", "same", "new"});
}

/// What decided about a case.
enum class TestUsed {
  none,   ///< there are too few numbers for any
  ranks,  ///< Mann-Whitney
  welch,  ///< Welch's t on the logarithms of the processes' medians
};
constexpr auto texts_of(TestUsed) { return std::to_array<std::string_view>({"none", "mann-whitney", "welch-t"}); }

/// How it is known how far processes lie apart.
enum class SpreadSource {
  assumed,   ///< it is not
  known,     ///< from a file of spreads
  measured,  ///< several processes are compared
};
constexpr auto texts_of(SpreadSource) { return std::to_array<std::string_view>({"assumed", "known", "measured"}); }

/// One side of a case.
struct Side {
  std::size_t n = 0;  ///< samples; with several files a side, files
  double median = 0;  ///< of the samples; with several files, of their medians
};

/// One case on both sides.
struct Row {
  std::string key;       ///< of fleets with the pace and what tells ranks apart
  std::string place{};   ///< of fleets, where it was measured, for people
  std::string measured;  ///< name of the measurement or metric
  std::string unit;
  Better better = Better::neither;
  Verdict verdict = Verdict::inconclusive;
  bool failed = false;  ///< fails in new and did not in base
  std::optional<Side> base;
  std::optional<Side> next;
  std::optional<double> ratio;       ///< new / base
  std::optional<Interval> interval;  ///< of the ratio, 95 %, with the spread between processes
  std::optional<Interval> within;    ///< of one process a side: what holds within these two processes alone
  TestUsed test = TestUsed::none;
  std::optional<double> p;
  std::optional<double> p_holm;       ///< adjusted for all cases that were tested
  std::optional<double> spread;       ///< between processes, as a share of the number: as it is taken
  std::optional<double> spread_seen;  ///< the same, as several processes alone show it
  SpreadSource spread_from = SpreadSource::assumed;
  /// The ratios next to 1 that these runs would have called, had the numbers differed by just so much.
  std::optional<Interval> least_found;
  bool identical = false;          ///< the very same samples on both sides
  std::string reason;              ///< why the verdict is what it is; empty where it is `same`
  std::vector<std::string> notes;  ///< what is doubtful about its numbers

  /// The least change for the worse that would have been called, as a share; of a number of which neither way is
  /// better, in either direction.
  [[nodiscard]] std::optional<double> least_slowdown() const;
};

/// A fact about the machine, the program or the command that is not the same on both sides.
struct Difference {
  std::string what;
  std::string base;
  std::string next;
};

struct Source {
  std::string name;
  std::string started_at;
  std::string gpu;
  std::string version;  ///< of the program, with its commit where that is known
  bool verified = true;
  std::string fault{};   ///< that its device was given on purpose; empty if none
  bool complete = true;  ///< whether the run came to its end
  std::string profile{};  ///< that simulated it; empty of what was measured
};

/// What it comes to.
struct Outcome {
  ExitCode code = ExitCode::ok;
  std::string because;                     ///< a sentence without its full stop that says why the code is what it is
  std::optional<double> least_slowdown{};  ///< that would have been called, in the middle of the cases on both sides
  std::vector<std::string> reach{};        ///< what could have been found, and how far processes lie apart: a line each
};

struct Comparison {
  Options options;
  std::vector<Source> base;
  std::vector<Source> next;
  std::optional<std::string> simulated;  ///< the profile, where at least one side is simulated
  std::optional<Match> match{};          ///< of fleets
  std::string matched{};                 ///< the same as a sentence without its full stop
  std::vector<Difference> differences;
  std::vector<std::string> warnings;  ///< sentences without their full stop
  std::vector<Row> rows;              ///< in the order of the base's files; what only new has at the end
  std::size_t not_compared = 0;       ///< cases that have a number on neither side
  std::vector<std::string> failing;   ///< those of them that fail on both sides, with the reason in new
  Outcome outcome;

  [[nodiscard]] std::size_t count(Verdict verdict) const;
  [[nodiscard]] bool several_files() const { return base.size() > 1 || next.size() > 1; }
};

/// Several files on a side are several processes: then the medians of the files are the samples. Throws UsageError if
/// the files cannot be compared: real with simulated times, nothing in common, no case that the options leave, spreads
/// of another kind of GPU; InputError if a median is not that of its samples.
Comparison compare(std::span<const NamedReport> base, std::span<const NamedReport> next, const Options& options);

/// Different machines side by side.
struct Across {
  struct Cell {
    double median = 0;
    std::optional<Interval> ci95{};  ///< of a measurement with enough samples
    bool best = false;               ///< or not to be told from the best: the intervals overlap
  };
  struct Row {
    std::string key;
    std::string measured{};
    std::string unit{};
    Better better = Better::neither;
    std::vector<std::optional<Cell>> cells;  ///< one for each column
  };
  Options options;
  std::vector<std::string> columns;  ///< name of the GPU, with that of the file where two have the same
  std::vector<Source> sources;
  std::optional<std::string> simulated;
  std::vector<std::string> warnings;
  std::vector<Row> rows;
};

/// Throws UsageError as compare() does.
Across across(std::span<const NamedReport> reports, const Options& options);

/// What differs between the machines, programs and commands of two sides and could explain a change.
std::vector<Difference> differences(std::span<const NamedReport> base, std::span<const NamedReport> next);

/// What is doubtful about a whole file: it is incomplete, built from sources that were not committed, its link runs
/// below its maximum.
std::vector<std::string> doubts(const NamedReport& report);

}  // namespace xferbench::compare
