// A bar chart: each bar has a row with its name and its value as text. Only HTML pages draw it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace xferbench {

struct Bars {
  struct Bar {
    std::string name{};
    double begin = 0;  ///< value at the left end: 0, or the end of the previous bar if the bars are parts of a whole
    double end = 0;
    std::string text{};    ///< text after the bar: the number with its unit
    std::size_t kind = 0;  ///< index of the bar's colour, one of eight
  };
  std::string title{};
  std::vector<Bar> bars{};
  std::string note{};  ///< text below the chart
};

/// The chart as SVG; empty if no bar has a length.
std::string to_svg(const Bars& bars);

}  // namespace xferbench
