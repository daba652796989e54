// Numbers over numbers. Drawn on pages only: what else shows a document has the same numbers in its tables.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paper/style.hpp"

namespace xferbench {

struct Chart {
  struct Scale {
    std::string label{};     ///< with the unit: "GB/s"
    bool log = false;        ///< what is not above zero is left out
    bool from_zero = false;  ///< even where all is far above it; not of a logarithm
    bool sizes = false;      ///< bytes, told in powers of 1024
    /// What stands where, in place of round numbers; then the axis has just these ends.
    std::vector<std::pair<double, std::string>> ticks{};
    std::pair<double, double> ends{0, 1};
  };
  struct Point {
    double x = 0;
    double y = 0;
    std::optional<double> low{};  ///< of its interval
    std::optional<double> high{};
    std::string more{};  ///< that is said when somebody points at it
  };
  struct Series {
    enum class Role {
      measured,
      limit,
      points,  ///< measured, and not joined: they do not follow each other
      dots,    ///< the same of so many that each is a dot of which nothing is said
    };
    std::string name;             ///< may be empty, where there is only one
    std::vector<Point> points{};  ///< joined in the order of x; a limit of one point holds everywhere
    Role role = Role::measured;
    std::string like{};                 ///< the name of another series, whose colour it has
    std::optional<std::size_t> kind{};  ///< its colour, of eight; of several of one kind the first has it
  };
  /// A part of the axis of x that stands out, or a place on it where both ends are one.
  struct Mark {
    double from = 0;
    double to = 0;
    std::string text{};
    Tone tone = Tone::plain;
  };
  std::string title{};
  Scale x{};
  Scale y{};
  std::vector<Series> series{};
  std::vector<Mark> marks{};
  enum class Shape {
    usual,
    low,    ///< of few lines, or one of several beneath each other that have the same axis of x
    small,  ///< one of several beside each other
  };
  Shape shape = Shape::usual;
  std::string note{};  ///< below it
};

/// The chart as SVG, whose colours page.css has; empty where there is nothing to draw.
std::string to_svg(const Chart& chart);

/// What its lines are called, and how they look; for where the drawing is wider than the window.
struct LineName {
  std::string name;
  std::size_t colour;  ///< of eight
  Chart::Series::Role role;
};
std::vector<LineName> names_of(const Chart& chart);

}  // namespace xferbench
