// What drawings as SVG are made of. Pure functions; page.css has the colours of all classes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "paper/chart.hpp"

namespace xferbench::drawing {

inline constexpr std::size_t kSeriesColours = 8;  // classes c0 ... of page.css

/// From numbers to pixels, its ends at round numbers. `steps`: about so many lie between them.
class Ruler {
 public:
  Ruler(Chart::Scale scale, std::pair<double, double> range, double from, double to, int steps = 5);

  [[nodiscard]] double pixel(double value) const {
    return from_ + (place(value) - low_) / (high_ - low_) * (to_ - from_);
  }
  /// Numbers and where they stand.
  [[nodiscard]] std::vector<std::pair<std::string, double>> ticks() const;
  [[nodiscard]] std::string text(double value) const;

 private:
  [[nodiscard]] double place(double value) const;

  Chart::Scale scale_;
  double from_;
  double to_;
  double base_ = 10;
  double low_ = 0;  // of the logarithms, where it is one
  double high_ = 1;
  double step_ = 1;
};

/// The start of a drawing of so many pixels, whose title is read out in its place.
std::string opening(const std::string& title, double width, double height);

std::string path(std::string_view kind, const std::string& steps);
std::string text_at(double x, double y, std::string_view kind, const std::string& text);
/// Somebody who points at it reads what is said.
std::string box(std::string_view kind, double x, double y, double width, double height, const std::string& said);

/// What is shown when one points at what it stands in.
std::string titled(const std::string& text);

/// Where texts stand that are wanted at these heights, each as near as the others let it, in the order of the heights;
/// none below `lowest`.
std::vector<double> apart(const std::vector<double>& wanted, double lowest);

/// 1, 2 or 5 times a power of ten, at least so much.
double round_step(double least);

/// About how wide a text is drawn.
double width_of(std::string_view text);

}  // namespace xferbench::drawing
