// Findings of scenario together: which GPUs share a bottleneck, and how much it carries.
#include "scenarios/together/case.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <utility>

#include "core/units.hpp"
#include "measure/region.hpp"
#include "model/contention.hpp"
#include "model/relation.hpp"
#include "run/finding_text.hpp"
#include "run/findings.hpp"
#include "scenarios/common/alike_gpus.hpp"

namespace xferbench {

namespace {

using model::Sharing;

/// Texts for pairs for which no conclusion is possible: the reason, and what to do.
constexpr std::string_view kTooShort =
    "too short: starting and joining the GPUs takes a large part of the time; choose a larger --size";

/// Returns the pattern as the subject of a sentence.
std::string_view in_words(GroupPattern pattern) {
  constexpr std::array<std::string_view, 7> kWords{"host to GPU", "GPU to host", "both ways", "in a ring",
                                                   "all to all",  "one to all",  "all to one"};
  return kWords[static_cast<std::size_t>(pattern)];
}

std::string rate_text(double bytes_per_second) { return format_quantity(bytes_per_second / 1e9, "GB/s"); }
std::string rate_number(double bytes_per_second) { return format_significant(bytes_per_second / 1e9); }

/// Returns for example "101 each" if the rates differ by at most 1 %, else "101 and 55.3".
std::string alone_text(const std::vector<model::Estimate>& alone) {
  const auto [least, most] = std::ranges::minmax_element(alone, {}, [](const model::Estimate& e) { return e.value; });
  const double sum = total_of(alone, &model::Estimate::value);
  if (most->value <= (1 + model::kAlike) * least->value) {
    return rate_number(sum / static_cast<double>(alone.size())) + " each";
  }
  if (alone.size() > 2) return fmt::format("{} to {}", rate_number(least->value), rate_number(most->value));
  return fmt::format("{} and {}", rate_number(alone.front().value), rate_number(alone.back().value));
}

/// The result of one group, with the rates derived from it.
struct Measured {
  const Result* result = nullptr;
  std::vector<int> gpus;
  std::vector<model::Estimate> alone;  ///< rate of each member alone, bytes per second; empty unless all were measured
  bool too_short = false;  ///< starting and joining the GPUs is a large part of the time, so nothing can be decided
  model::ConcurrentRates rates;
};

std::optional<Measured> measured_of(const Result& result) {
  const TogetherCase c = together_case(result.config);
  if (c.gpus.size() < 2) return std::nullopt;
  std::map<std::size_t, double> bytes;  // bytes that each GPU copies in a pass; key: the GPU's index in the group
  for (const GroupCopy& copy : copies_of(c.pattern, c.gpus.size())) bytes[copy.owner] += static_cast<double>(c.bytes);
  Measured m{.result = &result, .gpus = c.gpus, .alone = {}, .too_short = false, .rates = {}};
  double all = 0;
  for (const auto& [member, amount] : bytes) {
    all += amount;
    const Measurement* alone = result.measurement(kAlone, c.gpus[member]);
    if (alone != nullptr && !alone->samples.empty()) {
      m.alone.push_back(model::rate_of(amount, model::estimate_of(*alone)));
    }
  }
  if (m.alone.size() != bytes.size()) m.alone.clear();
  m.rates = {model::rate_of(all, model::estimate_of(result, "together")), model::sum_of(m.alone)};
  m.too_short = result.median("together") < kShortestSample;
  if (m.too_short) m.rates.together.interval.reset();
  return m;
}

/// Analyses results that differ in the group of GPUs only.
class Situation {
 public:
  /// `axes` become labels: the axes, without the group, in which these results differ from other results of the run.
  Situation(std::span<const Result* const> results, const std::vector<std::string>& axes)
      : labels_(labels_of(results.front()->config, axes)),
        words_(in_words(together_case(results.front()->config).pattern)) {
    for (const auto& [axis, value] : labels_) {
      if (axis == "memory") words_ += fmt::format(", {} memory", value);
      if (axis == "size") words_ += ", " + value;
    }
    for (const Result* r : results) {
      const TogetherCase c = together_case(r->config);
      for (const int gpu : c.gpus) place_of(gpu);
      if (auto m = measured_of(*r)) groups_.push_back(std::move(*m));
    }
  }

  [[nodiscard]] std::vector<Finding> findings() {
    std::vector<Finding> all;
    std::vector<model::ConcurrentPair> pairs;
    const bool two = gpus_.size() == 2;
    for (const Measured& m : groups_) {
      if (m.gpus.size() != 2 || m.alone.size() != 2) continue;
      pairs.push_back({place_of(m.gpus[0]), place_of(m.gpus[1]), m.rates});
      all.push_back(of_pair(m));
      all.back().detail = !two;
    }
    if (two) return all;
    const model::Contention contention(gpus_.size(), pairs);
    std::vector<Finding> first;
    if (!pairs.empty()) first.push_back(of_bottlenecks(contention));
    for (const Measured* group : widest_groups()) first.push_back(at_once(*group, contention));
    all.insert(all.begin(), std::make_move_iterator(first.begin()), std::make_move_iterator(first.end()));
    return all;
  }

 private:
  std::size_t place_of(int gpu) {
    const auto found = std::ranges::find(gpus_, gpu);
    if (found != gpus_.end()) return static_cast<std::size_t>(found - gpus_.begin());
    gpus_.push_back(gpu);
    return gpus_.size() - 1;
  }
  [[nodiscard]] std::string names(const std::vector<std::size_t>& places) const {
    return gpus_in_words(list_of(places, [this](std::size_t place) { return gpus_[place]; }));
  }

  [[nodiscard]] Finding finding(const char* kind) const { return {.kind = kind, .labels = labels_}; }

  [[nodiscard]] Finding of_pair(const Measured& m) const {
    const Sharing sharing = model::sharing_of(m.rates);
    const model::Estimate part = model::fraction_of_alone(m.rates);
    Finding f = finding("shares");
    f.labels.emplace_back("a", fmt::format("{}", m.gpus[0]));
    f.labels.emplace_back("b", fmt::format("{}", m.gpus[1]));
    f.labels.emplace_back("outcome", outcome(sharing));
    f.metrics.push_back({"together_over_alone", part.value, "1"});
    if (part.interval) {
      f.metrics.push_back({"together_over_alone_low", part.interval->low, "1"});
      f.metrics.push_back({"together_over_alone_high", part.interval->high, "1"});
    }
    f.metrics.push_back({"bandwidth", m.rates.together.value / 1e9, "GB/s"});
    const std::string who = fmt::format("{}: GPUs {} and {}", words_, m.gpus[0], m.gpus[1]);
    const std::string rates =
        fmt::format("together they get {}, alone {}", rate_text(m.rates.together.value), alone_text(m.alone));
    if (sharing == Sharing::yes) {
      f.text = fmt::format("{} share a bottleneck: {}", who, rates);
    } else if (sharing == Sharing::no) {
      f.text = fmt::format("{} share no bottleneck: {}", who, rates);
    } else {
      const std::string why = m.too_short     ? fmt::format(" ({})", kTooShort)
                              : part.interval ? ""
                                              : fmt::format(" ({})", kTooFewSamples);
      f.text = fmt::format("{}: not decided whether they share a bottleneck: {}{}", who, rates, why);
    }
    return f;
  }

  static const char* outcome(Sharing sharing) {
    return sharing == Sharing::yes ? "shared" : sharing == Sharing::no ? "not shared" : "undecided";
  }

  /// Returns for example "GPUs 0 to 3 share one bottleneck and 4 to 7 another".
  [[nodiscard]] std::string bottlenecks_text(const model::Contention& c) const {
    std::vector<std::string> parts;
    for (const model::Bottleneck& b : c.bottlenecks()) {
      const std::string who = names(b.members);
      parts.push_back(parts.empty() ? fmt::format("GPUs {} share {}", who,
                                                  c.bottlenecks().size() > 1 ? "one bottleneck" : "a bottleneck")
                                    : fmt::format("{} another", who));
    }
    return listed(parts);
  }

  /// Returns a text about the pairs of GPUs that share no bottleneck, and about pairs for which this is unknown.
  [[nodiscard]] std::string rest_text(const model::Contention& c) const {
    std::string text;
    if (c.independent_across() && c.bottlenecks().size() > 1 && c.independent().empty()) {
      text += "; these groups share no bottleneck with each other";
    } else if (c.independent_across() && !c.independent().empty()) {
      text += fmt::format("; GPU{} no bottleneck with any other GPU",
                          c.independent().size() == 1 ? fmt::format(" {} shares", names(c.independent()))
                                                      : fmt::format("s {} share", names(c.independent())));
    }
    const std::size_t open = c.count(Sharing::undecided);
    const std::size_t unknown = c.count(Sharing::unknown);
    if (open > 0) text += fmt::format("; not decided for {} of {} pairs", open, pairs_of(c));
    if (unknown > 0) text += fmt::format("; not measured for {} of {} pairs", unknown, pairs_of(c));
    return text;
  }
  static std::size_t pairs_of(const model::Contention& c) { return c.gpus() * (c.gpus() - 1) / 2; }

  [[nodiscard]] Finding of_bottlenecks(const model::Contention& c) const {
    Finding f = finding("bottleneck");
    if (c.bottlenecks().empty()) {
      const bool all_known = c.count(Sharing::no) == pairs_of(c);
      f.labels.emplace_back("outcome", all_known ? "none" : "undecided");
      f.text = fmt::format("{}: no two GPUs {}", words_,
                           all_known ? "share a bottleneck" : "are known to share a bottleneck" + rest_text(c));
      const std::vector<const Measured*> limited = those_of(
          widest_groups(), [](const Measured* group) { return model::sharing_of(group->rates) == Sharing::yes; });
      if (!limited.empty()) f.text += fmt::format(", but GPUs {} at once do", gpus_in_words(limited.front()->gpus));
      return f;
    }
    f.text = fmt::format("{}: {}", words_, bottlenecks_text(c));
    std::vector<std::string> groups;
    double least = c.bottlenecks().front().least;
    double most = c.bottlenecks().front().most;
    bool every_pair = true;
    for (const model::Bottleneck& b : c.bottlenecks()) {
      groups.push_back(names(b.members));
      least = std::min(least, b.least);
      most = std::max(most, b.most);
      every_pair = every_pair && b.every_pair;
    }
    f.labels.emplace_back("outcome", "shared");
    f.labels.emplace_back("groups", fmt::format("{}", fmt::join(groups, "; ")));
    f.metrics = {{"pair_bandwidth_low", least / 1e9, "GB/s"}, {"pair_bandwidth_high", most / 1e9, "GB/s"}};
    const bool only_two = c.bottlenecks().size() == 1 && c.bottlenecks().front().members.size() == 2;
    f.text += only_two ? std::string(": together they get")
                       : fmt::format(": {} of {} get", every_pair ? "any two" : "each limited pair",
                                     c.bottlenecks().size() > 1 ? "one group" : "them");
    f.text += fmt::format(" {}, alone {}", rates_text(least, most), alone_text(alone_of_those_that_share()));
    f.text += all_of_them(c) + rest_text(c);
    return f;
  }

  /// Returns the rate of each GPU alone, for the members of all pairs of GPUs that share a bottleneck.
  [[nodiscard]] std::vector<model::Estimate> alone_of_those_that_share() const {
    const auto shares = [](const Measured& m) {
      return m.gpus.size() == 2 && model::sharing_of(m.rates) == Sharing::yes;
    };
    return flat_list_of(those_of(groups_, shares), &Measured::alone);
  }

  /// Returns the bandwidth of the GPUs of each bottleneck as text, for example "; GPUs 0 to 3 at once get 166 GB/s".
  /// Omits bottlenecks of two or of all GPUs, and bottlenecks whose GPUs were not measured as one group.
  [[nodiscard]] std::string all_of_them(const model::Contention& c) const {
    std::string text;
    for (const model::Bottleneck& b : c.bottlenecks()) {
      const auto is_all = [&](const Measured& m) {
        return m.gpus.size() == b.members.size() && m.gpus.size() > 2 && m.gpus.size() < gpus_.size() &&
               std::ranges::all_of(b.members, [&](std::size_t place) { return has_item(m.gpus, gpus_[place]); });
      };
      const auto found = std::ranges::find_if(groups_, is_all);
      if (found == groups_.end()) continue;
      text += fmt::format("; GPUs {} at once get {}", names(b.members), rate_text(found->rates.together.value));
    }
    return text;
  }
  static std::string rates_text(double least, double most) {
    if (most <= (1 + model::kAlike) * least) return rate_text((least + most) / 2);
    return fmt::format("{} to {}", rate_number(least), rate_text(most));
  }

  /// Returns the groups of more than two GPUs that are not part of another group, in the order of groups_.
  [[nodiscard]] std::vector<const Measured*> widest_groups() const {
    const auto is_part_of = [](const Measured& m, const Measured& other) {
      return m.gpus.size() < other.gpus.size() &&
             std::ranges::all_of(m.gpus, [&](int gpu) { return has_item(other.gpus, gpu); });
    };
    std::vector<const Measured*> widest;
    for (const Measured& m : groups_) {
      const auto holds_it = [&](const Measured& other) { return is_part_of(m, other); };
      if (m.gpus.size() > 2 && std::ranges::none_of(groups_, holds_it)) widest.push_back(&m);
    }
    return widest;
  }

  [[nodiscard]] Finding at_once(const Measured& group, const model::Contention& contention) const {
    const double bandwidth = group.rates.together.value;
    Finding f = finding("at-once");
    f.labels.emplace_back("group", gpus_text(group.gpus));
    f.metrics.push_back({"bandwidth", bandwidth / 1e9, "GB/s"});
    f.text = fmt::format("{}: GPUs {} at once get {}", words_, gpus_in_words(group.gpus), rate_text(bandwidth));
    if (group.alone.empty()) return f;
    const model::Estimate part = model::fraction_of_alone(group.rates);
    const double times = part.value * static_cast<double>(group.alone.size());
    f.metrics.push_back({"together_over_alone", part.value, "1"});
    f.text +=
        fmt::format(", {} times the rate of one alone ({} of the sum)", factor_text(times), format_percent(part.value));
    if (contention.count(Sharing::yes) == 0) {
      f.text += common_limit(group, contention.count(Sharing::no) == pairs_of(contention));
    }
    return f;
  }

  /// Returns a text that names the smallest group of GPUs within `group` that is known to share a bottleneck; empty if
  /// there is none. Used if no pair of GPUs is known to share one.
  [[nodiscard]] std::string common_limit(const Measured& group, bool no_two) const {
    std::vector<const Measured*> growing;
    for (const Measured& m : groups_) {
      const auto in_group = [&](int gpu) { return has_item(group.gpus, gpu); };
      if (!m.alone.empty() && std::ranges::all_of(m.gpus, in_group)) growing.push_back(&m);
    }
    std::ranges::stable_sort(growing, {}, [](const Measured* m) { return m->gpus.size(); });
    const auto first = model::first_shared_group(list_of(growing, &Measured::rates));
    if (!first) return {};
    const Measured& m = *growing[*first];
    const char* const what = no_two ? "a limit that no pair reaches" : "a bottleneck";
    if (&m == &group) return fmt::format("; together they hit {}", what);
    return fmt::format("; GPUs {} together already hit {} ({})", gpus_in_words(m.gpus), what,
                       rate_text(m.rates.together.value));
  }

  Labels labels_;
  std::string words_;
  std::vector<int> gpus_;         // GPU numbers in order of appearance
  std::vector<Measured> groups_;  // groups of at least two GPUs
};

/// Compares a host buffer per GPU (`own`) with one host buffer for all GPUs (`shared`), for one group.
Finding own_against_shared(const Result& own, const Result& shared, const std::vector<std::string>& axes) {
  const TogetherCase c = together_case(own.config);
  const model::Estimate time = model::estimate_of(own, "together");
  const model::Estimate other = model::estimate_of(shared, "together");
  const model::Relation relation = model::relate(time, other);
  Finding f{.kind = "memory", .labels = labels_of(own.config, axes)};
  f.labels.emplace_back("group", gpus_text(c.gpus));
  constexpr std::array<const char*, 4> kOutcomes{"own", "shared", "equal", "undecided"};  // indexed by Relation
  f.labels.emplace_back("outcome", kOutcomes[static_cast<std::size_t>(relation)]);
  if (time.value > 0) f.metrics.push_back({"own_over_shared", other.value / time.value, "1"});
  const std::string size = f.label("size");
  const std::string words = ratio_text(time, other);
  f.text = fmt::format("{}{}, GPUs {}: ", in_words(c.pattern), size.empty() ? "" : ", " + size, gpus_in_words(c.gpus));
  switch (relation) {
    case model::Relation::faster: f.text += fmt::format("own memory is {} as shared", words); break;
    case model::Relation::slower: f.text += fmt::format("own memory takes {} as shared", words); break;
    case model::Relation::equal: f.text += fmt::format("own and shared memory are {}", words); break;
    case model::Relation::undecided: f.text += fmt::format("own and shared memory: {}", words); break;
  }
  return f;
}

/// Returns one finding per group that was measured with both kinds of host memory. All of them are details, except the
/// finding about the largest group of each pattern and size.
std::vector<Finding> about_memory(std::span<const Result* const> results, const std::vector<std::string>& axes) {
  std::map<std::string, const Result*> shared;  // results with shared host memory; key: pattern, group and size
  const auto key_of = [](const Result& r) {
    const TogetherCase c = together_case(r.config);
    return fmt::format("{}/{}/{}", in_words(c.pattern), gpus_text(c.gpus), c.bytes);
  };
  for (const Result* r : results) {
    if (together_case(r->config).shared) shared[key_of(*r)] = r;
  }
  std::vector<Finding> findings;
  std::map<std::string, std::pair<std::size_t, std::size_t>> largest;  // pattern and size -> GPU count, finding index
  for (const Result* r : results) {
    const TogetherCase c = together_case(r->config);
    const bool own = !c.shared && !between_gpus(c.pattern);
    const auto found = own ? shared.find(key_of(*r)) : shared.end();
    if (found == shared.end()) continue;
    findings.push_back(own_against_shared(*r, *found->second, axes));
    findings.back().detail = true;
    const std::string about = fmt::format("{}/{}", in_words(c.pattern), c.bytes);
    const auto [known, is_new] = largest.try_emplace(about, c.gpus.size(), findings.size() - 1);
    if (!is_new && c.gpus.size() > known->second.first) known->second = {c.gpus.size(), findings.size() - 1};
  }
  for (const auto& [about, which] : largest) findings[which.second].detail = false;
  return findings;
}

/// Returns the axes for labels: the pattern, and memory and size if the results differ in them.
std::vector<std::string> axes_of(std::span<const Result* const> results) {
  const std::vector<std::string> varying = varying_axes(results);
  std::vector<std::string> axes{"pattern"};
  for (const char* axis : {"memory", "size"}) {
    if (has_item(varying, axis)) axes.emplace_back(axis);
  }
  return axes;
}

/// Returns what each GPU copied alone, if several did.
SameWork alone_of(std::span<const Result* const> alike, const std::vector<std::string>& axes) {
  const TogetherCase first = together_case(alike.front()->config);
  SameWork work{.words = fmt::format("{}, alone", in_words(first.pattern)),
                .labels = labels_of(alike.front()->config, axes),
                .bytes = static_cast<double>(copies_of(first.pattern, 1).size() * first.bytes),
                .rivals = {}};
  for (const Result* r : alike) {
    const TogetherCase c = together_case(r->config);
    if (c.gpus.size() == 1 && r->median("together") > 0) {
      work.rivals.push_back({c.gpus.front(), model::estimate_of(*r, "together")});
    }
  }
  return work;
}

}  // namespace

std::string gpus_in_words(std::vector<int> numbers) { return listed(in_ranges(std::move(numbers))); }

std::vector<Finding> conclude_together(std::span<const Result* const> results) {
  for (const Result* r : results) r->needed_measurement("together");
  const std::vector<std::string> axes = axes_of(results);
  const auto situation = [](const Result& r) {
    const TogetherCase c = together_case(r.config);
    return fmt::format("{}/{}/{}", in_words(c.pattern), c.shared, c.bytes);
  };
  std::vector<SameWork> alone;
  for (const auto& alike : grouped(results, situation)) {
    if (SameWork work = alone_of(alike, axes); work.rivals.size() > 1) alone.push_back(std::move(work));
  }
  std::vector<Finding> all = compare_gpus(alone);
  for (const auto& alike : grouped(results, situation)) {
    std::ranges::move(Situation(alike, axes).findings(), std::back_inserter(all));
  }
  std::vector<std::string> but_memory = axes;
  std::erase(but_memory, "memory");
  std::ranges::move(about_memory(results, but_memory), std::back_inserter(all));
  return all;
}

}  // namespace xferbench
