#include "run/tune_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

#include "core/units.hpp"
#include "model/relation.hpp"
#include "run/findings.hpp"

namespace xferbench {

namespace {

constexpr std::size_t kMostNamed = 4;

/// Makes names of configurations from the axes in which the configurations of the search space differ.
class CandidateNames {
 public:
  explicit CandidateNames(std::span<const Case> space) {
    const std::vector<const Case*> cases = pointers_to(space);
    axes_ = varying_axes(cases);
  }

  [[nodiscard]] std::string name(const Case& c) const { return name_of(c, axes_); }

 private:
  std::vector<std::string> axes_;
};

Finding finding(const char* about, std::string text) {
  return {.scenario = {}, .kind = "tune", .labels = {{"about", about}}, .metrics = {}, .text = std::move(text)};
}

/// Returns a finding about one configuration. Its labels are the values of the configuration's axes.
Finding finding(const char* about, std::string text, const Case& configuration) {
  Finding f = finding(about, std::move(text));
  for (const Case::Param& param : configuration.params()) {
    f.labels.emplace_back(param.name, to_text(param.value, param.kind));
  }
  return f;
}

std::string behind(const TuneCandidate& one, const TuneCandidate& best) {
  return format_change(one.seconds / best.seconds - 1);
}

model::Estimate time_of(const TuneCandidate& c) { return {c.seconds, c.interval}; }

/// Returns the finding about the winner. `all` is sorted by time, the fastest first.
Finding winner_of(std::span<const TuneCandidate> all, const CandidateNames& namer, bool to_result) {
  const TuneCandidate& best = all.front();
  std::string interval;
  if (best.interval) {
    interval = fmt::format(" (95 % interval {} to {})", format_seconds(best.interval->low),
                           format_seconds(best.interval->high));
  }
  const char* unsure = best.confirmed ? "" : "; not confirmed by a second measurement";
  const bool decided = std::ranges::all_of(all.subspan(1), [&](const TuneCandidate& c) {
    // A configuration dropped in the search was compared with the best at that time, which may not be the winner.
    const bool still_out = c.out && c.seconds > (1 + model::kAlike) * best.seconds;
    return still_out || model::relate(time_of(best), time_of(c)) == model::Relation::faster;
  });
  const std::string what = fmt::format("fastest by {}{}", to_result ? "time to result" : "makespan",
                                       decided ? "" : ", tied with others (within 1 % or within error)");
  Finding f = finding(
      "winner",
      fmt::format("{}: {}: {}{}{}", what, namer.name(best.config), format_seconds(best.seconds), interval, unsure),
      best.config);
  f.metrics = {{"makespan", best.seconds, "s"}};
  if (best.interval) {
    f.metrics.push_back({"interval_low", best.interval->low, "s"});
    f.metrics.push_back({"interval_high", best.interval->high, "s"});
  }
  f.metrics.push_back({"predicted", best.predicted, "s"});
  return f;
}

/// Returns in which phase the other configurations were measured, such as "15 confirmed in the same round, 31 measured
/// only in the search".
std::string measured_in_text(std::span<const TuneCandidate> others) {
  const auto confirmed = static_cast<std::size_t>(std::ranges::count(others, true, &TuneCandidate::confirmed));
  const std::size_t searched = others.size() - confirmed;
  if (searched == 0) return others.size() == 1 ? "confirmed in the same round" : "all confirmed in the same round";
  if (confirmed == 0) return "measured only in the search";
  return fmt::format("{} confirmed in the same round, {} measured only in the search", confirmed, searched);
}

/// Returns the finding about configurations that are about as fast as the winner. `set` holds the winner first, then
/// all configurations within 1 % of it.
Finding alike(std::span<const TuneCandidate> set, const CandidateNames& namer) {
  const std::span<const TuneCandidate> others = set.subspan(1);
  std::string text = "no other measured configuration is within 1 % of it";
  if (!others.empty()) {
    text = fmt::format(
        "{} within 1 % of it{}: ",
        others.size() == 1 ? "1 other configuration is" : fmt::format("{} other configurations are", others.size()),
        set.front().confirmed ? fmt::format(" ({})", measured_in_text(others)) : "");
  }
  const std::vector<std::string> named = list_of(
      others.first(std::min(others.size(), kMostNamed)),
      [&](const TuneCandidate& c) { return fmt::format("{} ({})", namer.name(c.config), behind(c, set.front())); });
  text += fmt::format("{}", fmt::join(named, "; "));
  if (others.size() > kMostNamed) text += fmt::format("; and {} more", others.size() - kMostNamed);
  Finding f = finding("alike", std::move(text));
  const auto confirmed = std::ranges::count(others, true, &TuneCandidate::confirmed);
  f.metrics = {{"alike", static_cast<double>(others.size()), "configurations"},
               {"alike_confirmed", static_cast<double>(confirmed), "configurations"}};
  return f;
}

Finding simplest(std::span<const TuneCandidate> set, const CandidateNames& namer) {
  // Of several configurations with the lowest complexity, this takes the fastest, because `set` is sorted by time.
  const TuneCandidate& c = *std::ranges::min_element(set, {}, &TuneCandidate::complexity);
  const bool is_winner = &c == set.data();
  Finding f = finding("simplest",
                      is_winner ? "the fastest is also the simplest of these"
                                : fmt::format("the simplest of these: {}: {} ({})", namer.name(c.config),
                                              format_seconds(c.seconds), behind(c, set.front())),
                      c.config);
  f.metrics = {{"makespan", c.seconds, "s"},
               {"behind_best", c.seconds / set.front().seconds - 1, "1"},
               {"complexity", c.complexity, "1"}};
  return f;
}

std::vector<Metric> account_metrics(const TuneAccount& a) {
  return {{"model_seconds", a.model, "s"},
          {"verification_seconds", a.verification, "s"},
          {"search_seconds", a.search, "s"},
          {"confirmation_seconds", a.confirmation, "s"},
          {"passes", static_cast<double>(a.passes), "passes"}};
}

Finding search(const TuneSummary& summary) {
  const auto steady = those_of(summary.contestants, [](const TuneCandidate& c) { return !c.disturbed; });
  auto errors = list_of(steady, [](const TuneCandidate& c) { return std::abs(c.seconds / c.predicted - 1); });
  const std::size_t disturbed = summary.contestants.size() - errors.size();
  std::string text = fmt::format("measured {} of {} configurations", summary.contestants.size(), summary.space.size());
  if (summary.failed > 0) text += fmt::format(", {} failed", summary.failed);
  Finding f = finding("search", {});
  f.labels.emplace_back("objective", to_text(summary.objective));
  f.metrics = {{"measured", static_cast<double>(summary.contestants.size()), "configurations"},
               {"failed", static_cast<double>(summary.failed), "configurations"},
               {"configurations", static_cast<double>(summary.space.size()), "configurations"}};
  if (!errors.empty()) {
    const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
    std::ranges::nth_element(errors, middle);
    f.metrics.push_back({"model_error", *middle, "1"});
    text += fmt::format("; model error: median {}, maximum {}", format_percent(*middle),
                        format_percent(*std::ranges::max_element(errors)));
    if (disturbed > 0) text += fmt::format(" (without {} that have unsteady samples)", disturbed);
  }
  if (summary.account.passes > 0) {
    const TuneAccount& a = summary.account;
    text +=
        fmt::format("; {:.1f} s: {:.1f} s for the model, {:.1f} s verification, {:.1f} s search, {:.1f} s confirmation",
                    a.all(), a.model, a.verification, a.search, a.confirmation);
    std::ranges::move(account_metrics(a), std::back_inserter(f.metrics));
  }
  f.text = std::move(text);
  return f;
}

}  // namespace

std::vector<Finding> tune_findings(TuneSummary summary) {
  const CandidateNames namer(summary.space);
  std::vector<TuneCandidate>& all = summary.contestants;
  std::ranges::stable_sort(all, {}, [](const TuneCandidate& c) { return std::pair(!c.confirmed, c.seconds); });
  std::vector<Finding> findings;
  if (!all.empty()) {
    // Sorting puts confirmed configurations first. Those measured only in the search also count here, because users see
    // them in the result file.
    std::vector<TuneCandidate> set = those_of(all, [&](const TuneCandidate& c) {
      return &c == &all.front() || c.seconds <= (1 + model::kAlike) * all.front().seconds;
    });
    findings = {winner_of(all, namer, summary.by_host_clock || summary.objective == Objective::wall),
                alike(set, namer)};
    std::erase_if(set, [&](const TuneCandidate& c) { return c.confirmed != all.front().confirmed; });
    if (set.size() > 1) findings.push_back(simplest(set, namer));
  }
  findings.push_back(search(summary));
  if (!all.empty()) {
    const std::string command = summary.command_of(all.front().config);
    findings.push_back(finding("command", "to run it alone: " + command));
    findings.back().labels.emplace_back("command", command);
  }
  if (!summary.space.empty()) {
    for (Finding& f : findings) f.scenario = summary.space.front().scenario();
  }
  return findings;
}

}  // namespace xferbench
