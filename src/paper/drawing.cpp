#include "paper/drawing.hpp"

#include <fmt/format.h>

#include <cmath>

#include "paper/text.hpp"
#include "paper/writers.hpp"

namespace xferbench::drawing {

std::string opening(const std::string& title, double width, double height) {
  return fmt::format("<svg role=\"img\" aria-label=\"{}\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\">\n",
                     html_escaped(title), width, height, width, height);
}

std::string path(std::string_view kind, const std::string& steps) {
  return fmt::format("<path class=\"{}\" d=\"{}\"/>", kind, steps);
}

std::string text_at(double x, double y, std::string_view kind, const std::string& text) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", kind, x, y, html_escaped(text));
}

std::string box(std::string_view kind, double x, double y, double width, double height, const std::string& said) {
  const std::string its_class = kind.empty() ? "" : fmt::format(" class=\"{}\"", kind);
  return fmt::format("<rect{} x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">{}</rect>", its_class, x, y,
                     width, height, said.empty() ? "" : "<title>" + html_escaped(said) + "</title>");
}

double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double times : {1., 2., 5.}) {
    if (times * power >= least) return times * power;
  }
  return 10 * power;
}

double width_of(std::string_view text) {
  constexpr double kEach = 6.8;  // estimated width of a character in pixels
  return kEach * static_cast<double>(width(std::string(text)));
}

}  // namespace xferbench::drawing
