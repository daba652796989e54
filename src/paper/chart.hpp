// Line and scatter charts. Only HTML pages draw them; other formats have the same numbers in tables.
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
    std::string label{};     ///< title of the axis, with the unit of its values: "GB/s"
    bool log = false;        ///< logarithmic axis; values that are not above zero are left out
    bool from_zero = false;  ///< the axis begins at zero even if all values are far above it; not for `log`
    bool sizes = false;      ///< values are bytes; ticks are labelled in powers of 1024
    /// Positions and texts of the ticks. Empty: ticks are at round numbers. Otherwise the axis spans exactly `ends`.
    std::vector<std::pair<double, std::string>> ticks{};
    std::pair<double, double> ends{0, 1};
  };
  struct Point {
    double x = 0;
    double y = 0;
    std::optional<double> low{};  ///< lower end of the confidence interval of y
    std::optional<double> high{};
    std::string more{};  ///< additional text in the tooltip of the point
  };
  struct Series {
    enum class Role {
      measured,
      limit,
      points,  ///< measured, drawn without lines between the points because they have no order
      dots,    ///< very many measured points, drawn small and without tooltips
    };
    std::string name;             ///< may be empty if there is only one series
    std::vector<Point> points{};  ///< connected in the order of x; a limit with one point is a horizontal line
    Role role = Role::measured;
    std::string like{};                 ///< name of another series of the chart, to share its colour; may be empty
    std::optional<std::size_t> kind{};  ///< index of the series' colour, one of eight; if several series have the
                                        ///< same index, only the first gets this colour
  };
  /// A highlighted range of the x axis, or a position if both ends are equal.
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
    low,    ///< a flat chart: for few lines, or for charts below each other with a common x axis
    small,  ///< a chart of half the width, for charts side by side
  };
  Shape shape = Shape::usual;
  std::string note{};  ///< text below the chart
};

/// The chart as SVG, with colours from page.css; empty if there is nothing to draw.
std::string to_svg(const Chart& chart);

/// Name and style of one line, for a legend that stays visible if the drawing is wider than the browser window.
struct LineName {
  std::string name;
  std::size_t colour;  ///< index of one of eight colours
  Chart::Series::Role role;
};
std::vector<LineName> names_of(const Chart& chart);

}  // namespace xferbench
