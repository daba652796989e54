#include "model/contention.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace xferbench::model {

Estimate rate_of(double amount, const Estimate& seconds) {
  if (!(seconds.value > 0)) return {};
  Estimate rate{amount / seconds.value};
  const auto& interval = seconds.interval;
  if (interval && interval->low > 0) rate.interval = Interval{amount / interval->high, amount / interval->low};
  return rate;
}

Estimate sum_of(std::span<const Estimate> estimates) {
  Estimate sum;
  double below = 0;
  double above = 0;
  for (const Estimate& e : estimates) {
    sum.value += e.value;
    if (!e.interval) continue;
    below = std::hypot(below, e.value - e.interval->low);
    above = std::hypot(above, e.interval->high - e.value);
  }
  const bool known = std::ranges::all_of(estimates, [](const Estimate& e) { return e.interval.has_value(); });
  if (known) sum.interval = Interval{sum.value - below, sum.value + above};
  return sum;
}

Estimate fraction_of_alone(const ConcurrentRates& rates) {
  if (!(rates.alone.value > 0)) return {};
  return {rates.together.value / rates.alone.value, ratio_interval(rates.together, rates.alone)};
}

Sharing sharing_of(const ConcurrentRates& rates) {
  const auto part = fraction_of_alone(rates).interval;
  if (!part) return Sharing::undecided;
  if (part->high < 1 - kLeastLoss) return Sharing::yes;
  return part->low >= 1 - kLeastLoss ? Sharing::no : Sharing::undecided;
}

Contention::Contention(std::size_t gpus, std::span<const ConcurrentPair> pairs)
    : gpus_(gpus), matrix_(gpus * gpus, Sharing::unknown) {
  for (const ConcurrentPair& pair : pairs) {
    if (pair.a >= gpus || pair.b >= gpus || pair.a == pair.b) throw std::out_of_range("not a pair of these GPUs");
    matrix_[pair.a * gpus + pair.b] = matrix_[pair.b * gpus + pair.a] = sharing_of(pair.rates);
  }
  connect();
  for (std::size_t first = 0; first < gpus; ++first) {
    if (groups_[first] != first) continue;
    Bottleneck bottleneck;
    for (std::size_t i = first; i < gpus; ++i) {
      if (groups_[i] == first) bottleneck.members.push_back(i);
    }
    if (bottleneck.members.size() < 2) continue;
    describe(bottleneck, pairs);
    bottlenecks_.push_back(std::move(bottleneck));
  }
}

/// Finds the groups of GPUs that are connected by shared bottlenecks, by depth-first search.
void Contention::connect() {
  constexpr auto kNone = static_cast<std::size_t>(-1);
  groups_.assign(gpus_, kNone);
  std::vector<std::size_t> reached;
  for (std::size_t first = 0; first < gpus_; ++first) {
    if (groups_[first] != kNone) continue;
    groups_[first] = first;
    reached.push_back(first);
    while (!reached.empty()) {
      const std::size_t here = reached.back();
      reached.pop_back();
      for (std::size_t other = 0; other < gpus_; ++other) {
        if (groups_[other] != kNone || between(here, other) != Sharing::yes) continue;
        groups_[other] = first;
        reached.push_back(other);
      }
    }
  }
  for (std::size_t a = 0; a < gpus_; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (groups_[a] != groups_[b]) independent_across_ = independent_across_ && between(a, b) == Sharing::no;
    }
  }
}

void Contention::describe(Bottleneck& bottleneck, std::span<const ConcurrentPair> pairs) const {
  for (const std::size_t a : bottleneck.members) {
    for (const std::size_t b : bottleneck.members) {
      if (a != b && between(a, b) != Sharing::yes) bottleneck.every_pair = false;
    }
  }
  for (const ConcurrentPair& pair : pairs) {
    if (groups_[pair.a] != bottleneck.members.front() || between(pair.a, pair.b) != Sharing::yes) continue;
    const double rate = pair.rates.together.value;
    bottleneck.least = bottleneck.most == 0 ? rate : std::min(bottleneck.least, rate);
    bottleneck.most = std::max(bottleneck.most, rate);
  }
}

std::size_t Contention::count(Sharing sharing) const {
  std::size_t n = 0;
  for (std::size_t a = 0; a < gpus_; ++a) {
    for (std::size_t b = 0; b < a; ++b) n += between(a, b) == sharing ? 1 : 0;
  }
  return n;
}

std::vector<std::size_t> Contention::independent() const {
  std::vector<std::size_t> places;
  for (std::size_t a = 0; a < gpus_; ++a) {
    bool alone = true;
    for (std::size_t b = 0; b < gpus_; ++b) alone = alone && (a == b || between(a, b) == Sharing::no);
    if (alone) places.push_back(a);
  }
  return places;
}

std::optional<std::size_t> first_shared_group(std::span<const ConcurrentRates> growing) {
  const auto found =
      std::ranges::find_if(growing, [](const ConcurrentRates& rates) { return sharing_of(rates) == Sharing::yes; });
  if (found == growing.end()) return std::nullopt;
  return static_cast<std::size_t>(found - growing.begin());
}

}  // namespace xferbench::model
