// What ran when, a row for each engine or thread. Drawn on pages only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace xferbench {

struct Timeline {
  struct Span {
    double begin = 0;  ///< seconds
    double end = 0;
    std::string label{};  ///< within it, where there is room
    std::string said{};   ///< when somebody points at it, before its times
  };
  struct Row {
    std::string name{};
    std::size_t kind = 0;       ///< rows of one kind have one colour, of eight
    std::vector<Span> spans{};  ///< those that overlap stand beneath each other
  };
  std::string title{};
  std::vector<Row> rows{};
  std::string note{};  ///< which part of the time it is, and what was left out
};

/// The timeline as SVG; empty where nothing took any time. Spans that are too short to be told apart are one.
std::string to_svg(const Timeline& timeline);

}  // namespace xferbench
