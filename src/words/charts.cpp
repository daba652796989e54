#include "words/charts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "words/case_keys.hpp"

namespace xferbench {

namespace {

using Results = std::vector<const Result*>;

constexpr std::size_t kLeastValues = 3;
constexpr std::size_t kMostLines = 8;
constexpr std::size_t kFewLines = 3;  // maximum series, limits included, of charts that are drawn smaller
constexpr std::size_t kMostPanels = 6;
constexpr std::array<std::size_t, 7> kLineColours{0, 1, 2, 3, 4, 6, 7};  // classes of page.css; 5 is for limits

std::string values_text(const Result& r, const std::vector<std::string>& axes) {
  std::vector<std::string> texts;
  for (const std::string& axis : axes) {
    if (!r.config.has(axis)) continue;
    const Case::Param* param = r.config.find(axis);
    const bool speaks = param->kind == AxisKind::choice || param->kind == AxisKind::size;
    texts.push_back((speaks ? "" : axis + " ") + axis_text(r, axis));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

auto by_values(const Results& results, const std::vector<std::string>& axes) {
  return by_name(results, [&](const Result* r) { return values_text(*r, axes); });
}

/// Converts the times of a chart to a readable unit: 5.3 us, and not 5.3e-06 s. `most`: the largest time in seconds.
void set_time_unit(double most, Chart& chart) {
  const std::string unit = unit_for_all(std::array{most});
  const double times = in_a_second(unit);
  chart.y.label = unit;
  for (Chart::Series& series : chart.series) {
    for (Chart::Point& p : series.points) {
      p.y *= times;
      if (p.low) *p.low *= times;
      if (p.high) *p.high *= times;
    }
  }
}

class Drawer {
 public:
  Drawer(const ScenarioDescriptor& scenario, const LineChart& of) : scenario_(scenario), of_(of) {
    y_ = scenario_.metric(of.y);
  }

  [[nodiscard]] std::vector<Chart> charts(std::span<const Result* const> results) const {
    auto all = drawn<Chart>(results, [this](const auto& panel, const auto& some) { return chart_of(panel, some); });
    const auto has_few = [](const Chart& chart) { return chart.series.size() <= kFewLines; };
    if (!std::ranges::all_of(all, has_few)) return all;
    for (Chart& chart : all) chart.shape = all.size() > 1 ? Chart::Shape::small : Chart::Shape::low;
    return all;
  }

  /// Returns bar charts for those line charts whose x axis would have a single value.
  [[nodiscard]] std::vector<Bars> bars(std::span<const Result* const> results) const {
    return drawn<Bars>(results, [this](const auto& panel, const auto& some) { return bars_of(panel, some); });
  }

 private:
  template <class Drawing, class Draw>
  [[nodiscard]] std::vector<Drawing> drawn(std::span<const Result* const> results, const Draw& draw) const {
    const Results with_numbers =
        those_of(results, [this](const Result* r) { return r->status == Status::ok && x_of(*r) && point_of(*r); });
    std::vector<Drawing> all;
    for (const auto& [panel, some] : by_values(with_numbers, of_.panels)) {
      if (all.size() == kMostPanels) break;
      if (auto drawing = draw(panel, some)) all.push_back(*std::move(drawing));
    }
    return all;
  }

  [[nodiscard]] std::string name_of_y() const { return y_->heading.empty() ? of_.y : y_->heading; }

  [[nodiscard]] std::optional<Bars> bars_of(const std::string& panel, const Results& results) const {
    constexpr std::size_t kMostBars = 12;
    const std::vector<std::string> axes = axes_of_lines(results);
    const auto lines = by_values(results, axes);
    const bool one_value = std::ranges::all_of(results, [&](const Result* r) { return x_of(*r) == x_of(*results[0]); });
    if (!one_value || lines.size() < kLeastValues || lines.size() > kMostBars) return std::nullopt;
    Bars bars{.title = name_of_y() + (panel.empty() ? "" : ": " + panel)};
    for (const auto& [name, some] : lines) {
      const double best = line_of(name, some, [this](const Result& r) { return point_of(r); }).points.front().y;
      const std::string text = in_percent() ? format_percent(best / 100) : format_with_unit(best, y_->unit);
      bars.bars.push_back({.name = name, .end = best, .text = text});
    }
    const std::vector<std::string> differ = undrawn_axes(axes, [&results](const std::string& axis) {
      return set_of(results, [&](const Result* r) { return axis_text(*r, axis); }).size() > 1;
    });
    if (!differ.empty()) bars.note = fmt::format("The cases also differ in {}.", fmt::join(differ, ", "));
    return bars;
  }

  [[nodiscard]] std::optional<double> x_of(const Result& r) const {
    if (!r.config.has(of_.x)) return std::nullopt;
    const auto& value = r.config.find(of_.x)->value;
    const auto* const count = std::get_if<std::uint64_t>(&value);
    return count == nullptr ? std::nullopt : std::optional(static_cast<double>(*count));
  }

  [[nodiscard]] bool in_percent() const { return y_->format == MetricDeclaration::Format::percent; }

  static std::optional<Chart::Point> point_of(const Measurement* m) {
    if (m == nullptr || m->samples.empty()) return std::nullopt;
    Chart::Point point{.y = m->median};
    if (m->ci95) point.low = m->ci95->low, point.high = m->ci95->high;
    return point;
  }

  /// Returns a number of the case with the number's confidence interval. A rate without an interval of its own gets the
  /// relative interval of the time from which it was computed.
  [[nodiscard]] std::optional<Chart::Point> point_of(const Result& r) const {
    if (y_ == nullptr) return std::nullopt;
    if (y_->kind == MetricDeclaration::Kind::measurement) return point_of(r.measurement(of_.y));
    const Metric* metric = r.metric(of_.y);
    if (metric == nullptr || !std::isfinite(metric->value)) return std::nullopt;
    const double times = in_percent() ? 100 : 1;
    Chart::Point point{.y = metric->value * times};
    const Metric* low = r.metric(of_.y + "_low");
    const Metric* high = r.metric(of_.y + "_high");
    const Measurement* headline = headline_of(r, scenario_.metrics);
    const auto width = headline == nullptr ? std::nullopt : relative_half_width(*headline);
    if (low != nullptr && high != nullptr) {
      point.low = low->value * times, point.high = high->value * times;
    } else if (metric->unit == "GB/s" && width) {
      point.low = point.y * (1 - *width), point.high = point.y * (1 + *width);
    }
    return point;
  }

  [[nodiscard]] std::vector<std::string> axes_of_lines(const Results& results) const {
    if (!of_.lines.empty()) return of_.lines;
    std::vector<std::string> axes;
    for (const Axis& axis : scenario_.axes) {
      if (axis.name == of_.x || has_item(of_.panels, axis.name)) continue;
      const Results with_axis = those_of(results, [&](const Result* r) { return r->config.has(axis.name); });
      const auto text = [&](const Result* r) { return axis_text(*r, axis.name); };
      if (set_of(with_axis, text).size() > 1) axes.push_back(axis.name);
    }
    return axes;
  }

  [[nodiscard]] std::optional<Chart> chart_of(const std::string& panel, const Results& results) const {
    const std::set<double> values = set_of(results, [this](const Result* r) { return *x_of(*r); });
    const std::vector<std::string> axes = axes_of_lines(results);
    const auto lines = by_values(results, axes);
    if (values.size() < kLeastValues || lines.size() > kMostLines) return std::nullopt;
    // The x axis is logarithmic if the ratio of its largest to its smallest value is at least this.
    constexpr double kDecades = 30;
    Chart chart{.title = name_of_y() + " over " + of_.x + (panel.empty() ? "" : ": " + panel),
                .x = {.label = of_.x,
                      .log = *values.begin() > 0 && *values.rbegin() / *values.begin() >= kDecades,
                      .sizes = scenario_.axis(of_.x)->kind == AxisKind::size},
                .y = {.label = in_percent() ? "%" : y_->unit, .from_zero = !in_percent()}};
    for (const auto& [name, some] : lines) {
      chart.series.push_back(
          line_of(name.empty() ? "measured" : name, some, [this](const Result& r) { return point_of(r); }));
      for (const std::string& also : of_.also) {
        chart.series.push_back(line_of((name.empty() ? "" : name + ", ") + also, some,
                                       [&also](const Result& r) { return point_of(r.measurement(also)); }));
      }
    }
    add_limit(results, chart);
    chart.note = best_case_note(lines, axes);
    double least = HUGE_VAL;
    double most = 0;
    for (const Chart::Series& series : chart.series) {
      for (const Chart::Point& p : series.points) least = std::min(least, p.y), most = std::max(most, p.y);
    }
    chart.y.log = y_->unit == "s" && least > 0 && most / least >= kDecades;
    if (y_->unit == "s") set_time_unit(most, chart);
    return chart;
  }

  /// Returns a note that names the axes in which cases with the same x differ: a point shows only the best of them.
  [[nodiscard]] std::string best_case_note(const std::vector<std::pair<std::string, Results>>& lines,
                                           const std::vector<std::string>& axes) const {
    const auto differs = [&](const std::string& axis) {
      return std::ranges::any_of(lines, [&](const auto& line) {
        std::map<double, std::set<std::string>> values;
        for (const Result* r : line.second) values[*x_of(*r)].insert(axis_text(*r, axis));
        return std::ranges::any_of(values, [](const auto& at) { return at.second.size() > 1; });
      });
    };
    const std::vector<std::string> differ = undrawn_axes(axes, differs);
    if (differ.empty()) return {};
    return fmt::format("Each point is the best of its cases, which differ in {}.", fmt::join(differ, ", "));
  }

  /// Returns the axes for which `holds` is true, except those that the chart shows.
  template <class Holds>
  [[nodiscard]] std::vector<std::string> undrawn_axes(const std::vector<std::string>& axes, const Holds& holds) const {
    std::vector<std::string> those;
    for (const Axis& axis : scenario_.axes) {
      const bool is_drawn = axis.name == of_.x || has_item(axes, axis.name) || has_item(of_.panels, axis.name);
      if (!is_drawn && holds(axis.name)) those.push_back(axis.name);
    }
    return those;
  }

  template <class PointOf>
  [[nodiscard]] Chart::Series line_of(const std::string& name, const Results& results, const PointOf& its_point) const {
    std::map<double, Chart::Point> best;
    for (const Result* r : results) {
      std::optional<Chart::Point> point = its_point(*r);
      if (!point) continue;
      point->x = *x_of(*r);
      const auto [known, is_new] = best.emplace(point->x, *point);
      const bool is_better = y_->better == Better::lower ? point->y < known->second.y : point->y > known->second.y;
      if (!is_new && is_better) known->second = *point;
    }
    Chart::Series series{.name = name};
    for (const auto& [x, point] : best) series.points.push_back(point);
    return series;
  }

  /// Adds a line for the limit. Cases with the same x may have different limits: the line shows the highest.
  void add_limit(const Results& results, Chart& chart) const {
    std::map<double, double> limits;
    for (const Result* r : results) {
      const Metric* metric = of_.limit.empty() ? nullptr : r->metric(of_.limit);
      if (metric != nullptr) limits[*x_of(*r)] = std::max(limits[*x_of(*r)], metric->value);
    }
    if (limits.empty()) return;
    Chart::Series series{.name = of_.limit, .role = Chart::Series::Role::limit};
    std::ranges::replace(series.name, '_', ' ');
    for (const auto& [x, y] : limits) series.points.push_back({.x = x, .y = y});
    chart.series.push_back(std::move(series));
  }

  const ScenarioDescriptor& scenario_;
  const LineChart& of_;
  const MetricDeclaration* y_ = nullptr;
};

std::vector<const Metric*> of_gpus(const Result& r, const std::string& name) {
  return those_of(pointers_to(r.metrics),
                  [&](const Metric* metric) { return metric->gpu && metric->name == name && r.status == Status::ok; });
}

Bars bars_of(const GpuBars& of, const std::string& panel, const Result& r) {
  constexpr std::size_t kAlone = 5;  // index of a muted colour
  const std::vector<const Metric*> alone = of_gpus(r, of.alone);
  const std::vector<const Metric*> at_once = of_gpus(r, of.at_once);
  Bars bars{.title = fmt::format("Each of {} GPUs alone, and all at once{}{}", at_once.size(),
                                 panel.empty() ? "" : ": ", panel)};
  const auto add = [&bars](const Metric& metric, const char* how, std::size_t kind) {
    bars.bars.push_back({fmt::format("GPU {}{}", *metric.gpu, how), 0, metric.value,
                         format_with_unit(metric.value, metric.unit), kind});
  };
  for (const Metric* metric : at_once) {
    const auto by_itself = std::ranges::find(alone, metric->gpu, &Metric::gpu);
    if (by_itself != alone.end()) add(**by_itself, " alone", kAlone);
    add(*metric, "", 0);
  }
  return bars;
}

}  // namespace

std::optional<Chart> samples_of(const Result& result, const ScenarioDescriptor& scenario, std::size_t most) {
  constexpr std::size_t kLeast = 10;
  const Measurement* const m = headline_of(result, scenario.metrics);
  if (m == nullptr || m->samples.size() < kLeast || m->samples.are_released()) return std::nullopt;
  const std::size_t stride = (m->samples.size() + most - 1) / most;
  const std::string nth = stride == 1 ? "" : fmt::format(", one in {}", stride);
  Chart chart{.title = fmt::format("{}: {} samples of {}{}", result.config.key(), m->samples.size(), m->name, nth),
              .x = {.label = "sample"},
              .y = {.label = m->unit}};
  Chart::Series samples{.name = "samples", .role = Chart::Series::Role::dots};
  for (std::size_t i = 0; i < m->samples.size(); i += stride) {
    samples.points.push_back({.x = static_cast<double>(i + 1), .y = m->samples[i]});
  }
  chart.series = {std::move(samples),
                  {.name = "median", .points = {{.y = m->median}}, .role = Chart::Series::Role::limit}};
  if (m->unit == "s") set_time_unit(m->max, chart);
  return chart;
}

std::vector<Chart> charts_of(const ScenarioDescriptor& scenario, std::span<const Result* const> results) {
  std::vector<Chart> charts;
  // Colour indices by name of the line: a line has the same colour in all charts of the scenario.
  std::map<std::string, std::size_t> colours;
  for (const LineChart& of : scenario.charts) {
    for (Chart& chart : Drawer(scenario, of).charts(results)) {
      for (Chart::Series& series : chart.series) {
        if (series.role == Chart::Series::Role::limit) continue;
        series.kind = colours.emplace(series.name, kLineColours[colours.size() % kLineColours.size()]).first->second;
      }
      charts.push_back(std::move(chart));
    }
  }
  return charts;
}

std::vector<Bars> bars_of(const ScenarioDescriptor& scenario, std::span<const Result* const> results) {
  for (const LineChart& of : scenario.charts) {
    if (auto bars = Drawer(scenario, of).bars(results); !bars.empty()) return bars;
  }
  return {};
}

std::vector<Bars> gpu_bars_of(const ScenarioDescriptor& scenario, std::span<const Result* const> results) {
  constexpr std::size_t kLeastGpus = 3;
  std::vector<Bars> all;
  for (const GpuBars& of : scenario.gpu_bars) {
    const auto gpus = [&of](const Result* r) { return of_gpus(*r, of.at_once).size(); };
    const Results those(results.begin(), results.end());
    for (const auto& [panel, some] : by_values(those, of.panels)) {
      const Result* most = *std::ranges::max_element(some, {}, gpus);
      if (gpus(most) >= kLeastGpus && all.size() < kMostPanels) all.push_back(bars_of(of, panel, *most));
    }
  }
  return all;
}

}  // namespace xferbench
