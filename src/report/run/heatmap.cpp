#include "report/run/heatmap.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "report/cells.hpp"

namespace xferbench {

namespace {

constexpr std::size_t kMostMaps = 6;
constexpr std::size_t kMostColumns = 24;  // more do not fit into a line
constexpr std::size_t kMostRows = 48;     // more do not fit on a screen

/// From low to high in ANSI's 256 colours: dark and blue to bright and yellow, in even steps of lightness.
constexpr std::array kColours{53, 54, 60, 61, 67, 73, 72, 78, 114, 149, 185, 227};
constexpr std::size_t kFirstBright = 5;  // from here on black is read better than white

std::vector<std::string> values_of(std::span<const Result* const> results, const std::string& axis) {
  std::vector<std::string> values;
  for (const Result* r : results) {
    const std::string text = axis_text(*r, axis);
    if (r->config.has(axis) && std::ranges::find(values, text) == values.end()) values.push_back(text);
  }
  return values;
}

std::optional<double> value_of(const Result& result, const std::string& metric) {
  const Metric* found = result.metric(metric);
  const bool has_number = found != nullptr && result.status == Status::ok && std::isfinite(found->value);
  return has_number ? std::optional(found->value) : std::nullopt;
}

/// "size 64 MiB, issue depth": what tells one map from the others.
std::string others_of(const Result& result, const std::vector<std::string>& axes) {
  std::vector<std::string> parts;
  for (const std::string& axis : axes) {
    if (result.config.has(axis)) parts.push_back(axis + " " + axis_text(result, axis));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string coloured(const std::string& cell, double share, const Style& style) {
  if (!style.color) return cell;
  const auto last = static_cast<double>(kColours.size() - 1);
  const auto step = static_cast<std::size_t>(std::lround(std::clamp(share, 0., 1.) * last));
  const int text = step < kFirstBright ? 231 : 16;
  return fmt::format("\x1b[48;5;{}m\x1b[38;5;{}m{}\x1b[0m", kColours[step], text, cell);
}

class Map {
 public:
  Map(const HeatMap& declared, bool percent, std::vector<std::string> rows, std::vector<std::string> columns)
      : declared_(declared),
        percent_(percent),
        rows_(std::move(rows)),
        columns_(std::move(columns)),
        cells_(rows_.size() * columns_.size()) {}

  void add(const Result& result) {
    const auto value = value_of(result, declared_.metric);
    if (!value || !result.config.has(declared_.rows) || !result.config.has(declared_.columns)) return;
    const auto row = std::ranges::find(rows_, axis_text(result, declared_.rows)) - rows_.begin();
    const auto column = std::ranges::find(columns_, axis_text(result, declared_.columns)) - columns_.begin();
    cells_[static_cast<std::size_t>(row) * columns_.size() + static_cast<std::size_t>(column)] = value;
  }

  [[nodiscard]] bool empty() const {
    return std::ranges::none_of(cells_, [](const auto& cell) { return cell.has_value(); });
  }

  [[nodiscard]] std::string text(const std::string& title, const Style& style) const {
    std::vector<double> there;
    for (const auto& cell : cells_) {
      if (cell) there.push_back(*cell);
    }
    const auto [low, high] = std::ranges::minmax(there);
    const std::string corner = declared_.rows + " \\ " + declared_.columns;
    std::size_t left = width(corner);
    for (const std::string& row : rows_) left = std::max(left, width(row));
    std::size_t cell_width = 0;
    for (const std::string& column : columns_) cell_width = std::max(cell_width, width(column));
    for (const auto& cell : cells_) cell_width = std::max(cell_width, width(number(cell)) + 1);  // and an asterisk

    std::string all = "\n  " + style.bold(title) + "\n";
    // A map that is wider than the terminal goes on beneath itself.
    const std::size_t room = style.columns > left + 2 ? (style.columns - left - 2) / (cell_width + 2) : 1;
    const std::size_t at_once = style.columns == 0 ? columns_.size() : std::max<std::size_t>(room, 1);
    for (std::size_t from = 0; from < columns_.size(); from += at_once) {
      const std::size_t to = std::min(from + at_once, columns_.size());
      all += "  " + style.dim(padded(corner, left, true));
      for (std::size_t i = from; i < to; ++i) all += style.dim("  " + padded(columns_[i], cell_width, false));
      for (std::size_t row = 0; row < rows_.size(); ++row) {
        all += "\n  " + style.dim(padded(rows_[row], left, true));
        for (std::size_t i = from; i < to; ++i) {
          all += cell_text(cells_[row * columns_.size() + i], cell_width, low, high, style);
        }
      }
      all += "\n";
    }
    return all;
  }

 private:
  [[nodiscard]] std::string number(const std::optional<double>& cell) const {
    if (!cell) return "-";
    return percent_ ? fmt::format("{:.1f}", *cell * 100) : format_significant(*cell);
  }

  [[nodiscard]] std::string cell_text(const std::optional<double>& cell, std::size_t wide, double low, double high,
                                      const Style& style) const {
    const char* mark = cell == high ? "*" : "";
    std::string text = "  " + padded(mark + number(cell), wide, false);
    if (!cell) return text;
    return coloured(text, high > low ? (*cell - low) / (high - low) : 1, style);
  }

  HeatMap declared_;
  bool percent_;
  std::vector<std::string> rows_;
  std::vector<std::string> columns_;
  std::vector<std::optional<double>> cells_;  // row by row
};

/// The axes besides those of the map that vary among the results.
std::vector<std::string> other_axes(const ScenarioDescriptor& scenario, const HeatMap& map,
                                    std::span<const Result* const> results) {
  std::vector<std::string> others;
  for (const Axis& axis : scenario.axes) {
    const bool on_map = axis.name == map.rows || axis.name == map.columns;
    const bool varies = std::ranges::any_of(
        results, [&](const Result* r) { return axis_text(*r, axis.name) != axis_text(*results.front(), axis.name); });
    if (!on_map && varies) others.push_back(axis.name);
  }
  return others;
}

std::string title_of(const HeatMap& map, bool percent, const std::string& others) {
  std::string metric = map.metric;
  std::ranges::replace(metric, '_', ' ');
  return metric + (percent ? ", %" : "") + (others.empty() ? "" : ": " + others);
}

std::string maps_of(const HeatMap& declared, const ScenarioDescriptor& scenario, std::span<const Result* const> results,
                    const Style& style) {
  const auto* metric = find(scenario.metrics, MetricDeclaration::Kind::metric, declared.metric);
  const bool percent = metric != nullptr && metric->format == MetricDeclaration::Format::percent;
  const std::vector<std::string> rows = values_of(results, declared.rows);
  const std::vector<std::string> columns = values_of(results, declared.columns);
  if (rows.size() < declared.least || columns.size() < declared.least) return {};
  if (rows.size() > kMostRows || columns.size() > kMostColumns) {
    return fmt::format("\n  no heat map of {}: more than {} values of {} or {} of {}\n", declared.metric, kMostRows,
                       declared.rows, kMostColumns, declared.columns);
  }
  const std::vector<std::string> axes = other_axes(scenario, declared, results);
  std::vector<std::pair<std::string, Map>> maps;
  for (const Result* r : results) {
    const std::string others = others_of(*r, axes);
    auto map = std::ranges::find(maps, others, &std::pair<std::string, Map>::first);
    if (map == maps.end()) map = maps.insert(maps.end(), {others, Map(declared, percent, rows, columns)});
    map->second.add(*r);
  }
  std::erase_if(maps, [](const auto& map) { return map.second.empty(); });
  std::string text;
  for (std::size_t i = 0; i < std::min(maps.size(), kMostMaps); ++i) {
    text += maps[i].second.text(title_of(declared, percent, maps[i].first), style);
  }
  if (maps.size() > kMostMaps) text += fmt::format("\n  {} more heat maps are left out\n", maps.size() - kMostMaps);
  return text;
}

}  // namespace

std::string heat_maps(const ScenarioDescriptor& scenario, std::span<const Result* const> results, const Style& style) {
  std::string text;
  if (results.empty()) return text;
  for (const HeatMap& map : scenario.heat_maps) text += maps_of(map, scenario, results, style);
  return text;
}

}  // namespace xferbench
