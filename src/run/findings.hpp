// Derives findings from results: calls the conclude() of scenarios, and helps to implement it. Pure functions.
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

/// The value of an axis as sentences show it, for example "64 MiB", "8" or "h2d".
std::string axis_text(const Case::Param& param);

/// The axes in which these cases differ, in the order in which the cases have them.
std::vector<std::string> varying_axes(std::span<const Case* const> cases);
std::vector<std::string> varying_axes(std::span<const Result* const> results);

/// The case's values of these axes, without axes that it lacks.
Labels labels_of(const Case& c, std::span<const std::string> axes);

/// A key made of the case's values of all axes for which `wanted` returns true.
std::string key_of(const Case& c, const std::function<bool(std::string_view axis)>& wanted);

/// Results that have the metric. The others were interrupted too early, or have no such metric.
std::vector<const Result*> with_metric(std::span<const Result* const> results, std::string_view metric);

/// The results that are fastest by that measurement, as indices into `results`.
model::Leaders leaders_of(std::span<const Result* const> results, std::string_view measurement);

/// Groups of results with equal keys, in the order of their first results.
std::vector<std::vector<const Result*>> grouped(std::span<const Result* const> results,
                                                const std::function<std::string(const Result&)>& key_of);

/// The conclusions of each scenario from its own results with status ok. Skips scenarios without any. Throws InputError
/// if a result lacks what results of its scenario always have, which happens only with results from a file.
std::vector<Finding> conclude(std::span<const Scenario* const> scenarios, std::span<const Result> results);

/// Replaces the report's findings by conclusions from its results. Returns false and changes nothing if results lack
/// what a scenario needs, or if the findings are those of a search by `tune`, which results alone do not give.
bool conclude_anew(std::span<const Scenario* const> scenarios, Report& report);

/// Throws InputError, naming the file, if no conclusions are possible from its results. Call this before measuring when
/// a run is resumed with a file: each scenario checks all that it needs of each result by itself, so results that pass
/// can be combined with any new ones.
void refuse_unusable(std::span<const Scenario* const> scenarios, std::span<const Result* const> results,
                     std::string_view file);

/// One way of copying at several sizes: results that differ only in size.
struct Path {
  Labels labels;                             ///< distinguish it from other paths: {"dir", "h2d"}
  std::vector<model::TransferPoint> points;  ///< in the order in which they ran
};

/// Groups results by all axes but `size_axis`. A point has the size in bytes and the median time of `measurement`.
/// Labels are the axes that vary among `results` and that a result has; if none varies, the first axis with words as
/// values. Leaves out results without that size axis or that measurement.
std::vector<Path> paths(std::span<const Result* const> results, std::string_view measurement,
                        std::string_view size_axis = "size");

/// Findings of kind "fit" for each path, with its labels and a "range": all sizes, and, if they can be fitted
/// separately, sizes up to 64 KiB, above 64 KiB, and from 1 MiB on. These partial ranges are details if there are many
/// paths. Then the comparisons() of paths that differ only in `compare_axis`.
std::vector<Finding> fits_and_crossovers(std::span<const Path> paths, std::string_view compare_axis);

/// Compares paths that differ only in `axis`. For two: a sentence of kind "crossover" or "winner". For more: a sentence
/// of kind "classes", which groups paths without a found difference, and compares the other classes with the fastest
/// one; as details, sentences about the first path and each other one, and about neighbours that differ at most sizes.
std::vector<Finding> comparisons(std::span<const Path> paths, std::string_view axis);

/// The values of these axes, for example "streams 3, chunks 32": words stand alone, numbers get the name of their axis.
/// The case's key if it has none of the axes.
std::string name_of(const Case& c, std::span<const std::string> axes);

/// Names for results that are compared with each other, and what all of them have in common.
struct ComparedResults {
  std::string common;  ///< "size 64 MiB: "; may be empty
  std::vector<std::string> names;
};
/// `axes`: the axes worth naming. `namer`: makes a name from a case and some of its axes.
ComparedResults compared_results(
    std::span<const Result* const> results, std::span<const std::string> axes,
    const std::function<std::string(const Case&, std::span<const std::string>)>& namer = name_of);

/// Shows findings of a kind as rows of a table if there are more than `most` of them.
void fold_into_rows(std::vector<Finding>& findings, std::string_view kind, std::size_t most);

}  // namespace xferbench
