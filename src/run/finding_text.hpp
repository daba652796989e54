// The wording of findings, so that the same words are used everywhere. Pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "model/transfer.hpp"
#include "results/result.hpp"

namespace xferbench {

/// Why nothing is decided without a confidence interval, and what to do about it.
inline constexpr std::string_view kTooFewSamples =
    "too few samples (at least 6 are needed): raise --max-samples or --budget";

/// Why the rates of both directions of a bidirectional copy do not add up to the total rate.
inline constexpr std::string_view kEachOverItsOwnTime =
    "H2D GB/s and D2H GB/s: bytes of a direction over its own time; GB/s: all bytes over the time until both have "
    "ended";

/// A list of names: "a", "a and b", "a, b and c"; if there are more than `most`: "a, b, c and 12 more". `word`: "or"
/// instead of "and".
std::string listed(std::span<const std::string> names, std::size_t most = 12, std::string_view word = "and");

/// A factor with suitable decimals, for example "1.02", "2.4" or "12".
std::string factor_text(double factor);
/// Returns for example "1.2 to 6.1"; one number if both ends read the same.
std::string factors_text(const Interval& factors);

/// Returns "X is the fastest", "X, Y and Z are equally fast (within 1 %)", or "X, Y and Z are tied (within error)".
/// `names`: of all compared results, by index; equal names are given once. `is_best`: "is the fastest"; `equals`: "are
/// equally fast".
std::string ranking_text(const model::Leaders& front, std::span<const std::string> names, std::string_view is_best,
                         std::string_view equals = "are equally fast");

/// Compares two times, for example as "2.4 times as fast", "equally fast (within 1 %)" or "no difference found".
std::string ratio_text(const model::Estimate& time, const model::Estimate& other);

/// The leading results as a cell of a table: "X", "X or Y", "X, Y or 3 more".
std::string leaders_text(const model::Leaders& front, std::span<const std::string> names);
/// How certain the leaders are, as the value of a label: decided, equal, undecided.
std::string outcome_label(const model::Leaders& front);

/// Returns for example "pays off from 5 to 301 copies", "never pays off: copies of pageable memory are as fast (within
/// 1 %)" or "may or may not pay off: ...". `ordinary`: the kind of memory with the slow copies.
std::string break_even_text(const model::BreakEven& found, std::string_view ordinary);
/// The outcome as the value of a label: pays, never, undecided.
std::string outcome_label(const model::BreakEven& found);
/// Adds the number of copies as metric `name`, with its interval as NAME_low and NAME_high, if the outcome is "pays".
void add_copies(const model::BreakEven& found, const std::string& name, Finding& finding);

}  // namespace xferbench
