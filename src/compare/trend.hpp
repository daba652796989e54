// Finds where the results of one machine changed in a series of runs over time. Pure functions.
//
// A series is cut in two at a point where both parts differ more than by chance; then each part is cut in the same way,
// as E-divisive does. The difference is the standardized Mann-Whitney statistic, at its maximum over all cuts. Its
// distribution without a change comes from permutations of the ranks, and is the same for all series of one length.
// This test misses a series that goes up and later comes down again, because both sides of any cut are then similar. So
// the twelve runs before each cut are also compared with the twelve after it. Each of the two tests gets half of the
// error probability.
#pragma once

#include "compare/compare.hpp"
#include "compare/statistics.hpp"

namespace xferbench::compare {

inline constexpr double kTrendError = 0.05;      ///< largest probability of any false change, over all series together
inline constexpr double kTrendThreshold = 0.02;  ///< smaller relative changes are left out
inline constexpr std::size_t kFewestRuns = 5;    ///< fewest runs in which a change can be found

/// A change of level in a series.
struct Change {
  std::size_t at = 0;  ///< index of the first value after the change
  double before = 0;   ///< median of the values from the previous change up to this one
  double after = 0;    ///< median of the values from this change up to the next one
  double p = 1;
  [[nodiscard]] double ratio() const { return after / before; }
  friend bool operator==(const Change&, const Change&) = default;
};

/// Finds changes in series of numbers. The probability of any false change in all series together is at most
/// kTrendError. Caches the distribution of the statistic for each series length. Results are the same on every machine.
class ChangeFinder {
 public:
  /// `series`: number of series that will be tested. kTrendError is divided by this number (Bonferroni).
  explicit ChangeFinder(std::size_t series);

  /// Returns the changes, in the order of time; `values` must be in that order, too.
  std::vector<Change> changes(std::span<const double> values, double threshold = kTrendThreshold);

  /// Returns how many runs after a change are enough to confirm it, if the change is larger than the noise and
  /// `before` runs precede it. nullopt if more than thirty.
  std::optional<std::size_t> runs_to_confirm(std::size_t before);

 private:
  struct Cut {
    std::size_t at = 0;
    double p = 1;
  };
  std::vector<Cut> cuts(std::span<const double> values, std::size_t from);
  std::optional<Cut> most_different_neighbours(std::span<const double> values);
  double by_chance(std::size_t n, double statistic);

  double level_;  ///< a test reports a change if its p-value is at most this
  MannWhitney test_{};
  /// largest statistics of random permutations, by series length
  std::map<std::size_t, std::vector<double>> chance_{};
};

/// The results of many runs on one machine, in the order in which the runs began.
struct Trend {
  struct Point {
    std::size_t run = 0;
    double value = 0;
    std::optional<Interval> interval{};  ///< 95 % confidence interval
  };
  /// The headline (main measurement) of one case, with one point for each run that has the case.
  struct Series {
    std::string key;
    std::string measured{};
    std::string unit{};
    Better better = Better::neither;
    std::vector<Point> points{};
    std::vector<Change> changes{};  ///< Change::at is an index into `points`

    /// Returns whether the change is for the worse; nullopt if neither direction is better.
    [[nodiscard]] std::optional<bool> is_worse(const Change& change) const;
  };
  std::vector<Source> runs{};
  Environment environment{};               ///< environment of the last run
  std::optional<std::string> simulated{};  ///< profile that simulated the runs; absent if measured
  std::vector<std::string> warnings{};     ///< sentences without their full stop
  std::vector<Series> series{};            ///< one for each case that at least two runs have
  /// For the index of each run with a change: differences in machine, program and command from the run before.
  std::map<std::size_t, std::vector<Difference>> differences{};
  std::optional<std::size_t> runs_to_confirm{};
};

/// Finds changes in the results of many runs. Several files may be processes of one run. Throws UsageError if the files
/// are of fleets, of several machines, or of too few runs; throws InputError in the same cases as compare().
Trend trend(std::vector<NamedReport> files, const Options& options);

}  // namespace xferbench::compare
