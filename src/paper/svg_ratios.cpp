#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/printable.hpp"
#include "core/units.hpp"
#include "paper/drawing.hpp"
#include "paper/ratios.hpp"
#include "paper/writers.hpp"

namespace xferbench {

using namespace drawing;

namespace {

constexpr double kFurthest = 2;  // ratio; larger changes are drawn at the edge

/// Returns the largest ratio on the axis: at most kFurthest, otherwise enough to show all ratios and intervals.
double reach_of(const Ratios& ratios) {
  double furthest = 1;
  for (const Ratios::Row& row : ratios.rows) {
    for (const double end : {row.ratio, row.low.value_or(row.ratio), row.high.value_or(row.ratio)}) {
      furthest = std::max({furthest, end, end > 0 ? 1 / end : kFurthest});
    }
  }
  return std::min(kFurthest, std::max({1 + 1.3 * (furthest - 1), 1 + 2.5 * ratios.threshold, 1.02}));
}

class Rows {
 public:
  explicit Rows(const Ratios& ratios)
      : of_(ratios), reach_(reach_of(ratios)), bottom_(kTop + kRow * static_cast<double>(ratios.rows.size())) {}

  [[nodiscard]] std::string drawn() const {
    std::string svg = opening(of_.title, kWidth, bottom_ + 44) + frame();
    double middle = kTop + kRow / 2;
    for (const Ratios::Row& row : of_.rows) {
      svg += drawn(row, middle);
      middle += kRow;
    }
    return svg + "</svg>\n";
  }

 private:
  // Positions of the columns in pixels: names, change, axis, verdict.
  static constexpr double kWidth = 740;
  static constexpr std::size_t kLongestName = 42;  // bytes
  static constexpr double kChange = 336;
  static constexpr double kLeft = 356;
  static constexpr double kRight = 620;
  static constexpr double kVerdict = 634;
  static constexpr double kTop = 12;
  static constexpr double kRow = 22;

  [[nodiscard]] double x(double ratio) const {
    const double place = std::log(std::clamp(ratio, 1 / reach_, reach_)) / std::log(reach_);
    return (kLeft + kRight) / 2 + place * (kRight - kLeft) / 2;
  }

  [[nodiscard]] std::string frame() const {
    std::string svg;
    if (of_.threshold > 0) {
      const double from = x(1 - of_.threshold);
      svg += box("equal", from, kTop, x(1 + of_.threshold) - from, bottom_ - kTop, "");
    }
    for (const double ratio : ticks()) {
      const std::string text = ratio == 1 ? "equal" : format_change(ratio - 1, 0);
      svg += path(ratio == 1 ? "axis" : "grid", fmt::format("M{:.1f} {}V{}", x(ratio), kTop, bottom_ + 5)) +
             text_at(x(ratio), bottom_ + 20, "middle", text);
    }
    return svg + text_at((kLeft + kRight) / 2, bottom_ + 38, "middle", of_.along) + "\n";
  }

  /// Returns the ratios at which the axis has ticks, from 1 outwards, without ticks too close to the previous one.
  [[nodiscard]] std::vector<double> ticks() const {
    constexpr std::array kAbove{1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.};
    constexpr std::array kBelow{0.99, 0.98, 0.95, 0.9, 0.8, 0.7, 0.5};
    constexpr double kRoom = 46;
    std::vector<double> all{1};
    for (const auto& side : {kAbove, kBelow}) {
      double last = x(1);
      for (const double ratio : side) {
        if (ratio > reach_ || ratio < 1 / reach_ || std::abs(x(ratio) - last) < kRoom) continue;
        all.push_back(ratio);
        last = x(ratio);
      }
    }
    return all;
  }

  [[nodiscard]] std::string drawn(const Ratios::Row& row, double y) const {
    const bool beyond = row.ratio > reach_ || row.ratio < 1 / reach_;
    const char* tone = row.tone == Tone::bad      ? "bad"
                       : row.tone == Tone::good   ? "good"
                       : row.tone == Tone::notice ? "notice"
                                                  : "dim";
    std::string svg = fmt::format("<g class=\"{}\">", tone) + "<title>" + html_escaped(row.said) + "</title>";
    if (row.low && row.high && !beyond) {
      svg += path("interval", fmt::format("M{:.1f} {:.1f}H{:.1f}", x(*row.low), y, x(*row.high)));
    }
    if (beyond) {  // an arrow out of the axis
      svg += path("arrow", fmt::format("M{:.1f} {:.1f}l{} -5v10z", x(row.ratio), y, row.ratio > 1 ? -9 : 9));
    } else {
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>", x(row.ratio), y);
    }
    return svg + text_at(0, y + 4, "case", shortened(printable(row.name), kLongestName)) +
           text_at(kChange, y + 4, "name", row.text) + text_at(kVerdict, y + 4, "", row.verdict) + "</g>\n";
  }

  const Ratios& of_;
  double reach_;
  double bottom_;
};

}  // namespace

std::string to_svg(const Ratios& ratios) {
  Ratios shown = ratios;
  std::erase_if(shown.rows, [](const Ratios::Row& row) { return !(row.ratio > 0) || !std::isfinite(row.ratio); });
  return shown.rows.empty() ? std::string() : Rows(shown).drawn();
}

}  // namespace xferbench
