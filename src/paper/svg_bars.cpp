#include "paper/bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "core/printable.hpp"
#include "paper/drawing.hpp"

namespace xferbench {

namespace {

// In pixels. Names are to the left of the bars, numbers to the right.
constexpr double kLongestBegins = 256;
constexpr double kBarsTo = 520;
constexpr double kBarsWidth = 760;
constexpr double kBarsRow = 26;
constexpr std::size_t kLongestBarName = 40;  // bytes

/// Returns the whole chart as a sentence for screen readers.
std::string in_words(const Bars& bars) {
  std::string text = bars.title;
  const char* before = ": ";
  for (const Bars::Bar& bar : bars.bars) {
    text += fmt::format("{}{} {}", before, bar.name, bar.text);
    before = "; ";
  }
  return text;
}

}  // namespace

std::string to_svg(const Bars& bars) {
  const double most = most_of(bars.bars, &Bars::Bar::end);
  if (!(most > 0) || !std::isfinite(most)) return {};
  const double widest = most_of(bars.bars, [](const Bars::Bar& bar) { return drawing::width_of(bar.name) + 12; });
  const double from = std::min(widest, kLongestBegins);
  const auto at = [&](double value) { return from + std::clamp(value / most, 0., 1.) * (kBarsTo - from); };
  const double height = kBarsRow * static_cast<double>(bars.bars.size()) + 8;
  std::string svg = drawing::opening(in_words(bars), kBarsWidth, height);
  double top = 4;
  for (const Bars::Bar& bar : bars.bars) {
    const double begin = at(bar.begin);
    const double end = std::max(at(bar.end), begin + 1);  // at least one pixel, so that every bar can be seen
    const std::string name = shortened(printable(bar.name), kLongestBarName);
    svg += fmt::format("<g class=\"c{}\">", bar.kind % 8) +
           drawing::text_at(from - 10, top + kBarsRow / 2 + 4, "name", name) +
           drawing::box("", begin, top + 4, end - begin, kBarsRow - 8, bar.name + ": " + bar.text) +
           drawing::text_at(end + 8, top + kBarsRow / 2 + 4, "", bar.text) + "</g>\n";
    top += kBarsRow;
  }
  return svg + drawing::path("axis", fmt::format("M{} 0V{}", from, height)) + "</svg>\n";
}

}  // namespace xferbench
