// Findings of scenario p2p: fits, faster ways of copying, asymmetric pairs, outliers.
#include "scenarios/p2p/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/units.hpp"
#include "measure/statistics.hpp"
#include "model/group_outliers.hpp"
#include "model/relation.hpp"
#include "results/metric_names.hpp"
#include "run/finding_text.hpp"
#include "run/findings.hpp"

namespace xferbench {

namespace {

using model::Relation;
using Results = std::vector<const Result*>;

/// A result of a copy or of a latency measurement, with its parsed case.
struct Of {
  const Result* result;
  P2pCase of_case;

  explicit Of(const Result* r) : result(r), of_case(p2p_case(r->config)) {
    if (!of_case.is_of_one_pair()) throw InputError(result->config.key() + " names no pair of GPUs");
    if (result->needed_measurement(name()).samples.empty()) return;  // the case was interrupted
    if (!of_case.latency) result->needed_metric("bandwidth");
  }
  [[nodiscard]] const char* name() const { return of_case.latency ? kLatency : "copy"; }
  [[nodiscard]] model::Estimate time() const { return model::estimate_of(*result, name()); }
  [[nodiscard]] bool sampled() const { return !result->needed_measurement(name()).samples.empty(); }
  [[nodiscard]] std::pair<int, int> pair() const { return {of_case.from.front(), of_case.to.front()}; }
  [[nodiscard]] std::string pair_text() const { return fmt::format("{} to {}", pair().first, pair().second); }
};
using All = std::vector<Of>;

/// Returns a key of the case that leaves out the axes `axes`: cases with equal keys differ in these axes only.
std::string beside(const Case& c, std::initializer_list<std::string_view> axes) {
  return key_of(c, [&](std::string_view axis) { return !has_item(axes, axis); });
}

/// Returns groups of elements with equal keys, in the order of their first elements.
template <class Key>
std::vector<All> grouped_by(const All& all, const Key& key_of) {
  return list_of(by_name(all, key_of), [](auto& group) { return std::move(group.second); });
}

/// Returns the axes in which the ways of copying differ, for labels; leaves out the axis `without`.
std::vector<std::string> axes_of_ways(const All& all, std::string_view without = "") {
  std::vector<std::string> axes = varying_axes(list_of(all, &Of::result));
  const bool latency = all.front().of_case.latency;
  for (const char* always : {latency ? "op" : "dir", latency ? "lies-in" : "size"}) add_new(axes, always);
  std::erase_if(axes, [&](const std::string& axis) { return axis == "from" || axis == "to" || axis == without; });
  // The axes are sorted like the case's parameters.
  const auto place = [&](const std::string& axis) {
    const auto& params = all.front().result->config.params();
    return std::ranges::find(params, axis, &Case::Param::name) - params.begin();
  };
  std::ranges::stable_sort(axes, {}, place);
  return axes;
}

/// Returns the copies of the largest size, whose time depends on bandwidth and not on the fixed cost of a copy.
All largest(const All& all) {
  const std::size_t most = most_of(all, [](const Of& of) { return of.of_case.size; });
  return those_of(all, [most](const Of& of) { return of.of_case.size == most; });
}

std::size_t sizes_in(const All& all) {
  return set_of(all, [](const Of& of) { return of.of_case.size; }).size();
}

std::size_t pairs_in(const All& all) { return set_of(all, &Of::pair).size(); }

// --- Comparison of ways of copying ----------------------------------------------------------------------------------

/// Two values of an axis that are compared with each other.
struct Choice {
  std::string_view axis;
  std::string_view one;
  std::string_view other;
};
constexpr std::array<Choice, 6> kChoices{{{"dir", "write", "read"},
                                          {"dir", "bidirectional", "bidirectional-read"},
                                          {"engine", "ce", "sm"},
                                          {"access", "peer", "staged"},
                                          {"device-memory", "malloc", "pool"},
                                          {"device-memory", "malloc", "vmm"}}};

bool has(const Labels& labels, std::string_view axis, std::string_view word) {
  return std::ranges::any_of(labels, [&](const auto& label) { return label.first == axis && label.second == word; });
}

/// If several sizes were measured, adds fits and crossovers for each pair. With many pairs, or if one way is faster at
/// every size, these findings are details, because add_choices() sums them up.
void add_sizes(const All& copies, std::vector<Finding>& findings) {
  const Results results = list_of(copies, &Of::result);
  const std::vector<Path> all = paths(results, "copy");
  findings = fits_and_crossovers(all, "");
  const bool few_pairs = pairs_in(copies) <= 2;
  for (const Choice& choice : kChoices) {
    const std::vector<Path> chosen = those_of(all, [&](const Path& path) {
      return has(path.labels, choice.axis, choice.one) || has(path.labels, choice.axis, choice.other);
    });
    for (Finding& finding : comparisons(chosen, choice.axis)) {
      finding.detail = finding.detail || finding.kind != "crossover" || !few_pairs;
      findings.push_back(std::move(finding));
    }
  }
}

/// Counts the pairs of GPUs by which of two ways is faster, and collects the range of the ratios of the two times.
struct Tally {
  std::map<Relation, std::size_t> pairs{};
  std::map<Relation, Interval> factors{};
  std::string only_pair{};
  bool sampled = true;

  void add(const Of& one, const Of& other) {
    const model::Estimate a = one.time();
    const model::Estimate b = other.time();
    const Relation relation = model::relate(a, b);
    const double factor = std::max(a.value, b.value) / std::min(a.value, b.value);
    auto& range = factors.try_emplace(relation, Interval{factor, factor}).first->second;
    range = {std::min(range.low, factor), std::max(range.high, factor)};
    ++pairs[relation];
    only_pair = one.pair_text();
    sampled = sampled && a.interval && b.interval;
  }
  [[nodiscard]] std::size_t total() const {
    return total_of(pairs, [](const auto& of_relation) { return of_relation.second; });
  }
  /// Returns the relation of the two ways if it is the same for all pairs.
  [[nodiscard]] Relation common() const { return pairs.size() == 1 ? pairs.begin()->first : Relation::undecided; }
};

/// Returns for example "between 3 of 8 pairs", "between all 8 pairs" or "between the pair".
std::string among(std::size_t count, std::size_t total) {
  if (total == 1) return "between the pair";
  if (count < total) return fmt::format("between {} of {} pairs", count, total);
  return total == 2 ? "between both pairs" : fmt::format("between all {} pairs", total);
}

std::string text_of(const Choice& choice, const Tally& tally) {
  const std::size_t total = tally.total();
  std::vector<std::string> parts;
  for (const auto& [relation, count] : tally.pairs) {
    const std::string where = total == 1 ? "from " + tally.only_pair : among(count, total);
    const bool first = relation == Relation::faster;
    switch (relation) {
      case Relation::faster:
      case Relation::slower:
        parts.push_back(fmt::format("{} is {} times as fast as {} {}", first ? choice.one : choice.other,
                                    factors_text(tally.factors.at(relation)), first ? choice.other : choice.one,
                                    where));
        break;
      case Relation::equal:
        parts.push_back(fmt::format("{} and {} are equally fast (within 1 %) {}", choice.one, choice.other, where));
        break;
      case Relation::undecided:
        parts.push_back(fmt::format("no difference found between {} and {} {}{}", choice.one, choice.other, where,
                                    tally.sampled ? "" : fmt::format(" ({})", kTooFewSamples)));
        break;
    }
  }
  return listed(parts);
}

/// Adds one finding over all pairs of GPUs for each choice.
void add_choices(const All& copies, std::vector<Finding>& findings) {
  for (const Choice& choice : kChoices) {
    const std::vector<std::string> axes = axes_of_ways(copies, choice.axis);
    for (const All& group : grouped_by(copies, [&](const Of& of) {
           return beside(of.result->config, {"from", "to", choice.axis});
         })) {
      std::map<std::pair<int, int>, std::pair<const Of*, const Of*>> rivals;
      for (const Of& of : group) {
        const Labels labels = labels_of(of.result->config, std::array{std::string(choice.axis)});
        if (has(labels, choice.axis, choice.one)) rivals[of.pair()].first = &of;
        if (has(labels, choice.axis, choice.other)) rivals[of.pair()].second = &of;
      }
      Tally tally;
      for (const auto& [pair, two] : rivals) {
        if (two.first != nullptr && two.second != nullptr) tally.add(*two.first, *two.second);
      }
      if (tally.total() == 0) continue;
      const Case& config = group.front().result->config;
      Finding finding{.kind = "winner",
                      .labels = labels_of(config, axes),
                      .text = name_of(config, axes) + ": " + text_of(choice, tally)};
      const Relation common = tally.common();
      if (common == Relation::faster || common == Relation::slower) {
        const bool first = common == Relation::faster;
        finding.labels.emplace_back("faster", first ? choice.one : choice.other);
        finding.labels.emplace_back("slower", first ? choice.other : choice.one);
      } else {
        finding.labels.emplace_back(choice.axis, fmt::format("{},{}", choice.one, choice.other));
        finding.labels.emplace_back("outcome", common == Relation::equal ? "equal" : "undecided");
      }
      findings.push_back(std::move(finding));
    }
  }
}

// --- Comparison of pairs --------------------------------------------------------------------------------------------

/// Adds the pairs that are faster in one direction than in the other, for each way of one-way copies and for latency.
void add_asymmetries(const All& all, std::vector<Finding>& findings) {
  const std::vector<std::string> axes = axes_of_ways(all);
  const auto but_pair = [](const Of& of) { return beside(of.result->config, {"from", "to"}); };
  for (const All& group : grouped_by(all, but_pair)) {
    if (group.front().of_case.both_ways()) continue;
    std::vector<std::string> parts;
    std::size_t compared = 0;
    bool equal = true;
    for (const Of& there : group) {
      const auto back = std::ranges::find_if(
          group, [&](const Of& other) { return other.pair() == std::pair(there.pair().second, there.pair().first); });
      if (back == group.end() || there.pair().first > there.pair().second) continue;
      ++compared;
      const Relation relation = model::relate(there.time(), back->time());
      equal = equal && relation == Relation::equal;
      if (relation != Relation::faster && relation != Relation::slower) continue;
      const Of& fast = relation == Relation::faster ? there : *back;
      const Of& slow = relation == Relation::faster ? *back : there;
      parts.push_back(fmt::format("{} is {} times as fast as {}", fast.pair_text(),
                                  factor_text(slow.time().value / fast.time().value), slow.pair_text()));
    }
    if (compared == 0) continue;
    const Case& config = group.front().result->config;
    const bool one = compared == 1;
    const std::string alike =
        equal ? fmt::format("{} equally fast in both directions (within 1 %)", one ? "the pair is" : "all pairs are")
              : "no pair is significantly faster in one direction";
    findings.push_back({.kind = "asymmetry",
                        .labels = labels_of(config, axes),
                        .text = name_of(config, axes) + ": " + (parts.empty() ? alike : listed(parts)),
                        .detail = parts.empty()});
    findings.back().labels.emplace_back("outcome", !parts.empty() ? "different" : equal ? "equal" : "undecided");
  }
}

/// Returns the value by which a pair is judged and reported: its bandwidth, or its latency.
Metric judged(const Of& of) {
  return of.of_case.latency ? Metric{kLatency, of.time().value, "s"} : of.result->needed_metric("bandwidth");
}

/// Adds outliers among the pairs of GPUs that have the same limit.
void add_outlier_pairs(const All& all, std::vector<Finding>& findings) {
  const std::vector<std::string> axes = axes_of_ways(all);
  const auto way_and_limit = [](const Of& of) {
    return fmt::format("{} {}", beside(of.result->config, {"from", "to"}), of.result->value("limit"));
  };
  for (const All& group : grouped_by(all, way_and_limit)) {
    for (const std::size_t odd : model::group_outliers(list_of(group, &Of::time))) {
      const Metric own = judged(group[odd]);
      const double median = statistics::median(list_of(group, [](const Of& of) { return judged(of).value; }));
      const Case& config = group[odd].result->config;
      Finding finding{
          .kind = "odd-pair",
          .labels = labels_of(config, axes),
          .metrics = {own, {own.name + "_of_pairs", median, own.unit}},
          .text = fmt::format("{}: {} is an outlier: {}, the median of {} pairs is {}", name_of(config, axes),
                              group[odd].pair_text(), format_quantity(own.value, own.unit), group.size(),
                              format_quantity(median, own.unit))};
      finding.labels.emplace_back("from", std::to_string(group[odd].pair().first));
      finding.labels.emplace_back("to", std::to_string(group[odd].pair().second));
      findings.push_back(std::move(finding));
    }
  }
}

// --- Slow peer paths ------------------------------------------------------------------------------------------------

/// Returns whether a peer copy is slower than a copy through the host, or reaches less than a tenth of its limit.
bool is_slow_peer(const Of& of) {
  constexpr double kHardlyAny = 0.1;
  const Metric* staged = of.result->metric(kStagedBandwidth);
  return staged != nullptr && (judged(of).value < staged->value || of.result->value("of_limit") < kHardlyAny);
}

/// Returns for example "write, 0 to 1: 2.1 GB/s, 0.4 % of its limit; through the host 36.9 GB/s".
std::string slow_text(const Of& of, const std::vector<std::string>& axes) {
  const Metric peer = judged(of);
  const Metric& staged = of.result->needed_metric(kStagedBandwidth);
  return fmt::format("{}, {}: {}, {} of its limit; through the host {}", name_of(of.result->config, axes),
                     of.pair_text(), format_quantity(peer.value, peer.unit),
                     format_percent(of.result->value("of_limit")), format_quantity(staged.value, staged.unit));
}

/// Adds a finding that summarizes all slow peer copies, with the slowest and the causes, then one detail for each copy.
void add_slow_peers(const All& copies, std::vector<Finding>& findings) {
  const All slow = those_of(copies, is_slow_peer);
  if (slow.empty()) return;
  const std::vector<std::string> axes = axes_of_ways(copies);
  const auto share = [](const Of& of) { return of.result->value("of_limit"); };
  findings.push_back(
      {.kind = "slow-peer",
       .text = fmt::format(
           "the peer path is slow {}; {}. Its traffic may go up to the CPU, as ACS or an IOMMU makes it "
           "(lspci -vvv: ACSCtl), cross CPU sockets, or a link may be down (nvidia-smi topo -m)",
           among(pairs_in(slow), pairs_in(copies)), slow_text(*std::ranges::min_element(slow, {}, share), axes))});
  for (const Of& of : slow) {
    Finding finding{.kind = "slow-peer",
                    .labels = labels_of(of.result->config, axes),
                    .metrics = {judged(of), of.result->needed_metric(kStagedBandwidth)},
                    .text = slow_text(of, axes),
                    .detail = true};
    finding.labels.emplace_back("from", std::to_string(of.pair().first));
    finding.labels.emplace_back("to", std::to_string(of.pair().second));
    findings.push_back(std::move(finding));
  }
}

}  // namespace

std::vector<Finding> p2p_findings(std::span<const Result* const> results) {
  All copies;
  All reads;
  for (const Result* r : results) {
    const Of of(r);
    if (of.sampled()) (of.of_case.latency ? reads : copies).push_back(of);
  }
  std::vector<Finding> findings;
  if (!copies.empty()) {
    if (sizes_in(copies) > 1) add_sizes(copies, findings);
    add_slow_peers(largest(copies), findings);
    add_choices(largest(copies), findings);
    add_asymmetries(largest(copies), findings);
    add_outlier_pairs(largest(copies), findings);
  }
  if (!reads.empty()) {
    add_asymmetries(reads, findings);
    add_outlier_pairs(reads, findings);
  }
  fold_into_rows(findings, "odd-pair", 2);
  return findings;
}

}  // namespace xferbench
