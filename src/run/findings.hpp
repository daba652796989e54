// Derives findings (conclusions such as fits and winners) from results: calls Scenario::conclude(), and provides
// functions to implement it. Pure functions.
#pragma once

#include <string_view>

#include "model/relation.hpp"
#include "model/transfer.hpp"
#include "run/scenario.hpp"

namespace xferbench {

/// Returns the value of an axis as sentences show it, for example "64 MiB", "8" or "h2d".
std::string axis_text(const Case::Param& param);

/// Returns the names of the axes in which these cases differ, in the order of the cases' axes.
std::vector<std::string> varying_axes(std::span<const Case* const> cases);
std::vector<std::string> varying_axes(std::span<const Result* const> results);

/// Returns the case's values of these axes. Axes that the case does not have are left out.
Labels labels_of(const Case& c, std::span<const std::string> axes);

/// Returns a key that joins the case's values of all axes for which `wanted` returns true.
std::string key_of(const Case& c, const std::function<bool(std::string_view axis)>& wanted);

/// Returns the results that have the metric. A result may lack it because its case was interrupted.
std::vector<const Result*> with_metric(std::span<const Result* const> results, std::string_view metric);

/// Returns the results that are or may be the fastest by `measurement`, as indices into `results`.
model::Leaders leaders_of(std::span<const Result* const> results, std::string_view measurement);

/// Groups results by their key. Groups are in the order of their first results.
std::vector<std::vector<const Result*>> grouped(std::span<const Result* const> results,
                                                const std::function<std::string(const Result&)>& key_of);

/// Returns the findings of all scenarios. Each scenario gets its own results that have status ok; a scenario without
/// such results gives none. Throws InputError if a result lacks data that results of its scenario always have, which
/// happens only with results from a file.
std::vector<Finding> conclude(std::span<const Scenario* const> scenarios, std::span<const Result> results);

/// Replaces the report's findings by new conclusions from its results. Returns false and changes nothing if results
/// lack data that a scenario needs, or if the report has findings of `tune`, which need more than the results.
bool conclude_anew(std::span<const Scenario* const> scenarios, Report& report);

/// Throws InputError, naming the file, if its results lack data that conclusions need. Call this before a run resumes
/// from the file. Each result is checked by itself, so results that pass can be combined with any new ones.
void refuse_unusable(std::span<const Scenario* const> scenarios, std::span<const Result* const> results,
                     std::string_view file);

/// One way of copying (such as pinned H2D copies), measured at several sizes.
struct Path {
  Labels labels;  ///< values of the axes that distinguish it from other paths, such as {"dir", "h2d"}
  std::vector<model::TransferPoint> points;  ///< one point per measured size, in the order of measurement
};

/// Groups results that differ only in `size_axis` into paths. A point has the size in bytes and the median time of
/// `measurement`. A path's labels are the axes in which `results` differ; if there are none, the first axis with words
/// as values. Results without `size_axis` or without `measurement` are left out.
std::vector<Path> paths(std::span<const Result* const> results, std::string_view measurement,
                        std::string_view size_axis = "size");

/// Fits latency and rate to each path and compares the paths. Returns findings of kind "fit" with the path's labels and
/// a label "range": all sizes, and, where possible, only sizes up to 64 KiB, above 64 KiB, and from 1 MiB on. With more
/// than four paths, the fits of partial ranges are marked as details. Then follow the comparisons() by `compare_axis`.
std::vector<Finding> fits_and_crossovers(std::span<const Path> paths, std::string_view compare_axis);

/// Compares paths that differ only in the label `axis`. Two paths give one finding of kind "crossover" or "winner".
/// More paths give one finding of kind "classes": it groups paths without a significant difference and compares each
/// group with the fastest. Findings marked as details then compare the first path with each other one, and neighbouring
/// paths that differ at most sizes.
std::vector<Finding> comparisons(std::span<const Path> paths, std::string_view axis);

/// Names a case by its values of these axes, for example "streams 3, chunks 32". A numeric value is preceded by the
/// name of its axis. Returns Case::key() if the case has none of the axes.
std::string name_of(const Case& c, std::span<const std::string> axes);

/// Names of results that are compared with each other, and the axis values that all of them share.
struct ComparedResults {
  std::string common;  ///< shared values, as a prefix for a sentence: "size 64 MiB: "; may be empty
  std::vector<std::string> names;
};
/// Names results by those of `axes` in which their cases differ. Values that all cases share go into `common`. `namer`
/// makes a name from a case and some of its axes.
ComparedResults compared_results(
    std::span<const Result* const> results, std::span<const std::string> axes,
    const std::function<std::string(const Case&, std::span<const std::string>)>& namer = name_of);

/// Marks findings of a kind to be shown as rows of a table, if there are more than `most` of them.
void fold_into_rows(std::vector<Finding>& findings, std::string_view kind, std::size_t most);

}  // namespace xferbench
