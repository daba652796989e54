// Numbers over numbers. Drawn on pages only: what else shows a document has the same numbers in its tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace xferbench {

struct Chart {
  struct Scale {
    std::string label{};     ///< with the unit: "GB/s"
    bool log = false;        ///< what is not above zero is left out
    bool from_zero = false;  ///< even where all is far above it; not of a logarithm
    bool sizes = false;      ///< bytes, told in powers of 1024
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
    std::string name;
    std::vector<Point> points{};  ///< joined in the order of x; a limit of one point holds everywhere
    Role role = Role::measured;
    std::string like{};  ///< the name of another series, whose colour it has
  };
  std::string title{};
  Scale x{};
  Scale y{};
  std::vector<Series> series{};
};

/// The chart as SVG, whose colours page.css has; empty where there is nothing to draw.
std::string to_svg(const Chart& chart);

}  // namespace xferbench
