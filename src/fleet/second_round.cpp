#include <algorithm>
#include <cmath>
#include <tuple>

#include "fleet/suspicion.hpp"
#include "measure/statistics.hpp"

namespace xferbench::fleet {

namespace {

/// One that may be measured beside suspects, and how fit it is for that: the least first.
struct Candidate {
  bool suspected_elsewhere = false;
  bool far = false;        ///< from all suspects: on none of their nodes; of hosts: irrelevant
  double from_middle = 0;  ///< of its node for hosts, so that whole nodes are taken; else its own
  int node = 0;            ///< for hosts
  const Test::Value* value = nullptr;
  [[nodiscard]] auto order() const {
    return std::tuple(suspected_elsewhere, far, from_middle, node, value->rank, value->pair);
  }
};

/// Adds the ranks that measure one test again.
class Picker {
 public:
  Picker(const FirstRound& first, const FirstRound::Judged& judged, const std::set<int>& suspected,
         const Options& options)
      : first_(first), judged_(judged), suspected_(suspected), at_least_(options.smallest_group - 1) {
    for (const Test::Value& v : judged.test.values) {
      if (first.is_good(judged, v)) good_[first.pool_of(v)].push_back(&v);
    }
  }

  void pick(std::set<int>& ranks) const {
    std::map<Pool, std::vector<const Suspicion*>> hosts;
    std::map<Pool, std::vector<const Suspicion*>> others;
    for (const Suspicion& s : judged_.suspicions) {
      ranks.insert(s.ranks.begin(), s.ranks.end());
      for (const Pool& pool : pools_of(s)) (s.subject.of == Subject::Of::host ? hosts : others)[pool].push_back(&s);
    }
    for (const auto& [pool, suspicions] : hosts) pick_beside(pool, suspicions, true, ranks);
    for (const auto& [pool, suspicions] : others) pick_beside(pool, suspicions, false, ranks);
  }

 private:
  [[nodiscard]] std::set<Pool> pools_of(const Suspicion& s) const {
    std::set<Pool> pools;
    for (const Test::Value* v : first_.values_of(s.subject, judged_.test)) pools.insert(first_.pool_of(s.subject, *v));
    return pools;
  }

  void pick_beside(const Pool& pool, const std::vector<const Suspicion*>& suspicions, bool hosts,
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
      if (c.value->pair) {
        taken.insert({c.value->pair->first, c.value->pair->second});
      } else {
        taken.insert(c.value->rank);
      }
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

  [[nodiscard]] bool suspected_elsewhere(const Test::Value& v) const {
    if (!v.pair) return suspected_.contains(v.rank);
    return suspected_.contains(v.pair->first) || suspected_.contains(v.pair->second);
  }

  [[nodiscard]] double speed(const Test::Value& v) const { return speed_of(judged_.test, v.value); }

  /// Those on the same nodes first: what is left between them and a suspect is its GPU and its link. Then those that
  /// are the most ordinary.
  [[nodiscard]] std::vector<Candidate> by_ranks(const std::vector<const Test::Value*>& good,
                                                const std::set<int>& near) const {
    const double middle = middle_of(good);
    std::vector<Candidate> all;
    for (const Test::Value* v : good) {
      all.push_back({.suspected_elsewhere = suspected_elsewhere(*v),
                     .far = !near.contains(first_.places().node(v->rank)),
                     .from_middle = std::abs(speed(*v) - middle),
                     .value = v});
    }
    return all;
  }

  /// Whole nodes, the most ordinary first: they are as busy as the suspected one.
  [[nodiscard]] std::vector<Candidate> by_nodes(const std::vector<const Test::Value*>& good) const {
    const double middle = middle_of(good);
    std::map<int, std::vector<const Test::Value*>> by_node;
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

  [[nodiscard]] double middle_of(const std::vector<const Test::Value*>& values) const {
    std::vector<double> speeds;
    for (const Test::Value* v : values) speeds.push_back(speed(*v));
    return statistics::median(speeds);
  }

  const FirstRound& first_;
  const FirstRound::Judged& judged_;
  const std::set<int>& suspected_;
  std::size_t at_least_;
  std::map<Pool, std::vector<const Test::Value*>> good_;
};

/// In any test, by themselves: their hosts' other ranks may still be good ones among each other.
std::set<int> suspected_ranks(const FirstRound& first) {
  std::set<int> all;
  for (const FirstRound::Judged& judged : first.tests()) {
    for (const Suspicion& s : judged.suspicions) {
      if (s.subject.of != Subject::Of::host) all.insert(s.ranks.begin(), s.ranks.end());
    }
  }
  return all;
}

}  // namespace

std::vector<Retest> second_round(const Report& report, const Options& options) {
  std::vector<Retest> retests;
  if (!report.fleet) return retests;
  const FirstRound first(report, options);
  const std::set<int> suspected = suspected_ranks(first);
  std::map<std::pair<std::string, Pacing>, std::size_t> known;
  for (const FirstRound::Judged& judged : first.tests()) {
    if (judged.suspicions.empty()) continue;
    std::set<int> ranks;
    Picker(first, judged, suspected, options).pick(ranks);
    const auto [at, is_new] = known.try_emplace({judged.test.key, judged.test.pace}, retests.size());
    if (is_new) retests.push_back({.key = judged.test.key, .pace = judged.test.pace, .ranks = {}});
    Retest& retest = retests[at->second];
    ranks.insert(retest.ranks.begin(), retest.ranks.end());
    retest.ranks.assign(ranks.begin(), ranks.end());
  }
  return retests;
}

}  // namespace xferbench::fleet
