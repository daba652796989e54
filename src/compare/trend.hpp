// Finds where the numbers of one machine changed over many runs. Pure functions from results to records.
//
// A series is cut in two where its parts differ by more than chance explains; then each part is cut in the same way, as
// E-divisive does. The difference is the standardised Mann-Whitney statistic, at its largest over all cuts. Chance is
// the distribution of that value in permutations of the ranks, which is the same for all series of one length, whatever
// their noise. A series that goes up and comes down again is much the same on both sides of any cut. So the dozen runs
// before each cut are also compared with the dozen after it. Each of these two tests has half of the error.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/compare.hpp"
#include "compare/statistics.hpp"

namespace xferbench::compare {

inline constexpr double kTrendError = 0.05;      ///< largest chance of any false change in a set of series of noise
inline constexpr double kTrendThreshold = 0.02;  ///< smaller relative changes are left out
inline constexpr std::size_t kFewestRuns = 5;    ///< with fewer runs, no change can be found

/// A change of level in a series.
struct Change {
  std::size_t at = 0;  ///< index of the first value after the change
  double before = 0;   ///< median of the values from the previous change up to this one
  double after = 0;    ///< median of the values from this change up to the next one
  double p = 1;
  [[nodiscard]] double ratio() const { return after / before; }
  friend bool operator==(const Change&, const Change&) = default;
};

/// Finds changes in series that are judged together: the error holds for all of them. Caches the distribution of chance
/// for each length. The same series have the same changes on every machine.
class ChangeFinder {
 public:
  /// `series`: number of series that are judged together.
  explicit ChangeFinder(std::size_t series);

  /// `values` are in the order of time, and so are the changes.
  std::vector<Change> changes(std::span<const double> values, double threshold = kTrendThreshold);

  /// Number of runs after a change that are sure to show it, if it is larger than the noise and has `before` runs
  /// before it. nullopt if thirty would be too few.
  std::optional<std::size_t> runs_to_confirm(std::size_t before);

 private:
  struct Cut {
    std::size_t at = 0;
    double p = 1;
  };
  std::vector<Cut> cuts(std::span<const double> values, std::size_t from);
  std::optional<Cut> most_different_neighbours(std::span<const double> values);
  double by_chance(std::size_t n, double statistic);

  double level_;  ///< the largest p at which one test reports a change of one series
  MannWhitney test_{};
  std::map<std::size_t, std::vector<double>> chance_{};  ///< largest statistics of permutations, by series length
};

/// Many runs of one machine, in the order in which they began.
struct Trend {
  struct Point {
    std::size_t run = 0;
    double value = 0;
    std::optional<Interval> interval{};  ///< 95 % confidence interval
  };
  /// The headline of a case, in each run that has it.
  struct Series {
    std::string key;
    std::string measured{};
    std::string unit{};
    Better better = Better::neither;
    std::vector<Point> points{};
    std::vector<Change> changes{};  ///< Change::at is an index into `points`

    /// Whether the change is for the worse; nullopt if neither direction is known to be better.
    [[nodiscard]] std::optional<bool> is_worse(const Change& change) const;
  };
  std::vector<Source> runs{};
  Environment environment{};               ///< environment of the last run
  std::optional<std::string> simulated{};  ///< the profile, if the runs are simulated
  std::vector<std::string> warnings{};     ///< sentences without their full stop
  std::vector<Series> series{};            ///< one for each case that several runs have
  /// Other differences between a run at which something changed and the run before it, by the index of the run.
  std::map<std::size_t, std::vector<Difference>> differences{};
  std::optional<std::size_t> runs_to_confirm{};
};

/// Files may be processes of one run. Throws UsageError if they are of fleets, of several machines, or of too few runs;
/// InputError as compare() does.
Trend trend(std::vector<NamedReport> files, const Options& options);

}  // namespace xferbench::compare
