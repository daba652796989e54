// Who stands out in the first round. docs/lab/fleets.md says by which rules and why.
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
#include "fleet/places.hpp"

namespace xferbench::fleet {

/// Larger is better: a rate as it is, of a time its inverse.
double speed_of(const Test& test, double value);
/// Below the reference, as a share of it; both are speeds.
double shortfall(double speed, double reference);

/// Who of a pool is low.
struct Standing {
  double reference = 0;          ///< a speed: the middle of the pool, or its best
  bool best = false;             ///< which of these
  std::vector<std::size_t> low;  ///< places in it
};
/// Of each pool. What is far from the middle is the same for all of them, which should spread alike. One of two is held
/// against the better, as a slow one moves their middle; where all together are fewer than Options::smallest_group,
/// each is held against its best, and what is beyond the threshold is far.
std::vector<Standing> stand(const std::vector<std::vector<double>>& pools, const Options& options);

/// Whom a suspicion is of.
struct Subject {
  enum class Of {
    host,     ///< all ranks of the node `first` that are of the like `second`
    rank,     ///< the rank `first`
    network,  ///< all transfers between the rank `first` and others of its node, or where `second` is 1 of other nodes
    pair,     ///< the transfer from `first` to `second`
  };
  Of of = Of::rank;
  int first = 0;
  int second = 0;
  friend auto operator<=>(const Subject&, const Subject&) = default;
};

/// Of one test.
struct Suspicion {
  Subject subject;
  std::vector<int> ranks{};  ///< that it shows on
  double speed = 0;          ///< the middle of its ranks' or transfers'
  double reference = 0;      ///< the speed that this is held against
  bool best = false;         ///< which is that of the best, as they are few; else that of the middle
  bool on_host = false;      ///< of those on its host, which is suspected as a whole
  [[nodiscard]] double shortfall() const { return fleet::shortfall(speed, reference); }
};

/// What may be compared with each other in a test: which likes are at its ends, then which node where its ranks are
/// judged among themselves (else -1), or for transfers whether they go beyond a node (else 0).
using Pool = std::array<long, 3>;
using Values = std::vector<const Test::Value*>;
using Pools = std::map<Pool, Values>;
std::vector<double> speeds_of(const Test& test, const Values& values);

/// The first round of a fleet, judged.
class FirstRound {
 public:
  /// The report's fleet outlives it.
  FirstRound(const Report& report, const Options& options);

  struct Judged {
    Test test;  ///< without ranks that are missing or unknown
    std::vector<Suspicion> suspicions{};
    std::set<int> ranks{};  ///< suspected by themselves
    std::set<Subject> networks{};
    std::set<std::pair<int, int>> pairs{};
  };
  [[nodiscard]] const std::vector<Judged>& tests() const { return tests_; }
  [[nodiscard]] const Places& places() const { return places_; }
  /// How many tests could say something, and how many said it.
  [[nodiscard]] FleetJudgement judgement() const;
  /// What limits the judgement, in sentences without their full stops.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  [[nodiscard]] Pool pool_of(const Test& test, const Test::Value& value) const;
  /// The one in which whoever is suspected is held against others.
  [[nodiscard]] Pool pool_of(const Subject& subject, const Test& test, const Test::Value& value) const;
  /// The values of a test by their pools: all, or those that are good.
  [[nodiscard]] Pools pools_of(const Test& test) const;
  [[nodiscard]] Pools good_of(const Judged& judged, const Test& test) const;
  /// The values of that subject in a test, all of ranks that are known.
  [[nodiscard]] Values values_of(const Subject& subject, const Test& test) const;
  /// Whether it is a good one's, against which suspects of its pool are held.
  [[nodiscard]] bool is_good(const Judged& test, const Test::Value& value) const;

 private:
  /// Whether its ranks are all known: missing ones are not.
  [[nodiscard]] bool knows(const Test::Value& value) const;
  [[nodiscard]] bool is_of(const Subject& subject, const Test::Value& value) const;
  void take(Test test, const Options& options);
  void look_for_hosts(Judged& judged, const Options& options);
  void look_for_ranks(Judged& judged, const Options& options);
  void look_for_transfers(Judged& judged, const Options& options);
  void look_for_networks_of_nodes(Judged& judged, const Values& values, const Options& options) const;
  void look_for_networks(Judged& judged, const Pools& pools, const Options& options);
  void look_for_pairs(Judged& judged, const Pool& pool, const Values& values, const Options& options);
  [[nodiscard]] std::string who_is_in(const Pool& pool) const;
  /// Whether ranks alike on a node are judged among themselves in such a test.
  [[nodiscard]] bool is_on_low_host(std::size_t like, int node, DataPath path) const;
  [[nodiscard]] bool compares(const Judged& judged) const;
  /// Keeps that so many were compared with the best of them.
  void keep_few(const std::string& what, std::size_t count, const Test& test);
  void note_few(const Options& options);
  void note_likes();
  void note_clocks();

  Places places_;
  std::vector<Judged> tests_;
  /// Hosts that are suspected in one such test at least: in all such, their ranks are judged among themselves.
  std::set<std::tuple<std::size_t, int, DataPath>> low_hosts_;
  struct Few {
    std::size_t least = 0;
    std::vector<std::string> tests{};
  };
  std::map<std::string, Few> few_;            ///< by who they are
  std::vector<std::string> without_verdict_;  ///< tests in which the clocks were not sure enough
  double worst_clock_share_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace xferbench::fleet
