// A timeline that shows what ran when, with a row for each engine or thread. Only HTML pages draw it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace xferbench {

struct Timeline {
  struct Span {
    double begin = 0;  ///< seconds
    double end = 0;
    std::string label{};  ///< text inside the span, if there is room
    std::string said{};   ///< tooltip; the begin and duration of the span are appended
  };
  struct Row {
    std::string name{};
    std::size_t kind = 0;       ///< index of the row's colour, one of eight
    std::vector<Span> spans{};  ///< overlapping spans are drawn below each other
  };
  std::string title{};
  std::vector<Row> rows{};
  std::string note{};  ///< which period is shown, and what was left out
};

/// Returns the timeline as SVG; empty if it spans no time. Spans that are too short to be distinguished are merged.
std::string to_svg(const Timeline& timeline);

}  // namespace xferbench
