#include "paper/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/printable.hpp"
#include "core/units.hpp"
#include "paper/drawing.hpp"

namespace xferbench {

namespace {

// In pixels. The names of rows are to the left of the time axis.
constexpr double kTimeFrom = 136;
constexpr double kTimeTo = 744;
constexpr double kTimelineWidth = 760;
constexpr double kLane = 22;
constexpr double kBetweenRows = 6;
constexpr std::size_t kMostLanes = 48;       // more would be unreadable
constexpr std::size_t kLongestRowName = 20;  // bytes
constexpr double kSeen = 1.5;                // pixels; narrower spans cannot be distinguished

using Span = Timeline::Span;

/// The time axis: the shown period, and how times map to pixels.
class TimeScale {
 public:
  explicit TimeScale(const Timeline& timeline) {
    for (const Timeline::Row& row : timeline.rows) {
      for (const Span& span : row.spans) from_ = std::min(from_, span.begin), to_ = std::max(to_, span.end);
    }
  }
  /// Whether the period is shorter than the rounding errors of its times, so that it cannot be drawn.
  [[nodiscard]] bool is_empty() const {
    const double least = 1e-9 * std::max(std::abs(from_), std::abs(to_));
    return !(to_ - from_ > least) || !std::isfinite(to_ - from_);
  }
  [[nodiscard]] double at(double time) const {
    return kTimeFrom + std::clamp((time - from_) / (to_ - from_), 0., 1.) * (kTimeTo - kTimeFrom);
  }

  /// Draws the grid and the labels of the axis: round times in one unit, with as many decimals as needed.
  [[nodiscard]] std::string axis(double bottom) const {
    const auto [unit, one] = to_ >= 1      ? std::pair("s", 1.)
                             : to_ >= 1e-3 ? std::pair("ms", 1e-3)
                                           : std::pair("us", 1e-6);
    const double step = drawing::round_step((to_ - from_) / 6);
    const int decimals = std::clamp(-static_cast<int>(std::floor(std::log10(step / one) + 1e-9)), 0, 9);
    std::string svg;
    for (double tick = std::ceil(from_ / step - 1e-9) + 0.; tick * step <= to_; ++tick) {
      const double x = at(tick * step);
      const std::string text = fmt::format("{:.{}f} {}", tick * step / one, decimals, unit);
      svg += drawing::path("grid", fmt::format("M{:.1f} 0V{}", x, bottom)) +
             drawing::text_at(std::min(x, kTimelineWidth - drawing::width_of(text) / 2), bottom + 16, "middle", text);
    }
    return svg;
  }

 private:
  double from_ = std::numeric_limits<double>::infinity();
  double to_ = -std::numeric_limits<double>::infinity();
};

/// The spans of a row, distributed to lanes below each other such that the spans of a lane do not overlap.
struct Lanes {
  std::vector<std::vector<const Span*>> all{};
  std::size_t left_out = 0;  ///< number of spans for which there was no lane

  Lanes(const std::vector<Span>& spans, std::size_t most) {
    for (const Span& span : spans) {
      const double least = 1e-9 * std::abs(span.begin);  // rounding error of a time
      const auto is_free = [&](const auto& lane) { return lane.back()->end <= span.begin + least; };
      auto lane = std::ranges::find_if(all, is_free);
      if (lane == all.end() && all.size() == most) {
        ++left_out;
        continue;
      }
      if (lane == all.end()) lane = all.insert(all.end(), std::vector<const Span*>());
      lane->push_back(&span);
    }
  }
};

std::string drawn(const std::vector<const Span*>& spans, double top, const TimeScale& scale) {
  const double begin = scale.at(spans.front()->begin);
  constexpr double kGap = 1;  // pixels between neighbouring spans
  const double whole = scale.at(spans.back()->end) - begin;
  const double wide = whole > 4 * kGap ? whole - kGap : std::max(whole, kGap);
  const Span& first = *spans.front();
  const double seconds = spans.back()->end - first.begin;
  const std::string when = fmt::format("from {}, {} long", format_seconds(first.begin), format_seconds(seconds));
  const std::string said =
      spans.size() == 1 ? first.said : fmt::format("{}, and {} more", first.said, spans.size() - 1);
  const std::string svg = drawing::box("", begin, top + 2, wide, kLane - 4, said + ": " + when);
  const bool has_room = spans.size() == 1 && !first.label.empty() && drawing::width_of(first.label) < wide;
  return has_room ? svg + drawing::text_at(begin + wide / 2, top + kLane / 2 + 4, "within", first.label) : svg;
}

/// Draws the spans of a lane. Merges neighbours that are too short to be seen and have no visible gap between them.
std::string drawn_lane(const std::vector<const Span*>& lane, double top, const TimeScale& scale) {
  const auto is_short = [&](const Span* span) { return scale.at(span->end) - scale.at(span->begin) < kSeen; };
  std::string svg;
  std::vector<const Span*> together;
  for (const Span* span : lane) {
    const bool goes_on = !together.empty() && is_short(span) && is_short(together.back()) &&
                         scale.at(span->begin) - scale.at(together.back()->end) < kSeen / 2;
    if (!goes_on && !together.empty()) {
      svg += drawn(together, top, scale);
      together.clear();
    }
    together.push_back(span);
  }
  return svg + drawn(together, top, scale) + "\n";
}

}  // namespace

std::string to_svg(const Timeline& timeline) {
  const TimeScale scale(timeline);
  if (scale.is_empty()) return {};
  std::string rows;
  double top = 4;
  std::size_t lanes_left = kMostLanes;
  std::size_t left_out = 0;
  for (const Timeline::Row& row : timeline.rows) {
    const Lanes lanes(row.spans, lanes_left);
    lanes_left -= lanes.all.size();
    left_out += lanes.left_out;
    if (lanes.all.empty()) continue;
    const std::string name = shortened(printable(row.name), kLongestRowName);
    rows += fmt::format("<g class=\"c{}\">", row.kind % 8) +
            drawing::text_at(kTimeFrom - 10, top + kLane / 2 + 4, "name", name) + "\n";
    for (const auto& lane : lanes.all) {
      rows += drawn_lane(lane, top, scale);
      top += kLane;
    }
    rows += "</g>";
    top += kBetweenRows;
  }
  const double height = top + (left_out > 0 ? 44 : 24);
  std::string svg = drawing::opening(timeline.title, kTimelineWidth, height) + scale.axis(top) + rows;
  if (left_out > 0) svg += drawing::text_at(0, height - 6, "", fmt::format("{} more not shown", left_out));
  return svg + "</svg>\n";
}

}  // namespace xferbench
