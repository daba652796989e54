#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/printable.hpp"
#include "paper/chart.hpp"
#include "paper/drawing.hpp"
#include "paper/writers.hpp"

namespace xferbench {

using namespace drawing;

namespace {

// Where the axes stand, in pixels. To the right of them are the names of the series.
constexpr double kWidth = 760;
constexpr double kHeight = 340;
constexpr double kLeft = 64;
constexpr double kRight = 560;
constexpr double kTop = 30;
constexpr double kBottom = 292;
constexpr std::size_t kLongestName = 26;  // bytes

/// Whether it can be drawn, among others that can.
bool fits(const Chart::Scale& scale, double value) {
  constexpr double kMost = 1e100;
  return std::abs(value) < kMost && (!scale.log || value > 1 / kMost);
}

/// Those that can be drawn, from left to right.
std::vector<Chart::Series> drawable(const Chart& chart) {
  std::vector<Chart::Series> all = chart.series;
  for (Chart::Series& series : all) {
    std::erase_if(series.points, [&](const Chart::Point& p) { return !fits(chart.x, p.x) || !fits(chart.y, p.y); });
    for (Chart::Point& p : series.points) {
      if (p.low && !fits(chart.y, *p.low)) p.low.reset();
      if (p.high && !fits(chart.y, *p.high)) p.high.reset();
    }
    std::ranges::stable_sort(series.points, {}, &Chart::Point::x);
  }
  std::erase_if(all, [](const Chart::Series& series) { return series.points.empty(); });
  return all;
}

bool holds_everywhere(const Chart::Series& series) {
  return series.role == Chart::Series::Role::limit && series.points.size() == 1;
}

/// A colour that a name has in every chart, unless another one of this chart has it already.
std::vector<std::size_t> colours_of(const std::vector<Chart::Series>& all) {
  std::array<bool, kSeriesColours> taken{};
  std::vector<std::size_t> colours;
  for (const Chart::Series& series : all) {
    std::uint32_t hash = 2166136261U;  // FNV-1a
    for (const char c : series.name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    std::size_t colour = hash % kSeriesColours;
    for (std::size_t tries = 0; taken[colour] && tries < kSeriesColours; ++tries)
      colour = (colour + 1) % kSeriesColours;
    taken[colour] = true;
    colours.push_back(colour);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto like = std::ranges::find(all, all[i].like, &Chart::Series::name);
    if (like != all.end()) colours[i] = colours[static_cast<std::size_t>(like - all.begin())];
  }
  return colours;
}

std::string frame(const Chart& chart, const Ruler& x, const Ruler& y) {
  std::string svg;
  for (const auto& [text, at] : y.ticks()) {
    svg += path("grid", fmt::format("M{} {:.1f}H{}", kLeft, at, kRight)) + text_at(kLeft - 8, at + 4, "end", text);
  }
  for (const auto& [text, at] : x.ticks()) {
    svg += path("axis", fmt::format("M{:.1f} {}v5", at, kBottom)) + text_at(at, kBottom + 20, "middle", text);
  }
  svg += path("axis", fmt::format("M{} {}H{}", kLeft, kBottom, kRight));
  const auto label = [](const Chart::Scale& scale) { return scale.label + (scale.log ? " (logarithmic)" : ""); };
  return svg + text_at(0, 12, "", label(chart.y)) +
         text_at((kLeft + kRight) / 2, kHeight - 8, "middle", label(chart.x)) + "\n";
}

/// Its line, and each point with its interval and a title that says them.
std::string drawn(const Chart::Series& series, const Ruler& x, const Ruler& y) {
  const bool limit = series.role == Chart::Series::Role::limit;
  std::string line;
  std::string points;
  if (series.role == Chart::Series::Role::dots) {
    for (const Chart::Point& p : series.points) points += fmt::format("M{:.1f} {:.1f}h0", x.pixel(p.x), y.pixel(p.y));
    return path("dots", points);
  }
  for (const Chart::Point& p : series.points) {
    const double at = x.pixel(p.x);
    const double up = y.pixel(p.y);
    line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", at, up);
    if (limit) continue;
    std::string said = fmt::format("{}: {} at {}", series.name, y.text(p.y), x.text(p.x));
    if (!p.more.empty()) said += ", " + p.more;
    if (p.low && p.high) {
      said += fmt::format(", {} to {}", y.text(*p.low), y.text(*p.high));
      points += path("interval", fmt::format("M{:.1f} {:.1f}V{:.1f}", at, y.pixel(*p.low), y.pixel(*p.high)));
    }
    points += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}</title></circle>", at, up,
                          html_escaped(said));
  }
  if (limit && series.points.size() == 1)
    line = fmt::format("M{} {:.1f}H{}", kLeft, y.pixel(series.points[0].y), kRight);
  if (series.role == Chart::Series::Role::points) return points;
  return path(limit ? "dashed" : "line", line) + points;
}

/// Where the names stand.
std::vector<double> places_of_names(const std::vector<Chart::Series>& all, const Ruler& y) {
  std::vector<double> ends;
  for (const Chart::Series& series : all) ends.push_back(y.pixel(series.points.back().y));
  return apart(ends, kBottom);
}

/// The lowest and the highest of such numbers of these series.
template <class Numbers>
std::pair<double, double> range_of(const std::vector<Chart::Series>& all, const Numbers& numbers) {
  std::pair range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const Chart::Series& series : all) {
    for (const double value : numbers(series)) range = {std::min(range.first, value), std::max(range.second, value)};
  }
  return range;
}

std::vector<double> on_x(const Chart::Series& series) {
  std::vector<double> all;
  for (const Chart::Point& p : series.points) all.push_back(p.x);
  return holds_everywhere(series) ? std::vector<double>() : all;
}

std::vector<double> on_y(const Chart::Series& series) {
  std::vector<double> all;
  for (const Chart::Point& p : series.points) all.insert(all.end(), {p.y, p.low.value_or(p.y), p.high.value_or(p.y)});
  return all;
}

}  // namespace

std::string to_svg(const Chart& chart) {
  const std::vector<Chart::Series> all = drawable(chart);
  if (std::ranges::all_of(all, holds_everywhere)) return {};
  const Ruler x(chart.x, range_of(all, on_x), kLeft, kRight);
  const Ruler y(chart.y, range_of(all, on_y), kBottom, kTop);
  const std::vector<std::size_t> colours = colours_of(all);
  const std::vector<double> places = places_of_names(all, y);
  std::string svg = opening(chart.title, kWidth, kHeight) + frame(chart, x, y);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Chart::Point& last = all[i].points.back();
    const char* joined = all[i].role == Chart::Series::Role::points ? " points" : "";
    svg += fmt::format("<g class=\"c{}{}\">", colours[i], joined) + drawn(all[i], x, y) +
           path("lead", fmt::format("M{:.1f} {:.1f}L{} {:.1f}", holds_everywhere(all[i]) ? kRight : x.pixel(last.x),
                                    y.pixel(last.y), kRight + 14, places[i])) +
           text_at(kRight + 18, places[i] + 4, "", shortened(printable(all[i].name), kLongestName)) + "</g>\n";
  }
  return svg + "</svg>\n";
}

}  // namespace xferbench
