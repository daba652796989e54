#include "fleet/suspicion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "measure/statistics.hpp"

namespace xferbench::fleet {

namespace {

/// Ratio of the median absolute deviation to the standard deviation of normally distributed numbers.
constexpr double kNormal = 0.6745;

/// Smallest number of compared values whose reference is their median. Of two values, a slow one would shift the median
/// half way, so the better value is the reference.
constexpr std::size_t kWithMiddle = 3;

/// The speeds of one peer group on one node.
struct OnNode {
  int node = 0;
  std::vector<double> speeds{};
  std::vector<int> ranks{};
  double median = 0;
};

using NodesByPeerGroup = std::map<std::size_t, std::vector<OnNode>>;

NodesByPeerGroup nodes_by_peer_group(const Test& test, const Places& places) {
  std::map<std::pair<std::size_t, int>, OnNode> found;
  for (const Test::Value& v : test.values) {
    const int node = places.node(v.rank);
    OnNode& on_node = found.try_emplace({places.peer_group(v.rank), node}, OnNode{.node = node}).first->second;
    on_node.speeds.push_back(speed_of(test, v.value));
    on_node.ranks.push_back(v.rank);
  }
  NodesByPeerGroup by_like;
  for (auto& [at, on_node] : found) {
    on_node.median = statistics::median(on_node.speeds);
    by_like[at.first].push_back(std::move(on_node));
  }
  return by_like;
}

/// Whether the shortfall `below` is an outlier, given the median absolute deviation of the group.
bool stands_out(double below, double deviation, const Options& options) {
  return kNormal * below > options.robust_z * deviation;
}

/// Computes the reference speed for a node or rank from the median speeds of all nodes or ranks: the median of the
/// others, or in a small group the best speed.
class References {
 public:
  References(std::vector<double> medians, const Options& options)
      : few_(medians.size() < options.smallest_group), medians_(std::move(medians)) {
    std::ranges::sort(medians_);
    const double middle = statistics::median(medians_);
    const auto deviations = list_of(medians_, [&](double median) { return std::abs(shortfall(median, middle)); });
    deviation_ = few_ ? 0 : statistics::median(deviations);
  }
  [[nodiscard]] bool few() const { return few_; }
  /// Returns the median absolute deviation of the speeds, as a share of their median; 0 in a small group.
  [[nodiscard]] double deviation() const { return deviation_; }
  [[nodiscard]] std::size_t count() const { return medians_.size(); }
  [[nodiscard]] double of(double median) const {
    if (few_) return medians_.back();
    const auto own = static_cast<std::size_t>(std::ranges::lower_bound(medians_, median) - medians_.begin());
    const auto other = [&](std::size_t i) { return medians_[i < own ? i : i + 1]; };
    const std::size_t others = medians_.size() - 1;
    return others % 2 == 1 ? other(others / 2) : (other(others / 2 - 1) + other(others / 2)) / 2;
  }

 private:
  bool few_;
  std::vector<double> medians_;
  double deviation_ = 0;
};

bool is_low(double speed, double reference, const Options& options) {
  return shortfall(speed, reference) > options.threshold;
}

/// Whether there are at least two speeds, and all of them are low: further below the reference than the threshold.
bool all_low(const std::vector<double>& speeds, double reference, const Options& options) {
  return speeds.size() >= 2 &&
         std::ranges::all_of(speeds, [&](double speed) { return is_low(speed, reference, options); });
}

/// The transfers of one rank in a pool, which is a set of comparable transfers.
struct OfRank {
  int rank = 0;
  Subject subject{};  ///< what is suspected if all of these transfers are low
  std::vector<double> speeds{};
  std::set<int> partners{};
  double median = 0;
  double reference = 0;  ///< reference speed, from the other ranks in the pool
  bool best = false;     ///< whether `reference` is the best speed instead of the median
  bool low = false;      ///< whether all of these transfers are low
};

std::vector<OfRank> ranks_in(const Test& test, const Pool& pool, const Values& values, const Options& options) {
  std::map<int, OfRank> found;
  const int beyond = static_cast<int>(pool[2]);
  for (const Test::Value* v : values) {
    const auto [from, to] = *v->pair;
    for (const auto& [rank, other] : {std::pair(from, to), std::pair(to, from)}) {
      OfRank& its =
          found.try_emplace(rank, OfRank{.rank = rank, .subject = {Subject::Of::network, rank, beyond}}).first->second;
      its.speeds.push_back(speed_of(test, v->value));
      its.partners.insert(other);
    }
  }
  std::vector<double> medians;
  for (auto& [rank, its] : found) medians.push_back(its.median = statistics::median(its.speeds));
  const References references(std::move(medians), options);
  std::vector<OfRank> all;
  for (auto& entry : found) {
    OfRank& its = entry.second;
    its.reference = references.of(its.median);
    its.best = references.few();
    its.low = std::ranges::all_of(its.speeds, [&](double speed) { return is_low(speed, its.reference, options); });
    all.push_back(std::move(its));
  }
  return all;
}

/// Returns the rank's partners that are not in `slow`. Transfers with slow partners tell nothing about the rank itself.
std::set<int> good_partners(const OfRank& one, const std::set<Subject>& slow) {
  std::set<int> good = one.partners;
  std::erase_if(good, [&](int partner) { return slow.contains({Subject::Of::network, partner, one.subject.second}); });
  return good;
}

/// Returns the subjects whose transfers are all low.
std::set<Subject> low_subjects(const std::vector<OfRank>& all) {
  std::set<Subject> low = set_of(all, &OfRank::subject);
  for (const OfRank& one : all) {
    if (!one.low) low.erase(one.subject);
  }
  return low;
}

/// Returns the subjects of `low` whose rank has only low transfers, both within its node and with other nodes.
std::set<Subject> low_in_every_kind(const std::vector<OfRank>& all, std::set<Subject> low) {
  const std::set<Subject> of_a_kind = low;
  for (const OfRank& one : all) {
    if (of_a_kind.contains(one.subject)) continue;
    for (const int kind : {0, 1}) low.erase({Subject::Of::network, one.rank, kind});
  }
  return low;
}

/// The transfers of one node with other nodes.
struct OfNode {
  std::set<int> ranks{};
  std::set<int> nodes{};  ///< other nodes in these transfers
  std::vector<double> speeds{};
  double reference = 0;  ///< median speed of all transfers without this node; 0 if there are none
};

std::map<int, OfNode> nodes_in(const Test& test, const Values& values, const Places& places) {
  std::map<int, OfNode> found;
  for (const Test::Value* v : values) {
    const auto [from, to] = *v->pair;
    for (const auto& [rank, other] : {std::pair(from, to), std::pair(to, from)}) {
      OfNode& its = found[places.node(rank)];
      its.ranks.insert(rank);
      its.nodes.insert(places.node(other));
      its.speeds.push_back(speed_of(test, v->value));
    }
  }
  for (auto& [node, its] : found) {
    std::vector<double> others;
    for (const Test::Value* v : values) {
      if (places.node(v->pair->first) == node || places.node(v->pair->second) == node) continue;
      others.push_back(speed_of(test, v->value));
    }
    if (!others.empty()) its.reference = statistics::median(others);
  }
  return found;
}

std::string tests_text(const std::vector<std::string>& tests) {
  return tests.size() == 1 ? tests.front() : fmt::format("{} tests, such as {}", tests.size(), tests.front());
}

}  // namespace

double speed_of(const Test& test, double value) { return test.better == Better::lower ? 1 / value : value; }

std::vector<double> speeds_of(const Test& test, const Values& values) {
  return list_of(values, [&](const Test::Value* v) { return speed_of(test, v->value); });
}

double shortfall(double speed, double reference) { return reference > 0 ? 1 - speed / reference : 0; }

std::vector<PoolOutliers> pool_outliers(const std::vector<std::vector<double>>& pools, const Options& options) {
  std::vector<PoolOutliers> all;
  std::vector<double> deviations;  // distance of each speed from the median of its pool, as a share of the median
  for (const std::vector<double>& speeds : pools) {
    const double middle = statistics::median(speeds);
    all.push_back({.reference = middle, .low = {}});
    for (const double speed : speeds) deviations.push_back(std::abs(shortfall(speed, middle)));
  }
  const bool few = deviations.size() < options.smallest_group;
  const double deviation = few || deviations.empty() ? 0 : statistics::median(deviations);
  for (std::size_t p = 0; p < pools.size(); ++p) {
    PoolOutliers& of_pool = all[p];
    of_pool.best = few || pools[p].size() < kWithMiddle;
    if (of_pool.best) of_pool.reference = std::ranges::max(pools[p]);
    for (std::size_t i = 0; i < pools[p].size(); ++i) {
      const double below = shortfall(pools[p][i], of_pool.reference);
      if (below > options.threshold && stands_out(below, deviation, options)) of_pool.low.push_back(i);
    }
  }
  return all;
}

FirstRound::FirstRound(const Report& report, const Options& options) : places_(*report.fleet) {
  for (Test& test : judged_tests_of(report, 1)) take(std::move(test), options);
  // Judge hosts in all tests before ranks, because ranks of a slow host are judged only among themselves in every test.
  for (Judged& judged : tests_) {
    if (!judged.test.values.front().pair) look_for_hosts(judged, options);
  }
  for (Judged& judged : tests_) {
    if (judged.test.values.front().pair) {
      look_for_transfers(judged, options);
    } else {
      look_for_ranks(judged, options);
    }
  }
  note_few(options);
  note_peer_groups();
  note_clocks();
}

/// Adds a test, without those of its values that cannot be judged. Drops the test if nothing is left or the clock error
/// is too large.
void FirstRound::take(Test test, const Options& options) {
  const bool of_pairs = std::ranges::any_of(test.values, [](const Test::Value& v) { return v.pair.has_value(); });
  std::erase_if(test.values, [&](const Test::Value& v) { return v.pair.has_value() != of_pairs || !knows(v); });
  if (test.values.empty() || test.better == Better::neither) return;
  const double worst = std::ranges::max(test.values, {}, &Test::Value::clock_share).clock_share;
  if (worst > options.clock_share) {
    without_verdict_.push_back(test.name());
    worst_clock_share_ = std::max(worst_clock_share_, worst);
    return;
  }
  tests_.push_back({.test = std::move(test)});
}

void FirstRound::look_for_hosts(Judged& judged, const Options& options) {
  for (auto& [peer_group, nodes] : nodes_by_peer_group(judged.test, places_)) {
    if (nodes.size() < 2) continue;
    const References references(list_of(nodes, &OnNode::median), options);
    const bool of_several = std::ranges::any_of(nodes, [](const OnNode& node) { return node.ranks.size() > 1; });
    if (references.few() && of_several)
      keep_few("hosts with " + places_.peer_groups()[peer_group].text(), nodes.size(), judged.test);
    for (const OnNode& node : nodes) {
      const double reference = references.of(node.median);
      if (!all_low(node.speeds, reference, options)) continue;
      if (!stands_out(shortfall(node.median, reference), references.deviation(), options)) continue;
      low_hosts_.emplace(peer_group, node.node, judged.test.path);
      judged.suspicions.push_back({.subject = {Subject::Of::host, node.node, static_cast<int>(peer_group)},
                                   .ranks = node.ranks,
                                   .speed = node.median,
                                   .reference = reference,
                                   .best = references.few()});
    }
  }
}

void FirstRound::look_for_ranks(Judged& judged, const Options& options) {
  std::map<long, std::vector<std::pair<Pool, Values>>> by_like;
  for (const auto& [pool, values] : pools_of(judged.test)) by_like[pool[0]].emplace_back(pool, values);
  for (const auto& [peer_group, pools] : by_like) {
    const auto speeds = list_of(pools, [&](const auto& pool) { return speeds_of(judged.test, pool.second); });
    const std::vector<PoolOutliers> standings = pool_outliers(speeds, options);
    for (std::size_t p = 0; p < standings.size(); ++p) {
      const auto& [pool, values] = pools[p];
      if (standings[p].best) keep_few("ranks " + pool_text(pool), values.size(), judged.test);
      for (const std::size_t i : standings[p].low) {
        const int rank = values[i]->rank;
        judged.ranks.insert(rank);
        judged.suspicions.push_back({.subject = {Subject::Of::rank, rank},
                                     .ranks = {rank},
                                     .speed = speeds[p][i],
                                     .reference = standings[p].reference,
                                     .best = standings[p].best,
                                     .on_host = pool[1] >= 0});
      }
    }
  }
}

/// Judges the networks of ranks before single pairs of ranks: transfers of a suspected network are not suspected again
/// as pairs.
void FirstRound::look_for_transfers(Judged& judged, const Options& options) {
  const Pools pools = pools_of(judged.test);
  for (const auto& [pool, values] : pools) {
    if (pool[2] == 1) look_for_networks_of_nodes(judged, values, options);
  }
  look_for_networks(judged, pools, options);
  for (const auto& [pool, values] : pools) look_for_pairs(judged, pool, values, options);
}

/// Suspects the network of a rank whose transfers in a pool are all low, if the rank has at least two unsuspected
/// partners: with only one partner, either end could be slow. One partner on its node and one on another node also
/// count as two, if all transfers of the rank are low.
void FirstRound::look_for_networks(Judged& judged, const Pools& pools, const Options& options) {
  std::vector<OfRank> all;
  for (const auto& [pool, values] : pools)
    std::ranges::move(ranks_in(judged.test, pool, values, options), std::back_inserter(all));
  // A transfer with a slow partner says nothing about the rank. So judge ranks with the most good partners first. A
  // good partner has a transfer of this kind (within or between nodes) that is not low. Among equals, count partners
  // with any transfer that is not low, then judge the slowest first.
  const std::set<Subject> low = low_subjects(all);
  const std::set<Subject> low_everywhere = low_in_every_kind(all, low);
  std::ranges::stable_sort(all, std::ranges::greater(), [&](const OfRank& one) {
    return std::tuple(good_partners(one, low).size(), good_partners(one, low_everywhere).size(),
                      shortfall(one.median, one.reference));
  });
  std::map<int, std::vector<const OfRank*>> by_rank;
  for (const OfRank& one : all) by_rank[one.rank].push_back(&one);
  const auto has_two_partners = [&](const OfRank& one) {
    std::set<int> partners = good_partners(one, judged.networks);
    const std::vector<const OfRank*>& everywhere = by_rank.at(one.rank);
    if (partners.size() < 2 && std::ranges::all_of(everywhere, &OfRank::low)) {
      for (const OfRank* elsewhere : everywhere) partners.merge(good_partners(*elsewhere, judged.networks));
    }
    return partners.size() >= 2;
  };
  for (const OfRank& one : all) {
    if (!one.low || judged.networks.contains(one.subject) || !has_two_partners(one)) continue;
    judged.networks.insert(one.subject);
    judged.suspicions.push_back({.subject = one.subject,
                                 .ranks = {one.rank},
                                 .speed = one.median,
                                 .reference = one.reference,
                                 .best = one.best});
  }
}

/// Suspects a node whose transfers with other nodes are all low, if at least two of the other nodes also have transfers
/// that are not low. In a ring, each rank has at most one partner beyond its node, so only all ranks together show
/// whose network is slow.
void FirstRound::look_for_networks_of_nodes(Judged& judged, const Values& values, const Options& options) const {
  const std::map<int, OfNode> nodes = nodes_in(judged.test, values, places_);
  std::set<int> low;
  for (const auto& [node, its] : nodes) {
    if (all_low(its.speeds, its.reference, options)) low.insert(node);
  }
  for (const int node : low) {
    const OfNode& its = nodes.at(node);
    const auto good = std::ranges::count_if(its.nodes, [&](int other) { return !low.contains(other); });
    if (good < 2 || its.ranks.size() < 2) continue;
    for (const int rank : its.ranks) {
      const Subject subject{Subject::Of::network, rank, 1};
      if (!judged.networks.insert(subject).second) continue;
      const double middle = statistics::median(speeds_of(judged.test, values_of(subject, judged.test)));
      judged.suspicions.push_back({.subject = subject, .ranks = {rank}, .speed = middle, .reference = its.reference});
    }
  }
}

/// Suspects single transfers that are low although the network of neither end is suspected.
void FirstRound::look_for_pairs(Judged& judged, const Pool& pool, const Values& values, const Options& options) {
  const Values others = those_of(values, [&](const Test::Value* v) { return is_good(judged, *v); });
  if (others.empty()) return;
  const std::vector<double> speeds = speeds_of(judged.test, others);
  const PoolOutliers standing = pool_outliers({speeds}, options).front();
  if (standing.best) keep_few("transfers " + pool_text(pool), speeds.size(), judged.test);
  for (const std::size_t i : standing.low) {
    const auto [from, to] = *others[i]->pair;
    judged.pairs.emplace(from, to);
    judged.suspicions.push_back({.subject = {Subject::Of::pair, from, to},
                                 .ranks = {from, to},
                                 .speed = speeds[i],
                                 .reference = standing.reference,
                                 .best = standing.best});
  }
}

Pools FirstRound::pools_of(const Test& test) const {
  Pools pools;
  for (const Test::Value& v : test.values) pools[pool_of(test, v)].push_back(&v);
  return pools;
}

Pools FirstRound::good_of(const Judged& judged, const Test& test) const {
  Pools pools;
  for (const Test::Value& v : test.values) {
    if (is_good(judged, v)) pools[pool_of(judged.test, v)].push_back(&v);
  }
  return pools;
}

Pool FirstRound::pool_of(const Test& test, const Test::Value& value) const {
  if (value.pair) {
    const auto [from, to] = *value.pair;
    return {static_cast<long>(places_.peer_group(from)), static_cast<long>(places_.peer_group(to)),
            places_.node(from) == places_.node(to) ? 0 : 1};
  }
  const std::size_t peer_group = places_.peer_group(value.rank);
  const int node = places_.node(value.rank);
  return {static_cast<long>(peer_group), is_on_low_host(peer_group, node, test.path) ? node : -1, -1};
}

Pool FirstRound::pool_of(const Subject& subject, const Test& test, const Test::Value& value) const {
  if (subject.of != Subject::Of::host) return pool_of(test, value);
  return {static_cast<long>(places_.peer_group(value.rank)), -1, -1};
}

/// Each data path has its own set of slow hosts, because a host with slow links may have fast GPUs. Slow links and slow
/// GPUs both slow tests of DataPath::mixed, so for `mixed` the sets of all data paths count.
bool FirstRound::is_on_low_host(std::size_t peer_group, int node, DataPath path) const {
  const auto is_low = [&](DataPath in) { return low_hosts_.contains({peer_group, node, in}); };
  if (path != DataPath::mixed) return is_low(path);
  return is_low(DataPath::link) || is_low(DataPath::gpu) || is_low(DataPath::mixed);
}

/// Returns, for example, "with NVIDIA H200 on PCIe 5 x16 on host a".
std::string FirstRound::pool_text(const Pool& pool) const {
  const std::string peer_group = places_.peer_groups()[static_cast<std::size_t>(pool[0])].text();
  if (pool[2] < 0)
    return "with " + peer_group + (pool[1] < 0 ? "" : " on host " + places_.host(static_cast<int>(pool[1])));
  const std::string other = places_.peer_groups()[static_cast<std::size_t>(pool[1])].text();
  return fmt::format("{} from {} to {}", pool[2] == 0 ? "within hosts" : "between hosts", peer_group, other);
}

bool FirstRound::is_of(const Subject& subject, const Test::Value& value) const {
  switch (subject.of) {
    case Subject::Of::host:
      return !value.pair && places_.node(value.rank) == subject.first &&
             static_cast<int>(places_.peer_group(value.rank)) == subject.second;
    case Subject::Of::rank: return !value.pair && value.rank == subject.first;
    case Subject::Of::network: {
      if (!value.pair) return false;
      const auto [from, to] = *value.pair;
      const bool beyond = places_.node(from) != places_.node(to);
      return (from == subject.first || to == subject.first) && beyond == (subject.second == 1);
    }
    default: return value.pair == std::pair(subject.first, subject.second);
  }
}

bool FirstRound::is_good(const Judged& test, const Test::Value& value) const {
  if (!knows(value)) return false;
  if (!value.pair) return !test.ranks.contains(value.rank);
  const auto [from, to] = *value.pair;
  const int beyond = places_.node(from) == places_.node(to) ? 0 : 1;
  return !test.networks.contains({Subject::Of::network, from, beyond}) &&
         !test.networks.contains({Subject::Of::network, to, beyond}) && !test.pairs.contains(*value.pair);
}

bool FirstRound::knows(const Test::Value& value) const {
  if (!places_.has(value.rank)) return false;
  return !value.pair || (places_.has(value.pair->first) && places_.has(value.pair->second));
}

Values FirstRound::values_of(const Subject& subject, const Test& test) const {
  Values found;
  auto at = test.values.begin();
  auto end = test.values.end();
  if (subject.of == Subject::Of::rank) {  // binary search, because a test may have thousands of values
    at = std::ranges::lower_bound(test.values, subject.first, {}, &Test::Value::rank);
    end = std::ranges::upper_bound(test.values, subject.first, {}, &Test::Value::rank);
  }
  for (; at != end; ++at) {
    if (knows(*at) && is_of(subject, *at)) found.push_back(&*at);
  }
  return found;
}

bool FirstRound::compares(const Judged& judged) const {
  std::set<Pool> pools;
  return std::ranges::any_of(judged.test.values,
                             [&](const Test::Value& v) { return !pools.insert(pool_of(judged.test, v)).second; });
}

FleetJudgement FirstRound::judgement() const {
  const auto compared = std::ranges::count_if(tests_, [this](const Judged& judged) { return compares(judged); });
  return {.tests = tests_.size() + without_verdict_.size(), .judged = static_cast<std::size_t>(compared)};
}

/// Does nothing if `count` is 1, because a single value is compared with no other.
void FirstRound::keep_few(const std::string& what, std::size_t count, const Test& test) {
  if (count < 2) return;
  Few& few = few_[what];
  few.least = few.tests.empty() ? count : std::min(few.least, count);
  few.tests.push_back(test.name());
}

void FirstRound::note_few(const Options& options) {
  for (const auto& [what, few] : few_) {
    notes_.push_back(fmt::format(
        "only {} {} in {}: each is compared with the best of them, not with their median, which needs at least {}",
        few.least, what, tests_text(few.tests), options.smallest_group));
  }
}

/// Notes ranks without peers, and GPU models on several kinds of links.
void FirstRound::note_peer_groups() {
  std::map<std::string, std::vector<const PeerGroup*>> by_model;
  for (const PeerGroup& peer_group : places_.peer_groups()) {
    by_model[peer_group.gpu].push_back(&peer_group);
    if (peer_group.ranks.size() > 1) continue;
    notes_.push_back(fmt::format("{} is the only rank with {}: it has no peers to compare with",
                                 places_.rank_text(peer_group.ranks.front()), peer_group.text()));
  }
  for (const auto& [model, peer_groups] : by_model) {
    if (peer_groups.size() < 2) continue;
    for (const PeerGroup* peer_group : peer_groups) {
      notes_.push_back(fmt::format("{}: {}; each kind of link is judged separately", ranks_text(peer_group->ranks),
                                   peer_group->text()));
    }
  }
}

void FirstRound::note_clocks() {
  if (without_verdict_.empty()) return;
  notes_.push_back(fmt::format("no verdict from {}: the common clock may be wrong by {} of the measured time",
                               tests_text(without_verdict_), format_percent_short(worst_clock_share_)));
}

}  // namespace xferbench::fleet
