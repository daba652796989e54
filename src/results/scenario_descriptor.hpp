// What a scenario is, as data: report/, cli/ and files know scenarios by this alone.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/axis.hpp"
#include "results/metric_declaration.hpp"

namespace xferbench {

/// A metric over two axes, drawn below the table of a run that varies both. Over two axes of GPUs it is a matrix from
/// GPU to GPU, in which those that differ from their like are marked; over others the best is.
struct HeatMap {
  std::string rows;       ///< the axis whose values go down
  std::string columns;    ///< the axis whose values go across
  std::string metric;     ///< written in percent where the scenario declares it so, else with four significant digits
  std::size_t least = 2;  ///< values of each axis: with fewer there is nothing to draw
  std::string at_largest{};  ///< an axis, such as a size, of whose values only the largest is drawn; empty: none
};

/// A number over an axis of numbers, drawn on pages for a run that has three values of the axis or more.
struct LineChart {
  std::string x;                      ///< the axis
  std::string y;                      ///< a metric or measurement
  std::vector<std::string> panels{};  ///< axes that tell one chart from the next
  std::vector<std::string> lines{};  ///< axes that tell lines apart, of which each has the best case; empty: all others
  std::string limit{};               ///< a metric in the unit of y, as a dashed line; empty: none
  std::vector<std::string> also{};   ///< measurements like y that have lines of their own
};

/// What each GPU gets while several work, beside what it gets alone, drawn on pages of the case with the most GPUs.
struct GpuBars {
  std::string at_once;                ///< a metric that single GPUs have
  std::string alone;                  ///< and the same while nothing else runs
  std::vector<std::string> panels{};  ///< axes that tell one drawing from the next
};

/// What stands above all tables: the numbers of the best case in a sentence.
struct Answer {
  /// The metric or measurement by which the best is chosen. Empty: the scenario has no answer of this kind.
  std::string best{};
  /// Clauses between semicolons, with names of metrics, measurements and labels in braces, which are written as their
  /// columns are: "{bandwidth}, {of_limit} of the limit". A clause of which the case lacks a number is left out.
  std::string text{};
  std::vector<std::string> each{};  ///< axes: a sentence for each combination of their values that is there
  /// Axes of which only the largest values compete, as small ones say what a call costs.
  std::vector<std::string> largest{"size"};
  /// Whether cases are ways to do one thing: tables say of each how many times as long it takes as the quickest that
  /// does the same work (work_axes).
  bool ranks_ways = false;
};

/// How many GPUs a scenario is about.
enum class UsesGpus {
  one,             ///< one at a time: the first of those that the machine was opened with
  one_or_several,  ///< all that were asked for by --gpus; else one
  several,         ///< all that the machine has, unless others were asked for
};

/// One constant for each scenario.
struct ScenarioDescriptor {
  std::string name;
  std::string summary;  ///< one line for `xferbench list`
  std::vector<Axis> axes;
  std::vector<MetricDeclaration> metrics;  ///< all that its results may have; those with a heading are its columns
  std::vector<HeatMap> heat_maps{};        ///< of the metrics worth drawing over two axes
  std::vector<LineChart> charts{};
  std::vector<GpuBars> gpu_bars{};
  Answer answer{};
  /// Axes that say what is done, and not how: cases that agree in them do the same work, each in its way. Empty: all,
  /// but for those that name a way of doing it.
  std::vector<std::string_view> work_axes{};
  bool has_timeline = false;  ///< whether its run() calls RunContext::trace_region
  UsesGpus gpus = UsesGpus::one;
  /// Whether it is about several ranks of a run under mpirun or srun: all of them take part in every case, and choose
  /// by its pace who works at once.
  bool needs_ranks = false;

  /// By its name; null: it has none of it.
  [[nodiscard]] const Axis* axis(std::string_view its_name) const;
  [[nodiscard]] const MetricDeclaration* metric(std::string_view its_name) const;
};

/// Descriptors of scenarios, which live as long as the program.
using Descriptors = std::span<const ScenarioDescriptor* const>;

}  // namespace xferbench
