// Functions that word findings (sentences in reports), so that all scenarios use the same words. Pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "model/transfer.hpp"
#include "results/result.hpp"

namespace xferbench {

/// Text for a result without a confidence interval: why no comparison is possible, and how to get one.
inline constexpr std::string_view kTooFewSamples =
    "too few samples (at least 6 are needed): raise --max-samples or --budget";

/// Note for tables of bidirectional copies: why the rates of the two directions do not add up to the total rate.
inline constexpr std::string_view kEachOverItsOwnTime =
    "H2D GB/s and D2H GB/s: bytes of a direction over its own time; GB/s: all bytes over the time until both have "
    "ended";

/// Joins names to a list: "a", "a and b", "a, b and c". With more than `most` names, the list ends in "and 12 more".
/// `word` is "and" or "or".
std::string listed(std::span<const std::string> names, std::size_t most = 12, std::string_view word = "and");

/// Formats a range of factors, for example "1.2 to 6.1"; one number if both ends read the same.
std::string factors_text(const Interval& factors);

/// Returns "X is the fastest", "X, Y and Z are equally fast (within 1 %)", or "X, Y and Z are tied (within error)".
/// `names` has the name of every compared result, by index; a name that occurs twice is listed once. `is_best` and
/// `equals` are the words to use for "is the fastest" and "are equally fast".
std::string ranking_text(const model::Leaders& front, std::span<const std::string> names, std::string_view is_best,
                         std::string_view equals = "are equally fast");

/// Compares two times: returns "2.4 times as fast", "equally fast (within 1 %)" or "no difference found", for example.
std::string ratio_text(const model::Estimate& time, const model::Estimate& other);

/// Returns the names of the fastest results for a table cell: "X", "X or Y", "X, Y or 3 more".
std::string leaders_text(const model::Leaders& front, std::span<const std::string> names);
/// Returns how certain it is which result is the fastest, as the value of a label: "decided", "equal" or "undecided".
std::string outcome_label(const model::Leaders& front);

/// Returns whether a one-time setup (such as pinning memory) pays off, for example "pays off from 5 to 301 copies",
/// "never pays off: copies of pageable memory are as fast (within 1 %)" or "may or may not pay off: ...". `ordinary`
/// names the kind of memory whose copies need no setup.
std::string break_even_text(const model::BreakEven& found, std::string_view ordinary);
/// Returns whether the setup pays off, as the value of a label: "pays", "never" or "undecided".
std::string outcome_label(const model::BreakEven& found);
/// Adds the number of copies from which the setup pays off to `finding`, as metric `name`, and the ends of its interval
/// as NAME_low and NAME_high. Adds nothing unless the outcome is `pays`.
void add_copies(const model::BreakEven& found, const std::string& name, Finding& finding);

}  // namespace xferbench
