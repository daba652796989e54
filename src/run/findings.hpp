// From results to findings: what a scenario's conclude() is called by, and what it can be made of. Pure functions.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/relation.hpp"
#include "model/transfer.hpp"
#include "results/result.hpp"
#include "run/scenario.hpp"

namespace xferbench {

/// The value of an axis as sentences show it: "64 MiB", "8", "h2d".
std::string axis_text(const Case::Param& param);

/// The axes that not all of these cases have alike, in the order in which the cases have them.
std::vector<std::string> varying_axes(std::span<const Case* const> cases);
std::vector<std::string> varying_axes(std::span<const Result* const> results);

/// The values of those of the axes that the case has.
Labels labels_of(const Case& c, std::span<const std::string> axes);

/// What the case has of the axes that are wanted, as a key.
std::string key_of(const Case& c, const std::function<bool(std::string_view axis)>& wanted);

/// Those that have the metric: others were interrupted before, or have no use for it.
std::vector<const Result*> with_metric(std::span<const Result* const> results, std::string_view metric);

/// Who is ahead by that measurement.
model::Front front_of(std::span<const Result* const> results, std::string_view measurement);

/// Results with equal keys, in the order of their first.
std::vector<std::vector<const Result*>> grouped(std::span<const Result* const> results,
                                                const std::function<std::string(const Result&)>& key_of);

/// What each scenario concludes from those of `results` that are its own and ok. A scenario without any is not asked.
/// Throws InputError where one lacks what a scenario's results always have, as only results from a file can.
std::vector<Finding> conclude(std::span<const Scenario* const> scenarios, std::span<const Result> results);

/// Throws InputError that names the file where nothing can be concluded from these results of it. Whoever goes on with
/// a file asks before anything is measured: each scenario looks at all that it needs of each result, whatever others
/// there are, so that what passes here can be concluded from together with any new results.
void refuse_unusable(std::span<const Scenario* const> scenarios, std::span<const Result* const> results,
                     std::string_view file);

/// One way of copying over several sizes: results that differ in nothing but the size.
struct Path {
  Labels labels;                             ///< what tells it from the others: {"dir", "h2d"}
  std::vector<model::TransferPoint> points;  ///< in the order in which they ran
};

/// Groups results by everything but `size_axis`; points are the sizes in bytes and the median times of `measurement`.
/// Labels are the axes that vary among `results`, without those that a result does not have, or where none varies the
/// first axis that is a word. Results without that axis or that measurement are left out.
std::vector<Path> paths(std::span<const Result* const> results, std::string_view measurement,
                        std::string_view size_axis = "size");

/// For each path, rows of kind "fit": its labels and "range", of all sizes and, where both sides of 64 KiB or one of
/// them, or the sizes from 1 MiB on, can be fitted by themselves, of these, which are details where there are many
/// paths. Then what comparisons() says of paths that differ only in `compare_axis`.
std::vector<Finding> fits_and_crossovers(std::span<const Path> paths, std::string_view compare_axis);

/// Of paths that differ only in `axis`: of two, a sentence of kind "crossover" or "winner". Of more, a sentence of kind
/// "classes" that puts those between which no difference was found beside each other and says how the others differ
/// from them; and, as its details, those sentences on each with the first of them, and with its neighbour if the two
/// differ at most sizes.
std::vector<Finding> comparisons(std::span<const Path> paths, std::string_view axis);

/// "streams 3, chunks 32": the values of those axes; a word speaks for itself, a number does not. The case's key where
/// it has none of them.
std::string name_of(const Case& c, std::span<const std::string> axes);

/// Results that are set against each other: what each is called, and what all of them have in common.
struct Rivals {
  std::string common;  ///< "size 64 MiB: "; empty where there is nothing
  std::vector<std::string> names;
};
/// `axes`: those worth naming. `namer`: name_of, or how else a case is called by its values of some of them.
Rivals rivals_of(std::span<const Result* const> results, std::span<const std::string> axes,
                 const std::function<std::string(const Case&, std::span<const std::string>)>& namer = name_of);

/// Shows those of a kind as rows of a table where there are more than `most` of them.
void show_many_as_rows(std::vector<Finding>& findings, std::string_view kind, std::size_t most);

}  // namespace xferbench
