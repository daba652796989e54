// Amounts as bars on one scale, each in a row with its name and what it is in words. Drawn on pages only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace xferbench {

struct Bars {
  struct Bar {
    std::string name{};
    double begin = 0;  ///< where the bar before it ends, of parts that add up to a whole
    double end = 0;
    std::string text{};    ///< behind it: the number with its unit
    std::size_t kind = 0;  ///< bars of one kind have one colour, of eight
  };
  std::string title{};
  std::vector<Bar> bars{};
  std::string note{};  ///< below them
};

/// The bars as SVG; empty where none has a length.
std::string to_svg(const Bars& bars);

}  // namespace xferbench
