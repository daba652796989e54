// Texts for comparisons that several output formats share.
#pragma once

#include "compare/compare.hpp"
#include "words/case_keys.hpp"

namespace xferbench {

/// Returns a number with its unit, for example "5.617 ms", "52.10 GB/s" or "94.1 %".
std::string compared_value(double value, const std::string& unit);

/// Returns a ratio as a change, for example "+5.1 %" for 1.051; empty without a ratio.
std::string change_text(const std::optional<double>& ratio);

/// Returns the confidence interval of a change, for example "+4.0 % to +6.2 %"; empty without an interval.
std::string change_text(const std::optional<Interval>& ratio);

/// Returns the p-value of a test as text, for example "0.0312" or "< 0.0001"; empty if there was no test.
std::string p_text(const std::optional<double>& p);

/// Returns the numbers of samples or files of both sides, for example "30, 30".
std::string sizes_text(const compare::Row& row);

/// Returns for example "2 regressed, 1 missing, 37 same".
std::string summary(const compare::Comparison& comparison);

/// Returns short names of cases, for charts, where space is short: "memcpy: h2d, 1MiB, threads 8"; without the scenario
/// if all cases are of one.
std::vector<std::string> short_names(const std::vector<std::string>& keys);

/// Returns the statistical method of the comparison as a sentence without its full stop.
std::string method(const compare::Comparison& comparison);

/// Returns for example "exit 1 because 2 cases regressed" or "exit 0: nothing is worse by more than 3 %".
std::string conclusion(const compare::Outcome& outcome);

/// Returns `key`, the key of a case or a part of it. Fleets: appends the GPU and host on which the case was measured.
std::string with_place(const std::string& key, const compare::Row& row);

/// Returns the reasons for the verdict, and doubts about the numbers; empty if there are none.
std::string remarks(const compare::Row& row);

/// Returns for example "driver: 580.1 in base, 580.2 in new".
std::string difference_text(const compare::Difference& difference);

/// Returns the verdict in a word: "failed" instead of "missing" for a case that failed.
std::string verdict_text(const compare::Row& row);

/// Returns the rows by verdict, in the order in which they are shown; within a verdict, the largest changes first.
std::vector<const compare::Row*> by_verdict(const compare::Comparison& comparison);

}  // namespace xferbench
