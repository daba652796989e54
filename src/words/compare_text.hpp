// Pieces of text for comparisons, shared by all kinds of output.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/compare.hpp"
#include "words/case_keys.hpp"

namespace xferbench {

/// A number in its unit, for example "5.617 ms", "52.10 GB/s" or "94.1 %".
std::string compared_value(double value, const std::string& unit);

/// The change by a ratio: "+5.1 %" for 1.051; empty if there is none.
std::string change_text(const std::optional<double>& ratio);

/// The interval of a change, for example "+4.0 % to +6.2 %"; empty if there is none.
std::string change_text(const std::optional<Interval>& ratio);

/// The p-value of a test, for example "0.0312" or "< 0.0001"; empty if there was no test.
std::string p_text(const std::optional<double>& p);

/// The numbers of samples or files on both sides, for example "30, 30".
std::string sizes_text(const compare::Row& row);

/// Returns for example "2 regressed, 1 missing, 37 same".
std::string summary(const compare::Comparison& comparison);

/// Short names of cases, for charts, which have little room: "memcpy: h2d, 1MiB, threads 8"; without the scenario if
/// all are of one.
std::vector<std::string> short_names(const std::vector<std::string>& keys);

/// The method of the comparison as a sentence without its full stop.
std::string method(const compare::Comparison& comparison);

/// Returns for example "exit 1 because 2 cases regressed" or "exit 0: nothing is worse by more than 3 %".
std::string conclusion(const compare::Outcome& outcome);

/// The key of a case, or the part of it that cases do not share, and where it was measured.
std::string with_place(const std::string& key, const compare::Row& row);

/// Why the verdict is what it is, and doubts about the numbers; empty if there is nothing to say.
std::string remarks(const compare::Row& row);

/// Returns for example "driver: 580.1 in base, 580.2 in new".
std::string difference_text(const compare::Difference& difference);

/// The verdict in a word: "failed" rather than "missing" for a case that failed.
std::string verdict_text(const compare::Row& row);

/// Rows by verdict, in the order in which they are shown; within a verdict the largest changes first.
std::vector<const compare::Row*> by_verdict(const compare::Comparison& comparison);

}  // namespace xferbench
