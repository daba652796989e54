#include "run/finding_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "core/lists.hpp"
#include "core/units.hpp"

namespace xferbench {

namespace {

/// Returns the names of the fastest results (model::Leaders), without duplicates.
std::vector<std::string> ahead_in(const model::Leaders& front, std::span<const std::string> names) {
  std::vector<std::string> ahead;
  for (const std::size_t place : front.places) add_new(ahead, names[place]);
  return ahead;
}

}  // namespace

std::string listed(std::span<const std::string> names, std::size_t most, std::string_view word) {
  if (names.size() < 2) return names.empty() ? "" : names.front();
  const bool cut = names.size() > most;
  const auto first = names.first(cut ? most - 1 : names.size() - 1);
  const std::string last = cut ? fmt::format("{} more", names.size() - most + 1) : names.back();
  // Use semicolons if a name contains a comma itself.
  const auto has_comma = [](const std::string& name) { return name.find(',') != std::string::npos; };
  const bool apart = std::ranges::any_of(names, has_comma);
  return fmt::format("{}{} {} {}", fmt::join(first, apart ? "; " : ", "), apart ? ";" : "", word, last);
}

std::string factors_text(const Interval& factors) {
  const std::string low = factor_text(factors.low);
  const std::string high = factor_text(factors.high);
  return low == high ? low : low + " to " + high;
}

std::string ratio_text(const model::Estimate& time, const model::Estimate& other) {
  switch (model::relate(time, other)) {
    case model::Relation::faster: return factor_text(other.value / time.value) + " times as fast";
    case model::Relation::slower: return factor_text(time.value / other.value) + " times as long";
    case model::Relation::equal: return "equally fast (within 1 %)";
    case model::Relation::undecided: break;
  }
  return time.interval && other.interval ? "no difference found" : fmt::format("not decided: {}", kTooFewSamples);
}

std::string leaders_text(const model::Leaders& front, std::span<const std::string> names) {
  constexpr std::size_t kMost = 3;
  return listed(ahead_in(front, names), kMost, "or");
}

std::string outcome_label(const model::Leaders& front) {
  if (front.decided()) return "decided";
  return front.equal ? "equal" : "undecided";
}

std::string ranking_text(const model::Leaders& front, std::span<const std::string> names, std::string_view is_best,
                         std::string_view equals) {
  const std::vector<std::string> ahead = ahead_in(front, names);
  if (ahead.size() == 1) return fmt::format("{} {}", ahead.front(), is_best);
  constexpr std::size_t kMost = 5;
  const std::string all = listed(ahead, kMost);
  if (front.equal) return fmt::format("{} {} (within 1 %)", all, equals);
  return front.sampled ? all + " are tied (within error)" : fmt::format("{}: not decided ({})", all, kTooFewSamples);
}

std::string outcome_label(const model::BreakEven& found) {
  switch (found.outcome) {
    case model::BreakEven::Outcome::pays: return "pays";
    case model::BreakEven::Outcome::never: return "never";
    case model::BreakEven::Outcome::undecided: break;
  }
  return "undecided";
}

std::string break_even_text(const model::BreakEven& found, std::string_view ordinary) {
  using Outcome = model::BreakEven::Outcome;
  if (found.outcome == Outcome::undecided) {
    return fmt::format("may or may not pay off: {}",
                       found.sampled ? "neither kind of copy is significantly faster" : kTooFewSamples);
  }
  if (found.outcome == Outcome::never) {
    return fmt::format("never pays off: copies of {} memory are {}", ordinary,
                       found.equal ? "as fast (within 1 %)" : "faster");
  }
  const bool exact = found.range.low == found.range.high;
  if (exact) return fmt::format("pays off from {:.0f} {}", found.copies, found.copies > 1 ? "copies" : "copy");
  return fmt::format("pays off from {:.0f} to {:.0f} copies", found.range.low, found.range.high);
}

void add_copies(const model::BreakEven& found, const std::string& name, Finding& finding) {
  if (found.outcome != model::BreakEven::Outcome::pays) return;
  finding.metrics.push_back({name, found.copies, "copies"});
  finding.metrics.push_back({name + "_low", found.range.low, "copies"});
  finding.metrics.push_back({name + "_high", found.range.high, "copies"});
}

}  // namespace xferbench
