// How numbers went, in a low panel: several of them beneath each other share the axis of time. Drawn on pages only:
// what else shows a document has the same numbers in its tables.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paper/style.hpp"

namespace xferbench {

struct History {
  struct Point {
    double at = 0;  ///< on the axis of time
    double value = 0;
    std::optional<double> low{};  ///< what it lies between
    std::optional<double> high{};
    std::string said{};  ///< shown where one points at it
  };
  struct Line {
    std::string name{};
    std::vector<Point> points{};  ///< in the order of time
  };
  /// What holds over a while.
  struct Level {
    double from = 0;
    double to = 0;
    double value = 0;
  };
  /// A while, or a moment where both are one, that stands out.
  struct Mark {
    double from = 0;
    double to = 0;
    std::string text{};
    Tone tone = Tone::plain;
  };
  std::string title{};
  std::string unit{};      ///< of the values
  bool from_zero = false;  ///< the axis of the values begins there
  std::string along{};     ///< what the axis of time has: "time since the beginning"
  double first = 0;        ///< its ends
  double last = 1;
  std::vector<std::pair<double, std::string>> ticks{};
  std::vector<Line> lines{};
  std::vector<Level> levels{};
  std::vector<Mark> marks{};
};

/// Empty where there is nothing to draw.
std::string to_svg(const History& history);

}  // namespace xferbench
