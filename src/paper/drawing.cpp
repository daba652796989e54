#include "paper/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/units.hpp"
#include "paper/text.hpp"
#include "paper/writers.hpp"

namespace xferbench::drawing {

Ruler::Ruler(Chart::Scale scale, std::pair<double, double> range, double from, double to, int steps)
    : scale_(std::move(scale)), from_(from), to_(to) {
  auto [low, high] = range;
  if (scale_.log) {
    base_ = scale_.sizes ? 2 : 10;
    low = std::floor(place(low) + 1e-9);
    high = std::max(std::ceil(place(high) - 1e-9), low + 1);
    step_ = std::ceil((high - low) / 8);
    high = low + std::ceil((high - low) / step_) * step_;
  } else {
    if (scale_.from_zero) low = std::min(low, 0.), high = std::max(high, 0.);
    const double least = std::max(std::abs(low), std::abs(high)) / 1e9;  // that two numbers can be told apart by
    if (!(high - low > least)) high = low + std::max(std::abs(low) / 10, 1e-9);
    step_ = round_step((high - low) / steps);
    low = std::floor(low / step_ + 1e-9) * step_;
    high = std::ceil(high / step_ - 1e-9) * step_;
  }
  low_ = low;
  high_ = high;
}

std::vector<std::pair<std::string, double>> Ruler::ticks() const {
  std::vector<std::pair<std::string, double>> all;
  for (int i = 0; i <= std::lround((high_ - low_) / step_); ++i) {
    const double at = low_ + i * step_;
    const double value = scale_.log ? std::pow(base_, at) : std::abs(at) < step_ / 1000 ? 0 : at;
    all.emplace_back(text(value), pixel(value));
  }
  return all;
}

std::string Ruler::text(double value) const {
  const bool is_size = scale_.sizes && value >= 0 && value < 9e18;
  return is_size ? format_size(static_cast<std::uint64_t>(std::llround(value))) : fmt::format("{:.4g}", value);
}

double Ruler::place(double value) const { return scale_.log ? std::log(value) / std::log(base_) : value; }

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
                     width, height, said.empty() ? "" : titled(said));
}

std::string titled(const std::string& text) { return "<title>" + html_escaped(text) + "</title>"; }

std::vector<double> apart(const std::vector<double>& wanted, double lowest) {
  constexpr double kLine = 16;  // from text to text
  std::vector<std::pair<double, std::size_t>> ends;
  for (std::size_t i = 0; i < wanted.size(); ++i) ends.emplace_back(wanted[i], i);
  std::ranges::sort(ends);
  for (std::size_t i = 1; i < ends.size(); ++i) ends[i].first = std::max(ends[i].first, ends[i - 1].first + kLine);
  for (std::size_t i = ends.size(); i-- > 0; lowest = ends[i].first - kLine)
    ends[i].first = std::min(ends[i].first, lowest);
  std::vector<double> places(wanted.size());
  for (const auto& [place, i] : ends) places[i] = place;
  return places;
}

double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double times : {1., 2., 5.}) {
    if (times * power >= least) return times * power;
  }
  return 10 * power;
}

double width_of(std::string_view text) {
  constexpr double kEach = 6.8;  // pixels of a character, in most fonts
  return kEach * static_cast<double>(width(std::string(text)));
}

}  // namespace xferbench::drawing
