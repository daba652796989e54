// How a scenario wants its results shown: plain data, so that report/ needs to know no scenario.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/axis.hpp"

namespace xferbench {

/// One column of a scenario's table: where its number is found in a Result, and how it is written.
struct Column {
  enum class Source {
    time,      ///< median of the measurement `name`
    interval,  ///< half-width of that median's 95% interval, in percent
    p90,       ///< 90th percentile of the measurement `name`; empty below 10 samples
    p99,       ///< 99th percentile of the measurement `name`; empty below 100 samples
    metric,    ///< the metric `name`, four significant digits
    seconds,   ///< the metric `name`, a time with its unit
    percent,   ///< the metric `name`, a ratio shown in percent
    ratio,     ///< the metric `name`, as "1.74x"
    clock,     ///< the clock of the measurement `name`; shown only where it differs between cases
    label,     ///< the label `name`, a word
  };
  std::string header;
  Source source;
  std::string name;
};

/// A metric over two axes, drawn below the table of a run that varies both.
struct HeatMap {
  std::string rows;     ///< the axis whose values go down
  std::string columns;  ///< the axis whose values go across
  std::string metric;
  bool percent = true;    ///< a ratio, shown in percent; else shown with four significant digits
  std::size_t least = 2;  ///< values of each axis: with fewer there is nothing to draw
};

/// What tables and help say of a scenario. Views into the scenario, which lives as long as the program.
struct ScenarioView {
  std::string_view name;
  std::string_view summary;
  std::span<const Axis> axes;
  std::span<const Column> columns;
  std::optional<HeatMap> heat_map{};
};

}  // namespace xferbench
