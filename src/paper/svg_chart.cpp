// Draws line and scatter charts as SVG.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include "core/lists.hpp"
#include "core/printable.hpp"
#include "core/units.hpp"
#include "paper/chart.hpp"
#include "paper/drawing.hpp"
#include "paper/writers.hpp"

namespace xferbench {

using namespace drawing;

namespace {

constexpr double kAxis = 48;  // pixels below the plot, for the x axis
constexpr double kLeft = 64;
constexpr double kTop = 30;            // pixels above the plot, for the texts of Chart::marks
constexpr double kLine = 16;           // pixels between the names of two series
constexpr double kBesideOnX = 62;      // smallest distance of ticks on the x axis, pixels
constexpr double kBesideOnY = 28;      // smallest distance of ticks on the y axis, pixels
constexpr std::size_t kColours = 8;    // classes c0 ... of page.css
constexpr std::size_t kGrey = 5;       // index of the grey class
constexpr std::size_t kMostDots = 80;  // largest number of dots on a line; more cannot be distinguished

/// Edges of the plot in pixels. The names of the series are to the right of the plot.
struct Room {
  double width = 760;
  double right = 560;
  double bottom = 292;
  std::size_t longest_name = 26;  // bytes
};

Room room_of(Chart::Shape shape, std::size_t series) {
  constexpr double kLowest = 90;  // pixels, shortest y axis
  Room room;
  if (shape == Chart::Shape::usual) return room;
  room.bottom = kTop + std::max(kLowest, kLine * static_cast<double>(series));
  if (shape == Chart::Shape::small) room.width = 388, room.right = 284, room.longest_name = 13;
  return room;
}

/// Maps the numbers of an axis to pixels. Ticks are round numbers, at least `beside` pixels apart; the axis ends at
/// ticks.
class Ruler {
 public:
  Ruler(const Chart::Scale& scale, std::pair<double, double> range, double from, double to, double beside)
      : scale_(scale), from_(from), to_(to) {
    const double most = std::floor(std::abs(to - from) / beside);
    auto [low, high] = range;
    if (!scale.ticks.empty()) {
      std::tie(low, high) = scale.ends;
      if (!(high > low)) high = low + 1;
    } else if (scale.log) {
      base_ = scale.sizes ? 2 : 10;
      low = std::floor(place(low) + 1e-9);
      high = std::max(std::ceil(place(high) - 1e-9), low + 1);
      step_ = std::ceil((high - low) / most);
      high = low + std::ceil((high - low) / step_) * step_;
    } else {
      if (scale.from_zero) low = std::min(low, 0.), high = std::max(high, 0.);
      const double least = std::max(std::abs(low), std::abs(high)) / 1e9;  // smaller differences are rounding errors
      if (!(high - low > least)) {
        const double around = std::max(std::abs(low) / 20, 1e-9);
        low -= around;
        high += around;
      }
      step_ = round_step((high - low) / std::min(5., most));
      low = std::floor(low / step_ + 1e-9) * step_;
      high = std::ceil(high / step_ - 1e-9) * step_;
    }
    low_ = low;
    high_ = high;
  }

  [[nodiscard]] double pixel(double value) const {
    return from_ + (place(value) - low_) / (high_ - low_) * (to_ - from_);
  }

  [[nodiscard]] bool begins_above_zero() const { return !scale_.log && low_ > 0; }

  [[nodiscard]] std::vector<std::pair<std::string, double>> ticks() const {
    std::vector<std::pair<std::string, double>> all;
    for (const auto& [at, name] : scale_.ticks) all.emplace_back(name, pixel(at));
    if (!all.empty()) return all;
    for (int i = 0; i <= std::lround((high_ - low_) / step_); ++i) {
      const double at = low_ + i * step_;
      const double value = scale_.log ? std::pow(base_, at) : std::abs(at) < step_ / 1000 ? 0 : at;
      all.emplace_back(text(value), pixel(value));
    }
    return all;
  }

  [[nodiscard]] std::string text(double value) const {
    const bool is_size = scale_.sizes && value >= 0 && value < 9e18;
    if (is_size) return format_size(static_cast<std::uint64_t>(std::llround(value)));
    const bool is_whole = std::abs(value) < 1e7 && value == std::round(value);
    return is_whole ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
  }

 private:
  [[nodiscard]] double place(double value) const { return scale_.log ? std::log(value) / std::log(base_) : value; }

  const Chart::Scale& scale_;
  double from_;
  double to_;
  double base_ = 10;
  double low_ = 0;  // value at the begin of the axis; on a logarithmic axis, its logarithm
  double high_ = 1;
  double step_ = 1;
};

/// Whether a number can be drawn: not too large, and above zero on a logarithmic scale.
bool fits(const Chart::Scale& scale, double value) {
  constexpr double kMost = 1e100;
  return std::abs(value) < kMost && (!scale.log || value > 1 / kMost);
}

/// Returns the series with only the points that can be drawn, sorted by x.
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

/// Returns the index of each series' colour. Limits are grey. Other series have the colour of Series::kind, or a colour
/// derived from their name, which is the same in every chart. If a colour is taken, the next free colour is used.
std::vector<std::size_t> colours_of(const std::vector<Chart::Series>& all) {
  std::array<bool, kColours> taken{};
  const auto wants = [&taken](const Chart::Series& series) { return series.kind && !taken[*series.kind % kColours]; };
  std::vector<std::size_t> colours(all.size(), kColours);
  taken[kGrey] = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].role == Chart::Series::Role::limit) colours[i] = kGrey;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (wants(all[i])) taken[colours[i] = *all[i].kind % kColours] = true;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (colours[i] < kColours) continue;
    std::uint32_t hash = 2166136261U;  // FNV-1a
    for (const char c : all[i].name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    std::size_t colour = hash % kColours;
    for (std::size_t tries = 0; taken[colour] && tries < kColours; ++tries) colour = (colour + 1) % kColours;
    taken[colour] = true;
    colours[i] = colour;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto like = std::ranges::find(all, all[i].like, &Chart::Series::name);
    if (!all[i].like.empty() && like != all.end()) colours[i] = colours[static_cast<std::size_t>(like - all.begin())];
  }
  return colours;
}

std::string frame(const Chart& chart, const Ruler& x, const Ruler& y, const Room& room) {
  const double bottom = room.bottom;
  std::string svg;
  for (const auto& [text, at] : y.ticks()) {
    svg += path("grid", fmt::format("M{} {:.1f}H{}", kLeft, at, room.right)) + text_at(kLeft - 8, at + 4, "end", text);
  }
  for (const auto& [text, at] : x.ticks()) {
    svg += path("axis", fmt::format("M{:.1f} {}v5", at, bottom)) + text_at(at, bottom + 20, "middle", text);
  }
  svg += path("axis", fmt::format("M{} {}H{}", kLeft, bottom, room.right));
  const auto label = [](const Chart::Scale& scale) { return scale.label + (scale.log ? " (logarithmic)" : ""); };
  const std::string not_from_zero = y.begins_above_zero() ? " (does not begin at zero)" : "";
  return svg + text_at(0, 12, "", label(chart.y) + not_from_zero) +
         text_at((kLeft + room.right) / 2, bottom + 40, "middle", label(chart.x)) + "\n";
}

/// Draws the highlighted ranges of the x axis (Chart::Mark), behind the lines. Leaves out texts that would overlap the
/// text of an earlier range.
std::string drawn(const std::vector<Chart::Mark>& marks, const Ruler& x, const Room& room) {
  constexpr double kNarrowest = 3;
  std::string svg;
  std::vector<std::pair<double, double>> taken;
  for (const Chart::Mark& mark : marks) {
    const std::string tone = mark.tone == Tone::bad ? "bad" : mark.tone == Tone::good ? "good" : "";
    const double from = std::clamp(x.pixel(mark.from), kLeft, room.right);
    const double wide = std::clamp(x.pixel(mark.to), kLeft, room.right) - from;
    svg += mark.to > mark.from ? box("band", from, kTop, std::max(wide, kNarrowest), room.bottom - kTop, mark.text)
                               : path("dashed edge " + tone, fmt::format("M{:.1f} {}V{}", from, kTop, room.bottom));
    const double begin = std::min(from, room.width - width_of(mark.text));
    const double end = begin + width_of(mark.text) + 12;
    const auto in_the_way = [&](const auto& other) { return begin < other.second && other.first < end; };
    if (std::ranges::any_of(taken, in_the_way)) continue;
    svg += text_at(begin, kTop - 8, tone, mark.text);
    taken.emplace_back(begin, end);
  }
  return svg;
}

std::string said_of(const Chart::Series& series, const Chart::Point& p, const Ruler& x, const Ruler& y, bool tells_x) {
  std::string said = (series.name.empty() ? "" : series.name + ": ") + y.text(p.y);
  if (tells_x) said += " at " + x.text(p.x);
  if (!p.more.empty()) said += ", " + p.more;
  return p.low && p.high ? fmt::format("{}, {} to {}", said, y.text(*p.low), y.text(*p.high)) : said;
}

/// Draws the confidence intervals of all points of a line as one area.
std::string area(const Chart::Series& series, const Ruler& x, const Ruler& y) {
  std::string steps;
  const auto go_to = [&](double at, double up) {
    steps += fmt::format("{}{:.1f} {:.1f}", steps.empty() ? "M" : "L", x.pixel(at), y.pixel(up));
  };
  for (const Chart::Point& p : series.points) go_to(p.x, p.high.value_or(p.y));
  for (std::size_t i = series.points.size(); i-- > 0;) {
    go_to(series.points[i].x, series.points[i].low.value_or(series.points[i].y));
  }
  return path("area", steps + "Z");
}

/// Draws a line, and each of its points with its interval and tooltip. `below`: a later line mostly covers this
/// line, so this line is drawn wider.
std::string drawn(const Chart::Series& series, const Ruler& x, const Ruler& y, double right, bool tells_x, bool below) {
  const bool limit = series.role == Chart::Series::Role::limit;
  const bool joined = series.role == Chart::Series::Role::measured;
  const bool dense = joined && series.points.size() > kMostDots;
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
    if (limit || dense) continue;
    if (p.low && p.high) {
      points += path("interval", fmt::format("M{:.1f} {:.1f}V{:.1f}", at, y.pixel(*p.low), y.pixel(*p.high)));
    }
    points += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}</title></circle>", at, up,
                          html_escaped(said_of(series, p, x, y, tells_x)));
  }
  if (limit && series.points.size() == 1)
    line = fmt::format("M{} {:.1f}H{}", kLeft, y.pixel(series.points[0].y), right);
  if (!limit && !joined) return points;
  return (dense ? area(series, x, y) : "") + path(limit ? "dashed" : below ? "line below" : "line", line) + points;
}

/// Whether a line that is drawn later covers most points of the series with index `at`.
bool is_covered(const std::vector<Chart::Series>& all, std::size_t at, const Ruler& y) {
  constexpr double kNear = 2;  // pixels
  const auto covers = [&](const Chart::Series& other) {
    const auto lies_on = [&](const Chart::Point& p) {
      const auto like = std::ranges::find(other.points, p.x, &Chart::Point::x);
      return like != other.points.end() && std::abs(y.pixel(like->y) - y.pixel(p.y)) < kNear;
    };
    const auto near = std::ranges::count_if(all[at].points, lies_on);
    return 2 * static_cast<std::size_t>(near) > all[at].points.size();
  };
  return std::any_of(all.begin() + static_cast<std::ptrdiff_t>(at) + 1, all.end(), covers);
}

/// Returns the heights in pixels of the series' names: close to the ends of their lines, without overlap.
std::vector<double> places_of_names(const std::vector<Chart::Series>& all, const Ruler& y, double bottom) {
  std::vector<std::pair<double, std::size_t>> ends;
  for (std::size_t i = 0; i < all.size(); ++i) ends.emplace_back(y.pixel(all[i].points.back().y), i);
  std::ranges::sort(ends);
  for (std::size_t i = 1; i < ends.size(); ++i) ends[i].first = std::max(ends[i].first, ends[i - 1].first + kLine);
  double lowest = bottom;
  for (std::size_t i = ends.size(); i-- > 0; lowest = ends[i].first - kLine)
    ends[i].first = std::min(ends[i].first, lowest);
  std::vector<double> places(all.size());
  for (const auto& [place, i] : ends) places[i] = place;
  return places;
}

/// Returns the smallest and the largest number of all series; `numbers(series)` returns those of one series.
template <class Numbers>
std::pair<double, double> range_of(const std::vector<Chart::Series>& all, const Numbers& numbers) {
  std::pair range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const Chart::Series& series : all) {
    for (const double value : numbers(series)) range = {std::min(range.first, value), std::max(range.second, value)};
  }
  return range;
}

std::vector<double> on_x(const Chart::Series& series) {
  return holds_everywhere(series) ? std::vector<double>() : list_of(series.points, &Chart::Point::x);
}

std::vector<double> on_y(const Chart::Series& series) {
  std::vector<double> all;
  for (const Chart::Point& p : series.points) all.insert(all.end(), {p.y, p.low.value_or(p.y), p.high.value_or(p.y)});
  return all;
}

}  // namespace

std::vector<LineName> names_of(const Chart& chart) {
  const std::vector<Chart::Series> all = drawable(chart);
  const std::vector<std::size_t> colours = colours_of(all);
  std::vector<LineName> names;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].name.empty()) names.push_back({all[i].name, colours[i], all[i].role});
  }
  return names;
}

std::string to_svg(const Chart& chart) {
  const std::vector<Chart::Series> all = drawable(chart);
  if (std::ranges::all_of(all, holds_everywhere)) return {};
  const Room room = room_of(chart.shape, all.size());
  const Ruler x(chart.x, range_of(all, on_x), kLeft, room.right, kBesideOnX);
  const Ruler y(chart.y, range_of(all, on_y), room.bottom, kTop, kBesideOnY);
  const std::vector<std::size_t> colours = colours_of(all);
  const std::vector<double> places = places_of_names(all, y, room.bottom);
  std::string svg =
      opening(chart.title, room.width, room.bottom + kAxis) + frame(chart, x, y, room) + drawn(chart.marks, x, room);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Chart::Point& last = all[i].points.back();
    const char* joined = all[i].role == Chart::Series::Role::points ? " points" : "";
    svg += fmt::format("<g class=\"c{}{}\">", colours[i], joined) +
           drawn(all[i], x, y, room.right, chart.x.ticks.empty(), is_covered(all, i, y));
    if (!all[i].name.empty()) {
      svg +=
          path("lead", fmt::format("M{:.1f} {:.1f}L{} {:.1f}", holds_everywhere(all[i]) ? room.right : x.pixel(last.x),
                                   y.pixel(last.y), room.right + 14, places[i])) +
          text_at(room.right + 18, places[i] + 4, "", shortened(printable(all[i].name), room.longest_name));
    }
    svg += "</g>\n";
  }
  return svg + "</svg>\n";
}

}  // namespace xferbench
