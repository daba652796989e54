// Finds hosts, ranks and transfers that look slow in the first round of measurements. docs/lab/fleets.md explains the
// rules.
#pragma once

#include <array>
#include <compare>
#include <set>
#include <tuple>

#include "fleet/judgement.hpp"
#include "fleet/rank_places.hpp"

namespace xferbench::fleet {

/// Returns a measured value as a speed, of which larger is better: a rate unchanged, a time as its inverse.
double speed_of(const Test& test, double value);
/// Returns how far the speed is below the reference, as a share of the reference.
double shortfall(double speed, double reference);

/// The slow outliers of a pool, which is a set of speeds that are compared with each other.
struct PoolOutliers {
  double reference = 0;          ///< reference speed: the median or the best speed of the pool
  bool best = false;             ///< whether `reference` is the best speed instead of the median
  std::vector<std::size_t> low;  ///< indices of the outliers in the pool
};
/// Finds the slow outliers of each pool. All pools share one outlier limit, since their values should spread alike. A
/// pool of two is compared with its better value, because a slow value would shift the median. If all pools together
/// have fewer than Options::smallest_group values, each pool is compared with its best value, and any shortfall beyond
/// the threshold makes a value an outlier.
std::vector<PoolOutliers> pool_outliers(const std::vector<std::vector<double>>& pools, const Options& options);

/// A part of the fleet that is suspected to be slow.
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

/// A suspicion, raised by one test, that a part of the fleet is slow.
struct Suspicion {
  Subject subject;
  std::vector<int> ranks{};
  double speed = 0;      ///< median speed of the subject's ranks or transfers
  double reference = 0;  ///< speed with which `speed` is compared
  bool best = false;     ///< whether `reference` is the best speed (in a small group) instead of the median
  bool on_host = false;  ///< whether the rank was compared only with ranks of its host, because the host is suspected
  [[nodiscard]] double shortfall() const { return fleet::shortfall(speed, reference); }
};

/// Identifies a pool: values of a test that may be compared with each other. For transfers: peer groups of sender and
/// receiver, then 1 if these are on different nodes, else 0. For other values: peer group, then the node if its ranks
/// are compared only among themselves (else -1), then -1.
using Pool = std::array<long, 3>;
using Values = std::vector<const Test::Value*>;
using Pools = std::map<Pool, Values>;
std::vector<double> speeds_of(const Test& test, const Values& values);

/// Finds the suspicions in a fleet's first round of measurements; the constructor does all of the work.
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
  /// Returns a record with the number of all tests and of those that could compare at least two values; the rest is 0.
  [[nodiscard]] FleetJudgement judgement() const;
  /// Returns limitations of the judgement, as sentences without their final period.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  [[nodiscard]] Pool pool_of(const Test& test, const Test::Value& value) const;
  /// Returns the pool in which `value`, one of the subject's values, is compared with other values.
  [[nodiscard]] Pool pool_of(const Subject& subject, const Test& test, const Test::Value& value) const;
  /// Return the values of a test by pool: pools_of() all values, good_of() only those that `judged` does not suspect.
  [[nodiscard]] Pools pools_of(const Test& test) const;
  [[nodiscard]] Pools good_of(const Judged& judged, const Test& test) const;
  /// Returns the subject's values in a test, without those of unknown ranks.
  [[nodiscard]] Values values_of(const Subject& subject, const Test& test) const;
  /// Whether `test` does not suspect the value, so that suspects in its pool can be compared with it.
  [[nodiscard]] bool is_good(const Judged& test, const Test::Value& value) const;

 private:
  /// Whether the places of all ranks of the value are known; false for ranks that no longer answer.
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
  /// Whether the host is suspected, so that tests of this data path compare the peer group's ranks on it only with each
  /// other.
  [[nodiscard]] bool is_on_low_host(std::size_t peer_group, int node, DataPath path) const;
  [[nodiscard]] bool compares(const Judged& judged) const;
  /// Records, for note_few(), that only `count` values of the kind `what` were compared, and that their reference was
  /// therefore the best value instead of the median.
  void keep_few(const std::string& what, std::size_t count, const Test& test);
  void note_few(const Options& options);
  void note_peer_groups();
  void note_clocks();

  Places places_;
  std::vector<Judged> tests_;
  /// Hosts (peer group and node) that are suspected in at least one test of a data path. In all tests of that path,
  /// their ranks are compared only among themselves.
  std::set<std::tuple<std::size_t, int, DataPath>> low_hosts_;
  struct Few {
    std::size_t least = 0;
    std::vector<std::string> tests{};
  };
  std::map<std::string, Few> few_;            ///< keyed by a text that says what was compared
  std::vector<std::string> without_verdict_;  ///< names of tests with too large a clock error
  double worst_clock_share_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace xferbench::fleet
