// Ratios by which numbers changed: a row for each, with a dot on a logarithmic axis. Only HTML pages draw them; other
// formats have the same numbers in tables.
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
    std::string text{};  ///< the ratio in words
    std::string verdict{};
    Tone tone = Tone::plain;  ///< tone of the verdict
    std::string said{};       ///< tooltip
  };
  std::string title{};
  std::string along{};   ///< label of the axis
  double threshold = 0;  ///< as a share; smaller differences do not matter
  std::vector<Row> rows{};
};

/// The drawing as SVG; empty if there is nothing to draw.
std::string to_svg(const Ratios& ratios);

}  // namespace xferbench
