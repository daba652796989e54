#include "compare/judgement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compare/evidence.hpp"
#include "compare/statistics.hpp"
#include "core/lists.hpp"
#include "core/units.hpp"
#include "measure/statistics.hpp"

namespace xferbench::compare {

namespace {

std::string percent(double share) { return format_percent_short(share); }
/// Rounds down to two significant digits, so that messages never claim more than was shown.
double rounded_down(double share) {
  if (!(share > 0)) return share;
  const double last = std::pow(10, std::floor(std::log10(share)) - 1);
  return std::floor(share / last + 1e-9) * last;
}

std::string cases_text(std::size_t count) { return counted(count, "case"); }

bool on_both_sides(const Row& row) { return row.base && row.new_side && row.verdict != Verdict::missing; }

// --- Each case ------------------------------------------------------------------------------------------------------

bool significant(const Row& row) { return row.p_holm && *row.p_holm <= kSignificant; }

Verdict verdict_of(const Row& row, double threshold) {
  if (row.identical) return Verdict::same;
  if (!row.interval) return Verdict::inconclusive;
  const auto [low, high] = *row.interval;
  const bool more = low > 1 + threshold;
  const bool less = high < 1 - threshold;
  if ((more || less) && significant(row)) {
    if (row.better == Better::neither) return Verdict::changed;
    return more == (row.better == Better::lower) ? Verdict::regressed : Verdict::improved;
  }
  return low >= 1 - threshold && high <= 1 + threshold ? Verdict::same : Verdict::inconclusive;
}

/// Returns why the case could not be tested.
std::string reason_without_test(const Row& row) {
  if (!row.ratio) return "";  // a note already says that a number is not above 0
  const std::size_t fewer = std::min(row.base->n, row.new_side->n);
  if (row.interval || fewer == 1) return "one number per file has no spread; compare several processes (--repeat)";
  return fmt::format("too few samples ({}); use --repeat 7", fewer);
}

std::string reason_of(const Row& row, double threshold) {
  if (row.identical) return "";
  if (row.test == TestUsed::none) return reason_without_test(row);
  if (!row.interval) return "too few processes for an interval; use --repeat 7";
  const auto [low, high] = *row.interval;
  const double at_least = rounded_down(low > 1 ? low - 1 : 1 - high);
  switch (row.verdict) {
    case Verdict::regressed: return "worse by at least " + percent(at_least);
    case Verdict::improved: return "better by at least " + percent(at_least);
    case Verdict::changed: return "differs by at least " + percent(at_least);
    case Verdict::inconclusive: break;
    default: return "";
  }
  if (significant(row)) return fmt::format("differs, but not significantly by more than {}", percent(threshold));
  return low > 1 + threshold || high < 1 - threshold ? "may be chance with this many cases" : "too uncertain";
}

void judge_rows(Comparison& comparison) {
  const std::vector<double> adjusted = holm(found_for(comparison.rows, &Row::p));
  std::size_t tested = 0;
  for (Row& row : comparison.rows) {
    if (row.p) row.p_holm = adjusted[tested++];
    if (!on_both_sides(row)) continue;
    row.verdict = verdict_of(row, comparison.options.threshold);
    if (row.verdict != Verdict::same) row.reason = reason_of(row, comparison.options.threshold);
  }
}

// --- The outcome -----------------------------------------------------------------------------------------------------

/// Returns the median of a number over all rows that have it; nullopt if no row has it.
template <class Number>
std::optional<double> middle(const std::vector<Row>& rows, const Number& number) {
  const std::vector<double> all = found_for(rows, number);
  return all.empty() ? std::nullopt : std::optional(statistics::median(all));
}

/// Returns advice on how to detect a slow-down of `sought`, such as measuring with more processes.
std::string remedy(const Comparison& comparison, double sought) {
  const double assumed = comparison.options.assumed_spread;
  const double spread = middle(comparison.rows, [](const Row& row) { return row.spread; }).value_or(assumed);
  const auto freedom = comparison.options.assumed_spread > 0 ? kAssumedFreedom : 0;
  const auto tested = static_cast<std::size_t>(std::ranges::count_if(comparison.rows, on_both_sides));
  const auto processes = processes_needed(
      spread, sought,
      {.cases = tested, .threshold = comparison.options.threshold, .before = {assumed, static_cast<double>(freedom)}});
  const bool of_one = !comparison.several_files() && !comparison.options.known_spreads;
  const std::string known = of_one ? ", or give the spread between processes with --spread" : "";
  if (!processes) return "compare fewer cases (--only), or raise --threshold" + known;
  return fmt::format("measure each side with --repeat {}{}", *processes, known);
}

/// Returns whether most cases had too little data to detect a slow-down of `sought`.
bool is_underpowered(const Comparison& comparison, double sought) {
  std::size_t compared = 0;
  std::size_t found = 0;
  for (const Row& row : comparison.rows) {
    if (!on_both_sides(row)) continue;
    ++compared;
    const auto least = row.detectable_slowdown();
    if (least && *least <= sought) ++found;
  }
  return 2 * found < compared;
}

std::string underpowered_text(const Comparison& comparison, double sought) {
  const auto& least = comparison.outcome.detectable_slowdown;
  const std::string middle_case =
      least ? fmt::format("; in half of the cases only {} or more is detectable", percent(*least)) : std::string();
  return fmt::format("too little data to detect a slow-down of {} (twice the threshold) in most cases{}; {}",
                     percent(sought), middle_case, remedy(comparison, sought));
}

std::string worse_text(const Comparison& comparison) {
  std::vector<std::string> parts;
  if (const std::size_t n = comparison.count(Verdict::regressed); n > 0) parts.push_back(cases_text(n) + " regressed");
  const auto failed = std::ranges::count_if(comparison.rows, &Row::failed);
  if (failed > 0) {
    const Row& first = *std::ranges::find_if(comparison.rows, &Row::failed);
    std::string reason = first.reason.substr(first.reason.find("in new") + std::string("in new ").size());
    if (reason.starts_with("failed: ")) reason.erase(0, std::string("failed: ").size());
    parts.push_back(fmt::format("{} failed: {}{}", cases_text(static_cast<std::size_t>(failed)),
                                failed > 1 ? "the first with " : "", reason));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string undecided_text(const Comparison& comparison) {
  std::vector<std::string> parts;
  for (const Verdict verdict : {Verdict::inconclusive, Verdict::missing, Verdict::changed}) {
    const std::size_t n = comparison.count(verdict);
    if (n > 0) parts.push_back(fmt::format("{} {}", n, to_text(verdict)));
  }
  if (!comparison.failing.empty()) parts.push_back(cases_text(comparison.failing.size()) + " failing on both sides");
  return fmt::format("{}", fmt::join(parts, ", "));
}

Outcome outcome_of(const Comparison& comparison) {
  const double threshold = comparison.options.threshold;
  const double sought = 2 * threshold;
  Outcome outcome = comparison.outcome;
  const std::string undecided = undecided_text(comparison);
  const std::string in_brackets = undecided.empty() ? "" : " (" + undecided + ")";
  if (const std::string worse = worse_text(comparison); !worse.empty()) {
    outcome.code = ExitCode::failed;
    outcome.because = worse;
  } else if (std::ranges::none_of(comparison.rows, on_both_sides)) {
    outcome.code = ExitCode::undecided;
    outcome.because = "no case has a number on both sides, so nothing was compared" + in_brackets;
  } else if (is_underpowered(comparison, sought)) {
    outcome.code = ExitCode::undecided;
    outcome.because = underpowered_text(comparison, sought);
  } else if (comparison.options.strict && !undecided.empty()) {
    outcome.code = ExitCode::undecided;
    outcome.because = undecided + ": --strict requires a verdict for every case";
  } else if (std::ranges::all_of(comparison.rows, &Row::identical)) {
    outcome.because = "both sides have identical samples";
  } else {
    outcome.because = fmt::format("no {}case is worse by more than {}{}", undecided.empty() ? "" : "judged ",
                                  percent(threshold), in_brackets);
  }
  return outcome;
}

// --- Warnings and remarks --------------------------------------------------------------------------------------------

/// Warns if nearly all cases changed by about the same factor, because the cause is then probably the machine.
void warn_of_common_shift(Comparison& comparison) {
  constexpr std::size_t kFewest = 5;
  constexpr double kLeast = 0.01;  // smaller shifts are normal between two runs
  constexpr double kNearlyAll = 0.9;
  std::vector<double> slowdowns;
  for (const Row& row : comparison.rows) {
    if (!on_both_sides(row) || !row.ratio || row.better == Better::neither) continue;
    slowdowns.push_back(std::log(*row.ratio) * (row.better == Better::lower ? 1 : -1));
  }
  if (slowdowns.size() < kFewest) return;
  const double common = statistics::median(slowdowns);
  const auto alike = std::ranges::count_if(
      slowdowns, [&](double x) { return std::abs(x - common) <= std::max(std::abs(common) / 2, kLeast / 2); });
  if (std::abs(common) < kLeast || static_cast<double>(alike) < kNearlyAll * static_cast<double>(slowdowns.size())) {
    return;
  }
  const bool all = static_cast<std::size_t>(alike) == slowdowns.size();
  comparison.warnings.push_back(
      fmt::format("{} cases are about {} {}: check the machine, its clocks and other load",
                  all ? fmt::format("all {}", slowdowns.size()) : fmt::format("{} of {}", alike, slowdowns.size()),
                  percent(std::expm1(std::abs(common))), common > 0 ? "slower" : "faster"));
}

/// Describes a number over all rows: "2 % in the median case, 4.1 % in the worst case"; empty if no row has it.
template <class Number>
std::string median_and_max(const std::vector<Row>& rows, const Number& number) {
  const std::optional<double> of_middle = middle(rows, number);
  if (!of_middle) return "";
  const double most = most_of(rows, [&](const Row& row) { return number(row).value_or(0); });
  if (percent(*of_middle) == percent(most)) return percent(most);
  return fmt::format("{} in the median case, {} in the worst case", percent(*of_middle), percent(most));
}

std::vector<std::string> detectability_text(const Comparison& comparison) {
  std::vector<std::string> lines;
  const auto least = [](const Row& row) { return row.identical ? std::nullopt : row.detectable_slowdown(); };
  if (const std::string text = median_and_max(comparison.rows, least); !text.empty()) {
    lines.push_back("smallest detectable slow-down: " + text);
  }
  const auto add_spread = [&](const char* how, const auto& number) {
    const std::string text = median_and_max(comparison.rows, number);
    if (!text.empty()) lines.push_back(fmt::format("spread between processes, {}: {}", how, text));
  };
  const auto from = [](SpreadSource source) {
    return [source](const Row& row) { return row.spread_from == source && !row.identical ? row.spread : std::nullopt; };
  };
  add_spread("measured", [](const Row& row) { return row.identical ? std::nullopt : row.observed_spread; });
  const bool weighed = std::ranges::any_of(comparison.rows, [](const Row& row) {
    return row.test == TestUsed::welch && row.observed_spread && row.spread != row.observed_spread;
  });
  if (weighed) add_spread("used (combined with all cases, --spread or --assume-spread)", from(SpreadSource::measured));
  add_spread("known", from(SpreadSource::known));
  add_spread("assumed", from(SpreadSource::assumed));
  return lines;
}

void warn_of_missing(Comparison& comparison) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> shown;
  for (const Row& row : comparison.rows) {
    if (row.verdict == Verdict::missing && shown.size() < kShown) {
      shown.push_back(fmt::format("{} ({})", row.key, row.reason));
    }
  }
  const std::size_t missing = comparison.count(Verdict::missing);
  if (missing == 0) return;
  comparison.warnings.push_back(fmt::format("{} {} no number in new: {}{}", cases_text(missing),
                                            missing == 1 ? "has" : "have", fmt::join(shown, "; "),
                                            missing > kShown ? fmt::format("; {} more", missing - kShown) : ""));
}

void warn_of_failing(Comparison& comparison) {
  constexpr std::size_t kShown = 3;
  const std::vector<std::string>& failing = comparison.failing;
  if (failing.empty()) return;
  comparison.warnings.push_back(
      fmt::format("{} on both sides: {}{}", cases_text(failing.size()) + (failing.size() == 1 ? " fails" : " fail"),
                  fmt::join(std::span(failing).first(std::min(failing.size(), kShown)), "; "),
                  failing.size() > kShown ? fmt::format("; {} more", failing.size() - kShown) : ""));
}

void warn_of_one_process(Comparison& comparison) {
  if (comparison.several_files()) return;
  const auto from = [&](SpreadSource source) {
    return std::ranges::any_of(comparison.rows, [source](const Row& row) {
      return row.spread && row.spread_from == source && !row.identical;
    });
  };
  if (!from(SpreadSource::assumed)) return;
  const double assumed = comparison.options.assumed_spread;
  comparison.warnings.push_back(
      assumed > 0
          ? fmt::format("one process per side gives no spread between processes: {} is assumed (--assume-spread)",
                        percent(assumed))
          : std::string("one process per side gives no spread between processes, and none is assumed: the intervals "
                        "are valid for these two processes only"));
}

}  // namespace

void judge(Comparison& comparison) {
  judge_rows(comparison);
  warn_of_one_process(comparison);
  warn_of_missing(comparison);
  warn_of_failing(comparison);
  warn_of_common_shift(comparison);
  comparison.outcome.detectable_slowdown =
      middle(comparison.rows, [](const Row& row) { return row.detectable_slowdown(); });
  comparison.outcome.reach = detectability_text(comparison);
  comparison.outcome = outcome_of(comparison);
}

}  // namespace xferbench::compare
