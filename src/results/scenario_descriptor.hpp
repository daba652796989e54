// Describes scenarios as data. Reports and the command line know scenarios only by these descriptions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/axis.hpp"
#include "results/metric_declaration.hpp"

namespace xferbench {

/// A map of a metric over two axes, drawn below the table of a run with several values of both. If the axes are GPUs,
/// the map is a GPU-to-GPU matrix that marks outliers; otherwise it marks the best cell.
struct HeatMap {
  std::string rows;          ///< axis whose values are the rows
  std::string columns;       ///< axis whose values are the columns
  std::string metric;        ///< metric to draw: in percent if declared so, else with four significant digits
  std::size_t least = 2;     ///< fewest values of each axis; with fewer, the map is not drawn
  std::string at_largest{};  ///< an axis, such as a size, of which only the largest value is drawn; empty: none
};

/// A number over a numeric axis, drawn on HTML pages if a run has at least three values of the axis.
struct LineChart {
  std::string x;                      ///< name of a numeric axis
  std::string y;                      ///< name of a metric or measurement
  std::vector<std::string> panels{};  ///< axes; there is one chart for each of their values
  /// Axes; there is one line for each of their values, through the best case at each x. Empty: all axes but x and
  /// `panels`.
  std::vector<std::string> lines{};
  std::string limit{};              ///< a metric in the unit of y, drawn as a dashed line; empty: none
  std::vector<std::string> also{};  ///< further measurements in the unit of y, each with a line
};

/// Compares a metric of each GPU when it works alone and when several GPUs work at once. HTML pages draw the comparison
/// for the case with the most GPUs.
struct GpuBars {
  std::string at_once;                ///< metric of single GPUs while several work
  std::string alone;                  ///< the same metric while nothing else runs
  std::vector<std::string> panels{};  ///< axes; there is one drawing for each of their values
};

/// The sentence above all tables, with the numbers of the best case.
struct Answer {
  /// The metric or measurement that selects the best case. Empty: the scenario has no such answer.
  std::string best{};
  /// Clauses separated by semicolons, with names of metrics, measurements and labels in braces: "{bandwidth},
  /// {of_limit} of the limit". Values are formatted as in their table columns. A clause is left out if the case lacks
  /// one of its numbers. "{factor}" is how many times as fast the best case is as the fastest case with `slow_value` of
  /// axis `slow_axis`.
  std::string text{};
  std::string slow_axis{};
  std::string slow_value{};
  std::vector<std::string> findings{};  ///< kinds of findings whose sentences come before all others
  std::vector<std::string> each{};      ///< axes; there is one sentence for each existing combination of their values
  /// Only cases with the largest value of these axes can be the best case; small sizes mostly show the cost of calls.
  std::vector<std::string> largest{"size"};
  /// Whether cases are ways to do the same work. Tables then show the time of each case as a multiple of the fastest
  /// case with the same work (work_axes).
  bool ranks_ways = false;
};

/// How many GPUs a scenario uses.
enum class UsesGpus {
  one,             ///< the first GPU of the run
  each,            ///< each GPU that --gpus requests, one after the other; without it, one
  one_or_several,  ///< all GPUs that --gpus requests; without it, one
  several,         ///< all GPUs of the machine, unless --gpus requests others
};

/// The description of a scenario; each scenario has one constant of this type.
struct ScenarioDescriptor {
  std::string name;
  std::string summary;  ///< description in one line, for `xferbench list`
  std::vector<Axis> axes;
  /// All measurements, metrics and labels of the scenario's results. Those with a heading are table columns.
  std::vector<MetricDeclaration> metrics;
  std::vector<HeatMap> heat_maps{};  ///< metrics worth drawing over two axes
  std::vector<LineChart> charts{};
  std::vector<GpuBars> gpu_bars{};
  Answer answer{};
  /// Axes that define the work: cases with the same values of these axes do the same work in different ways. Empty: all
  /// axes but those that name a way of doing the work.
  std::vector<std::string_view> work_axes{};
  bool has_timeline = false;  ///< whether the scenario's run() calls RunContext::trace_region
  UsesGpus gpus = UsesGpus::one;
  bool from_each_node = false;  ///< whether --numa all measures its cases from each NUMA node of the host
  /// Whether the scenario measures between ranks of a run under mpirun or srun. All ranks then take part in every case,
  /// and the case's concurrency decides which of them work at the same time.
  bool needs_ranks = false;
  /// Seconds that `tune` takes unless the user says otherwise. Larger if a pass of the scenario takes long.
  double tune_budget = 3;
  /// A sentence below the table that explains its columns; shown if the results have the metric `metric`.
  struct Note {
    std::string_view metric;
    std::string_view text;
  };
  std::optional<Note> note{};

  /// Return the axis or metric with this name; null if there is none.
  [[nodiscard]] const Axis* axis(std::string_view its_name) const;
  [[nodiscard]] const MetricDeclaration* metric(std::string_view its_name) const;
};

/// Scenario descriptors, which live as long as the program.
using Descriptors = std::span<const ScenarioDescriptor* const>;

}  // namespace xferbench
