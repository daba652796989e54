#include "words/compare_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "core/units.hpp"

namespace xferbench {

std::string compared_value(double value, const std::string& unit) {
  if (unit == "s") return format_seconds(value);
  if (unit == "1") return format_significant(value);
  return format_significant(value) + " " + unit;
}

std::string change_text(const std::optional<double>& ratio) {
  if (!ratio) return "";
  // People read large changes better as a factor than in percent.
  constexpr double kMany = 10;
  if (*ratio >= kMany || *ratio <= 1 / kMany) return "x " + format_significant(*ratio);
  return format_change(*ratio - 1);
}

std::string change_text(const std::optional<Interval>& ratio) {
  return ratio ? change_text(std::optional(ratio->low)) + " to " + change_text(std::optional(ratio->high)) : "";
}

std::string p_text(const std::optional<double>& p) {
  constexpr double kLeast = 1e-4;
  if (!p) return "";
  return *p < kLeast ? "< 0.0001" : fmt::format("{:.4f}", *p);
}

std::string sizes_text(const compare::Row& row) {
  const auto size = [](const std::optional<compare::Side>& side) { return side ? fmt::format("{}", side->n) : "-"; };
  return size(row.base) + ", " + size(row.new_side);
}

std::string verdict_text(const compare::Row& row) { return row.failed ? "failed" : std::string(to_text(row.verdict)); }

std::string summary(const compare::Comparison& comparison) {
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (const compare::Row* row : by_verdict(comparison)) {
    const std::string verdict = verdict_text(*row);
    if (counts.empty() || counts.back().first != verdict) counts.emplace_back(verdict, 0);
    ++counts.back().second;
  }
  std::string text;
  for (const auto& [verdict, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, verdict);
  if (comparison.not_compared > 0) text += fmt::format(", {} without a value on both sides", comparison.not_compared);
  return text;
}

namespace {

/// Returns the size of a change: the absolute logarithm of the ratio; 0 without a ratio.
double change_of(const compare::Row* row) {
  return row->ratio && *row->ratio > 0 ? std::abs(std::log(*row->ratio)) : 0;
}

using Cases = std::vector<std::vector<std::string>*>;

/// Removes axes from the names of cases, the last axis first, as long as all cases of a scenario keep distinct names.
void keep_distinguishing_parts(const Cases& cases) {
  const auto name_of = [](const std::string& part) { return part.substr(0, part.find('=')); };
  const auto different = [&cases] { return set_of(cases, [](const auto* parts) { return *parts; }).size(); };
  std::vector<std::string> axes;
  for (const auto* parts : cases) {
    for (const std::string& part : std::span(*parts).subspan(1)) add_new(axes, name_of(part));
  }
  std::ranges::reverse(axes);
  for (const std::string& axis : axes) {
    const std::size_t with = different();
    std::vector<std::vector<std::string>> before;
    for (auto* parts : cases) {
      before.push_back(*parts);
      std::erase_if(*parts, [&](const std::string& part) { return name_of(part) == axis; });
    }
    const auto says_nothing = [](const auto* parts) { return parts->size() == 1; };
    if (different() == with && (cases.size() == 1 || std::ranges::none_of(cases, says_nothing))) continue;
    for (std::size_t i = 0; i < cases.size(); ++i) *cases[i] = std::move(before[i]);
  }
}

/// Returns "h2d" for "dir=h2d", but "streams 8" for "streams=8": a number needs the name of its axis, a word does not.
std::string spoken(const std::string& part) {
  const std::size_t equals = part.find('=');
  if (equals == std::string::npos) return part;
  const std::string value = part.substr(equals + 1);
  const bool number = !value.empty() && value.find_first_not_of("0123456789.,") == std::string::npos;
  return number ? part.substr(0, equals) + " " + value : value;
}

}  // namespace

std::vector<std::string> short_names(const std::vector<std::string>& keys) {
  std::map<std::string, Cases> scenarios;
  auto parts = list_of(keys, [](const std::string& key) {
    const std::vector<std::string> of_key = parts_of_key(key);
    return of_key.empty() ? std::vector{key} : of_key;
  });
  for (std::vector<std::string>& of : parts) scenarios[of.front()].push_back(&of);
  for (auto& [scenario, cases] : scenarios) keep_distinguishing_parts(cases);
  std::vector<std::string> names;
  for (const std::vector<std::string>& of : parts) {
    std::vector<std::string> axes(of.begin() + 1, of.end());
    std::ranges::transform(axes, axes.begin(), spoken);
    const std::string rest = fmt::format("{}", fmt::join(axes, ", "));
    names.push_back(rest.empty() ? of.front() : scenarios.size() == 1 ? rest : of.front() + ": " + rest);
  }
  return names;
}

std::string method(const compare::Comparison& comparison) {
  const compare::Options& options = comparison.options;
  const auto used = [&](compare::TestUsed test) {
    return std::ranges::any_of(comparison.rows, [test](const compare::Row& row) { return row.test == test; });
  };
  std::vector<std::string> tests;
  if (used(compare::TestUsed::ranks)) tests.emplace_back("Mann-Whitney on the processes' medians");
  if (used(compare::TestUsed::welch)) {
    tests.emplace_back(comparison.several_files() ? "Welch's t on the logarithms of the processes' medians"
                                                  : "one process per side, with the spread between processes");
  }
  const std::string threshold = format_percent_short(options.threshold, 6);
  if (tests.empty()) return fmt::format("threshold {}; nothing was tested", threshold);
  const char* change =
      options.bootstrap ? "ratio of the medians (bootstrap)"
      : used(compare::TestUsed::ranks) || !comparison.several_files()
          ? "median of the ratios new/base of all pairs (may differ from the ratio of the medians shown)"
          : "ratio new/base";
  return fmt::format("threshold {}; {}; change: {}; 95 % intervals; p corrected for all cases (Holm), 5 %", threshold,
                     fmt::join(tests, ", "), change);
}

std::string conclusion(const compare::Outcome& outcome) {
  return outcome.code == ExitCode::ok
             ? "exit 0: " + outcome.because
             : fmt::format("exit {} because {}", static_cast<int>(outcome.code), outcome.because);
}

std::string with_place(const std::string& key, const compare::Row& row) {
  return row.place.empty() ? key : fmt::format("{} ({})", key, row.place);
}

std::string remarks(const compare::Row& row) {
  std::vector<std::string> all;
  if (!row.reason.empty()) all.push_back(row.reason);
  all.insert(all.end(), row.notes.begin(), row.notes.end());
  return fmt::format("{}", fmt::join(all, "; "));
}

std::string difference_text(const compare::Difference& d) {
  return fmt::format("{}: {} in base, {} in new", d.what, d.base, d.new_side);
}

std::vector<const compare::Row*> by_verdict(const compare::Comparison& comparison) {
  std::vector<const compare::Row*> rows;
  for (const compare::Verdict verdict : compare::kVerdicts) {
    const auto begin = static_cast<std::ptrdiff_t>(rows.size());
    for (const compare::Row& row : comparison.rows) {
      if (row.verdict == verdict) rows.push_back(&row);
    }
    const bool changed = verdict == compare::Verdict::regressed || verdict == compare::Verdict::improved ||
                         verdict == compare::Verdict::changed;
    if (verdict == compare::Verdict::missing) {
      std::stable_partition(rows.begin() + begin, rows.end(), [](const compare::Row* row) { return row->failed; });
    }
    if (changed) std::ranges::stable_sort(rows.begin() + begin, rows.end(), std::ranges::greater(), change_of);
  }
  return rows;
}

}  // namespace xferbench
