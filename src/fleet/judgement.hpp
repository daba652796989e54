// Finds the GPUs, links, hosts and transfers of a fleet (the ranks of a run under MPI) that are slower than their
// peers. Pure functions from results to records. docs/lab/fleets.md explains the method.
#pragma once

#include <tuple>

#include "results/result.hpp"

namespace xferbench::fleet {

struct Options {
  double threshold = 0.03;         ///< shortfalls below this share of the reference speed are ignored
  double robust_z = 3.5;           ///< a rank with a larger modified z-score 0.6745 (x - median) / MAD is an outlier
  std::size_t smallest_group = 5;  ///< group size below which the reference is the best value instead of the median
  double clock_share = 0.01;       ///< largest clock error for a verdict, as a share of the measured time
};

/// One metric of one case at one concurrency (which ranks measure at the same time), with the values of all ranks that
/// have it. The metric is the first rate with a column in the case's table, or else the main measurement.
struct Test {
  std::string key{};
  RankConcurrency pace = RankConcurrency::all;
  std::string metric{};
  std::string unit{};
  Better better = Better::higher;
  DataPath path = DataPath::mixed;
  struct Value {
    int rank = 0;
    double value = 0;
    double clock_share = 0;  ///< error of the common clock, as a share of the measured time
    /// Sending and receiving rank of a transfer, from its labels "from" and "to".
    std::optional<std::pair<int, int>> pair{};
    double payload = 0;  ///< bytes per pass, if `value` is a rate; else 0
    /// The rank's record with the begins and ends of its passes; null if these are unknown. Points into the report.
    const InFleet* in_step = nullptr;
    std::string_view key{};  ///< key of the value's case; points into the report
    friend bool operator==(const Value& a, const Value& b) {
      return std::tie(a.rank, a.value, a.clock_share, a.pair) == std::tie(b.rank, b.value, b.clock_share, b.pair);
    }
  };
  std::vector<Value> values{};  ///< sorted by rank, then by pair; finite and not negative
  /// The case and its concurrency, for example "memcpy/size=1MiB/dir=h2d pace=all".
  [[nodiscard]] std::string name() const;
};

/// Returns the tests of round 1 or of round 2 (repeated measurements), in the order of their first results. Uses only
/// results with status ok.
std::vector<Test> tests_of(const Report& report, unsigned round);

/// Like tests_of(), but combines cases that differ only in which ranks are partners into one test, because each such
/// case has only one partner for each rank. The key of the test leaves out the partners; each value keeps the key of
/// its case.
std::vector<Test> judged_tests_of(const Report& report, unsigned round);

/// A row of the table of tests; `test` must outlive it.
struct Summary {
  const Test* test = nullptr;
  double median = 0;
  Test::Value lowest{};
  Test::Value highest{};
  double spread = 0;  ///< (highest - lowest) / median
  /// Aggregate rate of all ranks, if the metric is a rate: bytes that all ranks moved in a pass, divided by the time
  /// from the first begin to the last end. If pass times are unknown, it is the sum of the rates. Absent for transfers
  /// between ranks.
  std::optional<double> together{};
};
std::vector<Summary> summarise(const std::vector<Test>& tests);

/// A case that `ranks` measure again at the same concurrency: the suspected ranks and, for comparison, as many
/// unsuspected ranks of their peer groups, but at least four if there are four. For transfers, `ranks` has both ends.
struct Retest {
  std::string key;
  RankConcurrency pace = RankConcurrency::all;
  std::vector<int> ranks;  ///< ascending
  friend bool operator==(const Retest&, const Retest&) = default;
};

/// Returns what the second round must measure because of suspicions in the first round: one Retest for each case and
/// concurrency. Empty without suspicions. All ranks compute the same list.
std::vector<Retest> retests_of(const Report& report, const Options& options);

/// Sets the verdicts of a report's fleet after both rounds: Fleet::judgement, flagged and notes. Ranks that no longer
/// answered are flagged without any test.
void judge(Report& report, const Options& options);

}  // namespace xferbench::fleet
