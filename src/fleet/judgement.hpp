// Which part of a fleet is slower than its like: pure functions from results to records. docs/lab/fleets.md says
// what is computed and why.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "results/metric_declaration.hpp"
#include "results/result.hpp"

namespace xferbench::fleet {

struct Options {
  double threshold = 0.03;         ///< a shortfall within this share does not matter
  double robust_z = 3.5;           ///< 0.6745 (x - median) / MAD, beyond which a rank stands out
  std::size_t smallest_group = 5;  ///< smaller ones are compared with their best
  double clock_share = 0.01;       ///< no verdict where the clocks are less sure than this share of what they timed
};

/// One number of one case at one pace, of all ranks that have it: the case's rate where its table shows one, else what
/// its headline measured.
struct Test {
  std::string key{};  ///< of the case
  Pacing pace = Pacing::all;
  std::string metric{};
  std::string unit{};
  Better better = Better::higher;
  DataPath path = DataPath::mixed;
  struct Value {
    int rank = 0;
    double value = 0;
    double clock_share = 0;  ///< how far the common clock may be off, of the time that was measured
    /// Of a transfer between ranks, from the first to the second, as its labels "from" and "to" say.
    std::optional<std::pair<int, int>> pair{};
    double payload = 0;  ///< of a rate: bytes that a pass moved
    /// When passes began and ended, as InFleet has it; null where that is not known. Of the report's results.
    const InFleet* in_step = nullptr;
    std::string_view key{};  ///< of its case. Of the report's results
    friend bool operator==(const Value& a, const Value& b) {
      return std::tie(a.rank, a.value, a.clock_share, a.pair) == std::tie(b.rank, b.value, b.clock_share, b.pair);
    }
  };
  std::vector<Value> values{};  ///< ascending by rank, then by pair; numbers that are finite and no less than 0
  /// "memcpy/size=1MiB/dir=h2d pace=all": the case and its pace.
  [[nodiscard]] std::string name() const;
};

/// The tests of a round, in the order of their first results. Only results that are ok.
std::vector<Test> tests_of(const Report& report, unsigned round);

/// The same as they are judged: transfers between ranks with all their partners in one test, as each case gives a rank
/// one partner only. The test's key is then without that of the partners; values know their cases.
std::vector<Test> judged_tests_of(const Report& report, unsigned round);

/// What the table shows of a test; `test` outlives it.
struct Summary {
  const Test* test = nullptr;
  double median = 0;
  Test::Value lowest{};
  Test::Value highest{};
  double spread = 0;  ///< (highest - lowest) / median
  /// Of rates: what all ranks moved together, over the time from the first one's begin to the last one's end. Where
  /// their passes are not known, the sum of the rates. None of transfers between ranks.
  std::optional<double> together{};
};
std::vector<Summary> summarise(const std::vector<Test>& tests);

/// A case to be measured again, at its pace, by these ranks: the suspects and as many good ones of their groups, four
/// at least where there are so many. Of transfers both ends are among them.
struct Retest {
  std::string key;
  Pacing pace = Pacing::all;
  std::vector<int> ranks;  ///< ascending
  friend bool operator==(const Retest&, const Retest&) = default;
};

/// The second round that the first one calls for, each case and pace once; none where nobody is suspected. The same on
/// every rank.
std::vector<Retest> second_round(const Report& report, const Options& options);

/// What is flagged, after both rounds: Fleet::flagged and Fleet::notes anew. A rank that is missing is flagged without
/// any test.
void judge(Report& report, const Options& options);

}  // namespace xferbench::fleet
