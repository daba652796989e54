// A chart of ratios by which numbers changed. Each ratio has a row with a dot; all rows share one logarithmic axis.
// Only HTML pages draw the chart; other formats show the same numbers in tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paper/style.hpp"

namespace xferbench {

struct Ratios {
  struct Row {
    std::string name{};
    double ratio = 1;
    std::optional<double> low{};  ///< lower end of the ratio's confidence interval
    std::optional<double> high{};
    std::string text{};  ///< the change as text, for example "+5.1 %"
    std::string verdict{};
    Tone tone = Tone::plain;
    std::string said{};  ///< tooltip
  };
  std::string title{};
  std::string along{};   ///< label of the axis
  double threshold = 0;  ///< relative change, for example 0.03; smaller changes do not matter
  std::vector<Row> rows{};
};

/// The drawing as SVG; empty if there is nothing to draw.
std::string to_svg(const Ratios& ratios);

}  // namespace xferbench
