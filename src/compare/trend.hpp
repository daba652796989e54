// How numbers of one machine went over many runs, and where they changed. Pure functions from results to records.
//
// A series is cut in two where its parts differ by more than chance explains, then each part is looked at in the same
// way, as E-divisive does. How much they differ is the standardised Mann-Whitney statistic; what chance explains is how
// large its largest value over all cuts is in permutations of the ranks, which is the same for all series of one
// length, whatever their noise. A series that goes up and comes down again is much the same on both sides of any cut:
// so the dozen runs before each cut and the dozen behind it are compared as well. Each way of looking has half of the
// error.
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

inline constexpr double kTrendError = 0.05;      ///< in so many sets of series of noise any change is told at most
inline constexpr double kTrendThreshold = 0.02;  ///< smaller changes are left out
inline constexpr std::size_t kFewestRuns = 5;    ///< in which a change could be seen at all

/// What is different from one place of a series on.
struct Change {
  std::size_t at = 0;  ///< the first place of what is different
  double before = 0;   ///< median since the change before it
  double after = 0;    ///< median up to the next change
  double p = 1;
  [[nodiscard]] double ratio() const { return after / before; }
  friend bool operator==(const Change&, const Change&) = default;
};

/// Looks for changes in series that are judged together: the error holds for all of them. Keeps what chance explains
/// for each length; the same series have the same changes wherever it runs.
class ChangeFinder {
 public:
  explicit ChangeFinder(std::size_t series);

  /// In the order of time, of values in the order of time.
  std::vector<Change> changes(std::span<const double> values, double threshold = kTrendThreshold);

  /// How many runs behind a change show it for sure, if it is larger than the noise; fewer do by luck. Nothing where
  /// thirty would be too few.
  std::optional<std::size_t> runs_to_be_sure(std::size_t before);

 private:
  struct Cut {
    std::size_t at = 0;
    double p = 1;
  };
  std::vector<Cut> cuts(std::span<const double> values, std::size_t from);
  std::optional<Cut> most_different_neighbours(std::span<const double> values);
  double by_chance(std::size_t n, double statistic);

  double level_;  ///< of p, at which a change of one series is told by one way of looking
  MannWhitney test_{};
  std::map<std::size_t, std::vector<double>> chance_{};  ///< largest statistics of permutations, by their length
};

/// Many runs of one machine, in the order in which they began.
struct Trend {
  struct Point {
    std::size_t run = 0;
    double value = 0;
    std::optional<Interval> interval{};  ///< 95 %
  };
  /// What a case is about, in each run that has it.
  struct Series {
    std::string key;
    std::string measured{};
    std::string unit{};
    Better better = Better::neither;
    std::vector<Point> points{};
    std::vector<Change> changes{};  ///< at places of `points`

    /// Whether it is for the worse; nothing where neither way is known to be.
    [[nodiscard]] std::optional<bool> is_worse(const Change& change) const;
  };
  std::vector<Source> runs{};
  Environment environment{};               ///< of the last of them
  std::optional<std::string> simulated{};  ///< the profile
  std::vector<std::string> warnings{};     ///< sentences without their full stop
  std::vector<Series> series{};            ///< of cases that several runs have
  /// What else differs between a run at which something changed and the one before it.
  std::map<std::size_t, std::vector<Difference>> differences{};
  std::optional<std::size_t> runs_to_be_sure{};
};

/// Of files that may be processes of one run. Throws UsageError where they are of fleets, of several machines, or of
/// too few runs; InputError as compare() does.
Trend trend(std::vector<NamedReport> files, const Options& options);

}  // namespace xferbench::compare
