#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/printable.hpp"
#include "paper/drawing.hpp"
#include "paper/history.hpp"
#include "paper/text.hpp"
#include "paper/writers.hpp"

namespace xferbench {

using namespace drawing;

namespace {

class Panel {
 public:
  explicit Panel(const History& history)
      : of_(history),
        bottom_(kTop + std::max(kLeastHeight, 16. * static_cast<double>(history.lines.size()))),
        y_({.from_zero = history.from_zero}, range_of(history), bottom_, kTop, 3) {}

  [[nodiscard]] std::string drawn() const {
    std::string svg = opening(of_.title, kWidth, bottom_ + 44) + frame();
    for (const History::Mark& mark : of_.marks) svg += drawn(mark);
    std::vector<double> ends;
    for (const History::Line& line : of_.lines) ends.push_back(y_.pixel(line.points.back().value) + 4);
    const std::vector<double> places = apart(ends, bottom_);
    for (std::size_t i = 0; i < of_.lines.size(); ++i) svg += drawn(of_.lines[i], i, places[i]);
    for (const History::Level& level : of_.levels) {
      svg += path("level", fmt::format("M{:.1f} {:.1f}H{:.1f}", x(level.from), y_.pixel(level.value), x(level.to)));
    }
    return svg + words_of_marks() + "</svg>\n";
  }

 private:
  static constexpr double kWidth = 600;
  static constexpr double kLeft = 64;
  static constexpr double kRight = 500;  // of the axes; behind them are the names of lines
  static constexpr double kTop = 36;     // below what marks say
  static constexpr double kLeastHeight = 100;
  static constexpr double kLetter = 6.6;        // pixels
  static constexpr std::size_t kMostDots = 80;  // that can be told apart

  [[nodiscard]] double x(double at) const {
    return kLeft + (at - of_.first) / std::max(of_.last - of_.first, 1e-9) * (kRight - kLeft);
  }

  /// The lowest and the highest of all that is drawn.
  static std::pair<double, double> range_of(const History& history) {
    std::pair range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    for (const History::Line& line : history.lines) {
      for (const History::Point& p : line.points) {
        range = {std::min(range.first, p.low.value_or(p.value)), std::max(range.second, p.high.value_or(p.value))};
      }
    }
    return range;
  }

  [[nodiscard]] std::string frame() const {
    std::string svg;
    for (const auto& [text, at] : y_.ticks()) {
      svg += path("grid", fmt::format("M{} {:.1f}H{}", kLeft, at, kRight)) + text_at(kLeft - 8, at + 4, "end", text);
    }
    for (const auto& [at, text] : of_.ticks) {
      svg += path("axis", fmt::format("M{:.1f} {}v5", x(at), bottom_)) + text_at(x(at), bottom_ + 20, "middle", text);
    }
    return svg + path("axis", fmt::format("M{} {}H{}", kLeft, bottom_, kRight)) + text_at(0, 12, "", of_.unit) +
           text_at((kLeft + kRight) / 2, bottom_ + 38, "middle", of_.along) + "\n";
  }

  /// Behind the lines.
  [[nodiscard]] std::string drawn(const History::Mark& mark) const {
    constexpr double kNarrowest = 3;
    if (!(mark.to > mark.from)) return path("dashed edge", fmt::format("M{:.1f} {}V{}", x(mark.from), kTop, bottom_));
    const double from = std::clamp(x(mark.from), kLeft, kRight);
    const double wide = std::max(std::clamp(x(mark.to), kLeft, kRight) - from, kNarrowest);
    return fmt::format("<rect class=\"band\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\">{}</rect>", from,
                       kTop, wide, bottom_ - kTop, titled(mark.text));
  }

  /// Above the panel, those that have room beside the one before.
  [[nodiscard]] std::string words_of_marks() const {
    std::string svg;
    double free = kLeft;
    for (const History::Mark& mark : of_.marks) {
      const double wide = kLetter * static_cast<double>(width(mark.text));
      const double at = std::min(x(mark.from), kWidth - wide);
      if (at < free) continue;
      svg += text_at(at, kTop - 8, mark.tone == Tone::bad ? "bad" : mark.tone == Tone::good ? "good" : "", mark.text);
      free = at + wide + 2 * kLetter;
    }
    return svg;
  }

  /// `place`: of its name.
  [[nodiscard]] std::string drawn(const History::Line& line, std::size_t number, double place) const {
    std::string steps;
    std::string above;
    std::string below;  // back from the right
    std::string dots;
    for (const History::Point& p : line.points) {
      steps += fmt::format("{}{:.1f} {:.1f}", steps.empty() ? "M" : "L", x(p.at), y_.pixel(p.value));
      above += fmt::format("{}{:.1f} {:.1f}", above.empty() ? "M" : "L", x(p.at), y_.pixel(p.high.value_or(p.value)));
      below = fmt::format("L{:.1f} {:.1f}", x(p.at), y_.pixel(p.low.value_or(p.value))) + below;
      if (line.points.size() > kMostDots) continue;
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\">{}</circle>", x(p.at), y_.pixel(p.value),
                          titled(p.said));
    }
    const auto has_range = [](const History::Point& p) { return p.low && p.high; };
    const bool ranges = std::ranges::any_of(line.points, has_range);
    return fmt::format("<g class=\"c{}\">", number % kSeriesColours) +
           (ranges ? path("area", above + below + "Z") : "") + path("thin", steps) + dots +
           (line.name.empty() ? ""
                              : path("line", fmt::format("M{} {:.1f}h12", kRight + 10, place - 4)) +
                                    text_at(kRight + 28, place, "", shortened(printable(line.name), 14))) +
           "</g>\n";
  }

  const History& of_;
  double bottom_;
  Ruler y_;
};

/// Without what cannot be drawn: such numbers come from files.
History drawable(History history) {
  const auto fits = [](double value) { return std::abs(value) < 1e100; };
  for (History::Line& line : history.lines) {
    std::erase_if(line.points, [&](const History::Point& p) {
      return !fits(p.at) || !fits(p.value) || !fits(p.low.value_or(0)) || !fits(p.high.value_or(0));
    });
  }
  std::erase_if(history.lines, [](const History::Line& line) { return line.points.empty(); });
  std::erase_if(history.levels, [&](const History::Level& level) { return !fits(level.value); });
  return history;
}

}  // namespace

std::string to_svg(const History& history) {
  const History shown = drawable(history);
  return shown.lines.empty() ? std::string() : Panel(shown).drawn();
}

}  // namespace xferbench
