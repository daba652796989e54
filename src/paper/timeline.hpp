// What ran when, with a row for each engine or thread. Only HTML pages draw it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace xferbench {

struct Timeline {
  struct Span {
    double begin = 0;  ///< seconds
    double end = 0;
    std::string label{};  ///< inside the span, if there is room
    std::string said{};   ///< tooltip; the times follow it
  };
  struct Row {
    std::string name{};
    std::size_t kind = 0;       ///< rows of one kind share a colour; there are eight
    std::vector<Span> spans{};  ///< overlapping ones are drawn below each other
  };
  std::string title{};
  std::vector<Row> rows{};
  std::string note{};  ///< which period is shown, and what was left out
};

/// The timeline as SVG; empty if no time passed. Spans too short to be told apart are merged.
std::string to_svg(const Timeline& timeline);

}  // namespace xferbench
