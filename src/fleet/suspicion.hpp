// Finds outliers in the first round. docs/lab/fleets.md explains the rules.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fleet/judgement.hpp"
#include "fleet/rank_places.hpp"

namespace xferbench::fleet {

/// A number of which larger is better: a rate itself, or the inverse of a time.
double speed_of(const Test& test, double value);
/// How far a speed is below the reference, as a share of it.
double shortfall(double speed, double reference);

/// The outliers of a pool.
struct PoolOutliers {
  double reference = 0;          ///< reference speed: the median of the pool, or its best
  bool best = false;             ///< `reference` is the best speed, not the median
  std::vector<std::size_t> low;  ///< indexes of the outliers in the pool
};
/// Finds the outliers of each pool. All pools share one outlier limit, since they should spread alike. A pool of two is
/// compared with its better value, because a slow one would shift their median. If all pools together have fewer than
/// Options::smallest_group values, each pool is compared with its best, and any shortfall beyond the threshold is an
/// outlier.
std::vector<PoolOutliers> pool_outliers(const std::vector<std::vector<double>>& pools, const Options& options);

/// The part of the fleet that is suspected to be slow.
struct Subject {
  enum class Of {
    host,     ///< all ranks of node `first` in peer group `second`
    rank,     ///< rank `first`
    network,  ///< all transfers of rank `first` within its node, or if `second` is 1, with other nodes
    pair,     ///< the transfer from `first` to `second`
  };
  Of of = Of::rank;
  int first = 0;
  int second = 0;
  friend auto operator<=>(const Subject&, const Subject&) = default;
};

/// A suspicion from one test.
struct Suspicion {
  Subject subject;
  std::vector<int> ranks{};  ///< ranks that the suspicion concerns
  double speed = 0;          ///< median of its ranks or transfers
  double reference = 0;      ///< speed that it is compared with
  bool best = false;         ///< `reference` is the best, because the group is small; else the median
  bool on_host = false;      ///< compared with ranks of its host, which is itself suspected
  [[nodiscard]] double shortfall() const { return fleet::shortfall(speed, reference); }
};

/// Identifies values of a test that may be compared with each other. Transfers: peer groups of both ends, and 1 if they
/// leave the node, else 0. Others: peer group, node if its ranks are judged among themselves (else -1), and -1.
using Pool = std::array<long, 3>;
using Values = std::vector<const Test::Value*>;
using Pools = std::map<Pool, Values>;
std::vector<double> speeds_of(const Test& test, const Values& values);

/// The suspicions of a fleet's first round.
class FirstRound {
 public:
  /// The report's fleet must outlive this object.
  FirstRound(const Report& report, const Options& options);

  struct Judged {
    Test test;  ///< without values of ranks that are missing or unknown
    std::vector<Suspicion> suspicions{};
    std::set<int> ranks{};  ///< ranks that are suspected individually
    std::set<Subject> networks{};
    std::set<std::pair<int, int>> pairs{};
  };
  [[nodiscard]] const std::vector<Judged>& tests() const { return tests_; }
  [[nodiscard]] const Places& places() const { return places_; }
  /// The number of tests, and the number of tests that could compare at least two values.
  [[nodiscard]] FleetJudgement judgement() const;
  /// Limitations of the judgement: sentences without their final period.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  [[nodiscard]] Pool pool_of(const Test& test, const Test::Value& value) const;
  /// The pool in which the subject is compared with others.
  [[nodiscard]] Pool pool_of(const Subject& subject, const Test& test, const Test::Value& value) const;
  /// The values of a test by pool: all of them, or only the unsuspected ones.
  [[nodiscard]] Pools pools_of(const Test& test) const;
  [[nodiscard]] Pools good_of(const Judged& judged, const Test& test) const;
  /// The subject's values in a test, without those of unknown ranks.
  [[nodiscard]] Values values_of(const Subject& subject, const Test& test) const;
  /// Whether the value is unsuspected, so that suspects in its pool can be compared with it.
  [[nodiscard]] bool is_good(const Judged& test, const Test::Value& value) const;

 private:
  /// Whether all ranks of the value are known; missing ranks are not.
  [[nodiscard]] bool knows(const Test::Value& value) const;
  [[nodiscard]] bool is_of(const Subject& subject, const Test::Value& value) const;
  void take(Test test, const Options& options);
  void look_for_hosts(Judged& judged, const Options& options);
  void look_for_ranks(Judged& judged, const Options& options);
  void look_for_transfers(Judged& judged, const Options& options);
  void look_for_networks_of_nodes(Judged& judged, const Values& values, const Options& options) const;
  void look_for_networks(Judged& judged, const Pools& pools, const Options& options);
  void look_for_pairs(Judged& judged, const Pool& pool, const Values& values, const Options& options);
  [[nodiscard]] std::string pool_text(const Pool& pool) const;
  /// Whether tests of this data path judge the group's ranks on this node only among themselves.
  [[nodiscard]] bool is_on_low_host(std::size_t peer_group, int node, DataPath path) const;
  [[nodiscard]] bool compares(const Judged& judged) const;
  /// Records for note_few() that only `count` values were compared with their best.
  void keep_few(const std::string& what, std::size_t count, const Test& test);
  void note_few(const Options& options);
  void note_peer_groups();
  void note_clocks();

  Places places_;
  std::vector<Judged> tests_;
  /// Hosts suspected in at least one test of a data path. In all tests of that path, their ranks are judged only among
  /// themselves.
  std::set<std::tuple<std::size_t, int, DataPath>> low_hosts_;
  struct Few {
    std::size_t least = 0;
    std::vector<std::string> tests{};
  };
  std::map<std::string, Few> few_;            ///< keyed by a text that says what was compared
  std::vector<std::string> without_verdict_;  ///< tests with too large a clock error
  double worst_clock_share_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace xferbench::fleet
