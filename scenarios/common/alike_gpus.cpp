#include "scenarios/common/alike_gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "measure/statistics.hpp"
#include "model/group_outliers.hpp"
#include "run/finding_text.hpp"

namespace xferbench {

namespace {

constexpr const char* kAlikeGpus = "alike";

/// The rates that several GPUs reached in the same work.
class Rates {
 public:
  explicit Rates(const SameWork& work) : work_(work) {
    const auto by_time = [](const Rival& of) { return of.time.value; };
    const auto [fastest, slowest] = std::ranges::minmax_element(work.rivals, {}, by_time);
    fastest_ = &*fastest;
    slowest_ = &*slowest;
    median_ = statistics::median(list_of(work.rivals, [this](const Rival& of) { return rate(of); }));
  }

  [[nodiscard]] Finding finding() const {
    Finding f{.kind = "gpus", .labels = work_.labels};
    const model::Relation relation = model::relate(slowest_->time, fastest_->time);
    const std::string odd = odd_text(relation);
    f.labels.emplace_back("outcome", !odd.empty()                         ? "different"
                                     : relation == model::Relation::equal ? kAlikeGpus
                                                                          : "undecided");
    f.metrics = {
        {"lowest", rate(*slowest_), "GB/s"}, {"median", median_, "GB/s"}, {"highest", rate(*fastest_), "GB/s"}};
    f.detail = f.label("outcome") == kAlikeGpus;
    f.text = work_.words + (f.detail      ? ": " + number(median_)
                            : odd.empty() ? ": no GPU stands out: " + range() + doubt()
                                          : ": " + odd);
    return f;
  }

  /// Returns for example "h2d, pinned (55.4 GB/s)".
  [[nodiscard]] std::string subject() const { return fmt::format("{} ({})", work_.words, number(median_)); }

 private:
  /// Returns which GPUs are slower or faster than the others; empty if no GPU certainly differs.
  [[nodiscard]] std::string odd_text(model::Relation slowest_to_fastest) const {
    if (work_.rivals.size() == 2) {
      if (slowest_to_fastest != model::Relation::slower) return {};
      return fmt::format("GPU {} is {} than GPU {}: {} against {}", slowest_->number,
                         difference(rate(*slowest_), rate(*fastest_)), fastest_->number, number(rate(*slowest_)),
                         number(rate(*fastest_)));
    }
    std::vector<std::string> parts;
    for (const std::size_t odd : model::group_outliers(list_of(work_.rivals, &Rival::time))) {
      const double own = rate(work_.rivals[odd]);
      parts.push_back(
          fmt::format("GPU {} is {} ({})", work_.rivals[odd].number, difference(own, median_), number(own)));
    }
    if (parts.empty()) return {};
    return fmt::format("{} than the median of {} GPUs, {}", listed(parts), work_.rivals.size(), number(median_));
  }
  static std::string difference(double rate, double of) {
    return fmt::format("{} {}", format_percent(std::abs(1 - rate / of)), rate < of ? "slower" : "faster");
  }
  [[nodiscard]] std::string range() const {
    return fmt::format("{} to {}", format_significant(rate(*slowest_)), number(rate(*fastest_)));
  }
  [[nodiscard]] std::string doubt() const {
    const bool sampled =
        std::ranges::all_of(work_.rivals, [](const Rival& of) { return of.time.interval.has_value(); });
    return sampled ? "" : fmt::format(" ({})", kTooFewSamples);
  }
  [[nodiscard]] double rate(const Rival& of) const { return work_.bytes / of.time.value / 1e9; }
  static std::string number(double rate) { return format_quantity(rate, "GB/s"); }

  const SameWork& work_;
  const Rival* fastest_;
  const Rival* slowest_;
  double median_;
};

/// Returns for example "h2d, pinned, GPU 0: 41.2 GB/s from node 1, 55.4 GB/s from node 0".
std::string nodes_text(const SameWork& work, const Rival& slow, const Rival& fast) {
  const auto from = [&work](const Rival& of) {
    return fmt::format("{} from node {}", format_quantity(work.bytes / of.time.value / 1e9, "GB/s"), of.number);
  };
  return fmt::format("{}: {}, {}", work.words, from(slow), from(fast));
}

}  // namespace

std::vector<Finding> compare_nodes(std::span<const SameWork> all) {
  std::vector<Finding> findings;
  Finding first{.kind = "numa", .labels = {{"outcome", kAlikeGpus}}};
  double most = 0;
  for (const SameWork& work : all) {
    const auto by_time = [](const Rival& of) { return of.time.value; };
    const auto [fast, slow] = std::ranges::minmax_element(work.rivals, {}, by_time);
    const double cost = 1 - fast->time.value / slow->time.value;
    findings.push_back({.kind = "numa",
                        .labels = work.labels,
                        .metrics = {{"numa_cost", cost, "1"}},
                        .text = nodes_text(work, *slow, *fast),
                        .detail = true});
    const model::Relation relation = model::relate(slow->time, fast->time);
    if (relation != model::Relation::equal && most == 0) first.labels = {{"outcome", "undecided"}};
    if (relation != model::Relation::slower || cost <= most) continue;
    most = cost;
    first.labels = {{"outcome", "different"}};
    first.metrics = {{"numa_cost", cost, "1"}};
    first.text =
        fmt::format("memory of the wrong NUMA node costs up to {}: {}", format_percent(cost), findings.back().text);
  }
  if (findings.empty()) return findings;
  if (first.text.empty()) {
    first.text = first.label("outcome") == kAlikeGpus ? "the memory of all NUMA nodes is equally fast (within 1 %)"
                                                      : "no difference found between the memories of NUMA nodes";
  }
  findings.insert(findings.begin(), std::move(first));
  return findings;
}

std::vector<Finding> compare_gpus(std::span<const SameWork> all) {
  std::vector<Finding> findings;
  std::vector<std::string> alike;
  for (const SameWork& work : all) {
    const Rates rates(work);
    findings.push_back(rates.finding());
    if (findings.back().detail) alike.push_back(rates.subject());
  }
  if (alike.empty()) return findings;
  const std::size_t count = all.front().rivals.size();
  const std::string who = count == 2 ? "both GPUs" : fmt::format("all {} GPUs", count);
  findings.insert(findings.begin(), {.kind = "gpus",
                                     .labels = {{"outcome", kAlikeGpus}},
                                     .text = fmt::format("{} are equally fast (within 1 %): {}", who, listed(alike))});
  return findings;
}

}  // namespace xferbench
