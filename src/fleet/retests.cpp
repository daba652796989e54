// Chooses the ranks that measure a test again if the first round raised a suspicion in it.
#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "core/lists.hpp"
#include "fleet/suspicion.hpp"
#include "measure/statistics.hpp"

namespace xferbench::fleet {

namespace {

/// An unsuspected rank that may measure again for comparison. The candidate with the lowest order() is best.
struct Candidate {
  bool suspected_elsewhere = false;
  bool far = false;        ///< true if the rank is on a node without suspects; unused if hosts are suspected
  double from_middle = 0;  ///< distance of the rank's speed (or if hosts are suspected, the node's) from the median
  int node = 0;            ///< node of the rank; used only if hosts are suspected
  const Test::Value* value = nullptr;
  [[nodiscard]] auto order() const { return std::tuple(suspected_elsewhere, far, from_middle, node, value->rank); }
};

/// Base class: chooses the suspects and the unsuspected ranks that measure one test again.
class Picker {
 public:
  Picker(const FirstRound& first, const FirstRound::Judged& judged, const std::set<int>& suspected,
         const Options& options)
      : first_(first),
        judged_(judged),
        suspected_(suspected),
        at_least_(options.smallest_group - 1),
        good_(first.good_of(judged, judged.test)) {}

 protected:
  [[nodiscard]] double speed(const Test::Value& v) const { return speed_of(judged_.test, v.value); }
  [[nodiscard]] double middle_of(const Values& values) const {
    return statistics::median(speeds_of(judged_.test, values));
  }

  const FirstRound& first_;
  const FirstRound::Judged& judged_;
  const std::set<int>& suspected_;
  std::size_t at_least_;
  Pools good_;
};

/// The Picker for tests in which each rank measures by itself. pick() adds the ranks that measure the test again.
class RankPicker : Picker {
 public:
  using Picker::Picker;

  void pick(std::set<int>& ranks) const {
    std::map<Pool, std::vector<const Suspicion*>> hosts;
    std::map<Pool, std::vector<const Suspicion*>> others;
    for (const Suspicion& s : judged_.suspicions) {
      ranks.insert(s.ranks.begin(), s.ranks.end());
      for (const Pool& pool : pools_of(s)) (s.subject.of == Subject::Of::host ? hosts : others)[pool].push_back(&s);
    }
    for (const auto& [pool, suspicions] : hosts) pick_references(pool, suspicions, true, ranks);
    for (const auto& [pool, suspicions] : others) pick_references(pool, suspicions, false, ranks);
  }

 private:
  [[nodiscard]] std::set<Pool> pools_of(const Suspicion& s) const {
    std::set<Pool> pools;
    for (const Test::Value* v : first_.values_of(s.subject, judged_.test))
      pools.insert(first_.pool_of(s.subject, judged_.test, *v));
    return pools;
  }

  void pick_references(const Pool& pool, const std::vector<const Suspicion*>& suspicions, bool hosts,
                       std::set<int>& ranks) const {
    const auto found = good_.find(pool);
    if (found == good_.end()) return;
    std::vector<Candidate> candidates = hosts ? by_nodes(found->second) : by_ranks(found->second, nodes_of(suspicions));
    std::ranges::sort(candidates, {}, &Candidate::order);
    std::size_t wanted = 0;
    for (const Suspicion* s : suspicions) wanted += s->ranks.size();
    wanted = std::max(wanted, at_least_);
    std::set<int> taken;
    for (const Candidate& c : candidates) {
      if (taken.size() >= wanted) break;
      taken.insert(c.value->rank);
    }
    ranks.merge(taken);
  }

  [[nodiscard]] std::set<int> nodes_of(const std::vector<const Suspicion*>& suspicions) const {
    std::set<int> nodes;
    for (const Suspicion* s : suspicions) {
      for (const int rank : s->ranks) nodes.insert(first_.places().node(rank));
    }
    return nodes;
  }

  [[nodiscard]] bool suspected_elsewhere(const Test::Value& v) const { return suspected_.contains(v.rank); }

  /// Returns the unsuspected ranks as candidates. Prefers ranks on the suspects' nodes, which differ from a suspect
  /// only in GPU and link, then ranks close to the median.
  [[nodiscard]] std::vector<Candidate> by_ranks(const Values& good, const std::set<int>& near) const {
    const double middle = middle_of(good);
    return list_of(good, [&](const Test::Value* v) {
      return Candidate{.suspected_elsewhere = suspected_elsewhere(*v),
                       .far = !near.contains(first_.places().node(v->rank)),
                       .from_middle = std::abs(speed(*v) - middle),
                       .value = v};
    });
  }

  /// Returns the unsuspected ranks as candidates, ordered so that whole nodes are chosen, because a whole node is as
  /// busy as the suspected node. Prefers nodes close to the median.
  [[nodiscard]] std::vector<Candidate> by_nodes(const Values& good) const {
    const double middle = middle_of(good);
    std::map<int, Values> by_node;
    for (const Test::Value* v : good) by_node[first_.places().node(v->rank)].push_back(v);
    std::vector<Candidate> all;
    for (const auto& [node, values] : by_node) {
      const double from_middle = std::abs(middle_of(values) - middle);
      for (const Test::Value* v : values) {
        all.push_back(
            {.suspected_elsewhere = suspected_elsewhere(*v), .from_middle = from_middle, .node = node, .value = v});
      }
    }
    return all;
  }
};

using RanksByCase = std::map<std::string, std::set<int>, std::less<>>;

/// The Picker for transfers between ranks: chooses some transfers of each suspect and as many unsuspected ones to
/// measure again. Adds both ends of each transfer to the ranks of the case in which they are partners.
class TransferPicker : Picker {
 public:
  using Picker::Picker;

  void pick(RanksByCase& ranks) const {
    std::map<Pool, Transfers> suspects;
    for (const Suspicion& s : judged_.suspicions) {
      Pools its;
      for (const Test::Value* v : first_.values_of(s.subject, judged_.test))
        its[first_.pool_of(judged_.test, *v)].push_back(v);
      for (auto& [pool, values] : its) {
        Transfers& taken = suspects[pool];
        take(in_order(std::move(values), {}), taken.size() + at_least_, taken);
      }
    }
    for (auto& [pool, transfers] : suspects) {
      std::set<std::string_view> cases;
      for (const Transfer& one : transfers) cases.insert(one.key);
      const std::size_t wanted = std::max(at_least_, transfers.size());
      const auto good = good_.find(pool);
      if (good != good_.end()) take(in_order(good->second, cases), transfers.size() + wanted, transfers);
      for (const Transfer& one : transfers) ranks[std::string(one.key)].insert({one.lower, one.higher});
    }
  }

 private:
  /// The transfers between two ranks in one case, in both directions.
  struct Transfer {
    std::string_view key;
    int lower = 0;
    int higher = 0;
    friend auto operator<=>(const Transfer&, const Transfer&) = default;
  };
  using Transfers = std::set<Transfer>;

  static Transfer transfer_of(const Test::Value& v) {
    const auto [lower, higher] = std::minmax(v.pair->first, v.pair->second);
    return {v.key, lower, higher};
  }

  /// Adds transfers to `taken`, in the order of `values`, until `taken` contains `until` transfers.
  static void take(const Values& values, std::size_t until, Transfers& taken) {
    for (const Test::Value* v : values) {
      if (taken.size() >= until) return;
      taken.insert(transfer_of(*v));
    }
  }

  /// Sorts transfers by their suitability for a comparison with suspects: first by the number of suspected ends, then
  /// `cases` (which run together with the suspects' transfers) before other cases. Among equals, the transfer of each
  /// case that is closest to the median comes first, then the second closest of each case, and so on.
  [[nodiscard]] Values in_order(Values values, const std::set<std::string_view>& cases) const {
    const double middle = middle_of(values);
    const auto order = [&](const Test::Value* v) {
      return std::tuple(suspected_ends(*v), std::abs(speed(*v) - middle), v->rank, v->pair);
    };
    std::ranges::sort(values, {}, order);
    std::map<std::string_view, std::size_t> of_case;
    std::map<const Test::Value*, std::size_t> turn;
    for (const Test::Value* v : values) turn[v] = of_case[v->key]++;
    std::ranges::stable_sort(values, {}, [&](const Test::Value* v) {
      return std::tuple(suspected_ends(*v), cases.contains(v->key) ? 0 : 1, turn.at(v));
    });
    return values;
  }

  [[nodiscard]] int suspected_ends(const Test::Value& v) const {
    return (suspected_.contains(v.pair->first) ? 1 : 0) + (suspected_.contains(v.pair->second) ? 1 : 0);
  }
};

/// Returns the ranks that are suspected individually in any test. Other ranks of a suspected host may still be compared
/// with each other.
std::set<int> suspected_ranks(const FirstRound& first) {
  std::set<int> all;
  for (const FirstRound::Judged& judged : first.tests()) {
    for (const Suspicion& s : judged.suspicions) {
      if (s.subject.of != Subject::Of::host) all.insert(s.ranks.begin(), s.ranks.end());
    }
  }
  return all;
}

RanksByCase measured_again(const FirstRound& first, const FirstRound::Judged& judged, const std::set<int>& suspected,
                           const Options& options) {
  RanksByCase ranks;
  if (judged.test.values.front().pair) {
    TransferPicker(first, judged, suspected, options).pick(ranks);
  } else {
    RankPicker(first, judged, suspected, options).pick(ranks[judged.test.key]);
  }
  return ranks;
}

}  // namespace

std::vector<Retest> retests_of(const Report& report, const Options& options) {
  std::vector<Retest> retests;
  if (!report.fleet) return retests;
  const FirstRound first(report, options);
  const std::set<int> suspected = suspected_ranks(first);
  std::map<std::pair<std::string, RankConcurrency>, std::size_t> known;
  for (const FirstRound::Judged& judged : first.tests()) {
    if (judged.suspicions.empty()) continue;
    for (auto& [key, ranks] : measured_again(first, judged, suspected, options)) {
      const auto [at, is_new] = known.try_emplace({key, judged.test.pace}, retests.size());
      if (is_new) retests.push_back({.key = key, .pace = judged.test.pace, .ranks = {}});
      Retest& retest = retests[at->second];
      ranks.insert(retest.ranks.begin(), retest.ranks.end());
      retest.ranks.assign(ranks.begin(), ranks.end());
    }
  }
  return retests;
}

}  // namespace xferbench::fleet
