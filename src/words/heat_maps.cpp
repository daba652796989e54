#include "words/heat_maps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <tuple>

#include "core/lists.hpp"
#include "core/printable.hpp"
#include "core/units.hpp"
#include "model/group_outliers.hpp"
#include "words/case_keys.hpp"

namespace xferbench {

namespace {

using Results = std::vector<const Result*>;

constexpr std::size_t kMostMaps = 6;
constexpr std::size_t kMostGpuMaps = 12;
constexpr std::size_t kMostColumns = 24;  // more do not fit into a line
constexpr std::size_t kMostRows = 48;     // more do not fit on a screen

bool is_over_gpus(const HeatMap& map, const ScenarioDescriptor& scenario) {
  return std::ranges::all_of(std::array{map.rows, map.columns}, [&](const std::string& name) {
    const Axis* axis = scenario.axis(name);
    return axis != nullptr && axis->kind == AxisKind::gpus;
  });
}

/// Returns the values of an axis: numbers in ascending order, words in the order of their first use.
std::vector<std::string> values_of(std::span<const Result* const> results, const std::string& axis) {
  std::vector<std::pair<double, std::string>> values;
  for (const Result* r : results) {
    if (!r->config.has(axis)) continue;
    const std::string text = axis_text(*r, axis);
    if (std::ranges::find(values, text, &std::pair<double, std::string>::second) != values.end()) continue;
    const auto* const count = std::get_if<std::uint64_t>(&r->config.find(axis)->value);
    values.emplace_back(count == nullptr ? 0 : static_cast<double>(*count), text);
  }
  std::ranges::stable_sort(values, {}, &std::pair<double, std::string>::first);
  return list_of(values, [](auto& value) { return std::move(value.second); });
}

void sort_gpus(std::vector<std::string>& values) { std::ranges::stable_sort(values, {}, gpu_numbers); }

/// Returns for example "GPU 0" for "0"; a word stays as it is.
std::string gpu_text(const std::string& value) {
  return printable(gpu_numbers(value).size() == 1 ? "GPU " + value : value);
}

std::optional<double> value_of(const Result& result, const std::string& metric) {
  const Metric* found = result.metric(metric);
  const bool has_number = found != nullptr && result.status == Status::ok && std::isfinite(found->value);
  return has_number ? std::optional(found->value) : std::nullopt;
}

/// Returns the axis values that distinguish one map from the others, for example "size 64 MiB, issue depth".
std::string others_of(const Result& result, const std::vector<std::string>& axes) {
  const auto known = those_of(axes, [&](const std::string& axis) { return result.config.has(axis); });
  const auto parts = list_of(known, [&](const std::string& axis) { return axis + " " + axis_text(result, axis); });
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Returns the axes that vary among the results, without the two axes of the map.
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

/// Returns the results with the largest value of that axis, and those without the axis.
Results largest(std::span<const Result* const> results, const std::string& axis) {
  const std::uint64_t most = most_of(results, [&](const Result* r) { return r->config.count_or(axis, 0); });
  return those_of(results, [&](const Result* r) { return r->config.count_or(axis, most) == most; });
}

std::string in_words(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

/// Converts the numbers of a matrix from `unit` to the most readable unit, and adds that unit to the title.
void scale(Matrix& matrix, const std::string& unit) {
  if (unit != "s") {
    if (unit == "1") matrix.form = Matrix::Form::hundredths;
    if (unit != "1") matrix.title += ", " + unit;
    return;
  }
  const std::string suits = unit_for_all(found_for(matrix.cells));
  matrix.title += ", " + suits;
  for (auto& cell : matrix.cells) {
    if (cell) *cell *= in_a_second(suits);
  }
}

/// Sets a colour scale on which small differences have similar colours. For shares, 100 % has the brightest colour.
void set_shade_range(Matrix& matrix, bool of_shares) {
  double highest = of_shares ? 1 : 0;
  for (const auto& cell : matrix.cells) highest = std::max(highest, cell.value_or(0));
  matrix.darkest = highest / 2;
  matrix.brightest = highest;
}

// --- Groups of cells that should be equal ----------------------------------------------------------------------------

/// What comparable pairs of GPUs share: number of NVLinks between them, peer access, whether they are on one NUMA node.
using LinkClass = std::tuple<unsigned, bool, bool>;

LinkClass link_class_of(const Environment& e, const std::string& from, const std::string& to) {
  const std::vector<int> one = gpu_numbers(from);
  const std::vector<int> other = gpu_numbers(to);
  if (one.size() != 1 || other.size() != 1) return {};
  const Environment::PeerLink link = e.link(one.front(), other.front());
  const auto node_of = [&e](int number) {
    const auto gpu = std::ranges::find(e.gpus, std::optional(number), &Environment::Gpu::index);
    return gpu == e.gpus.end() ? std::nullopt : gpu->numa_node;
  };
  return {link.nvlinks, link.access, node_of(link.from) == node_of(link.to)};
}

/// Cells of one map that should have equal numbers. `estimates` has the main metric of each cell's case. Outliers are
/// found by this metric, because it is at least as certain as the number that the cell shows.
struct Alike {
  std::vector<std::size_t> cells{};
  std::vector<model::Estimate> estimates{};
};
using Groups = std::map<LinkClass, Alike>;

void mark_outliers(Matrix& matrix, const Groups& groups) {
  std::set<std::size_t> sizes;
  for (const auto& [joint, alike] : groups) {
    for (const std::size_t odd : model::group_outliers(alike.estimates)) {
      matrix.marked[alike.cells[odd]] = true;
      sizes.insert(alike.cells.size());
    }
  }
  if (sizes.empty()) return;
  matrix.note = fmt::format("* differs by more than {:.0f} % from the median of its group of {} cells",
                            model::kOutlierMargin * 100, fmt::join(sizes, " or "));
}

// --- Maps of one declaration ----------------------------------------------------------------------------------------

/// A heat map as the scenario declares it, and what all matrices drawn from it share.
struct Declared {
  const HeatMap& map;
  const ScenarioDescriptor& scenario;
  const Environment& environment;
  std::string unit{};
  bool percent = false;
  bool over_gpus = false;

  Declared(const HeatMap& its_map, const ScenarioDescriptor& its_scenario, const Environment& its_environment)
      : map(its_map), scenario(its_scenario), environment(its_environment), over_gpus(is_over_gpus(map, scenario)) {
    const auto* metric = find(scenario.metrics, MetricDeclaration::Kind::metric, map.metric);
    if (metric != nullptr) unit = metric->unit;
    percent = metric != nullptr && metric->format == MetricDeclaration::Format::percent;
  }

  [[nodiscard]] std::string label(const std::string& axis, const std::string& value) const {
    return over_gpus ? axis + " " + gpu_text(value) : value;
  }
  [[nodiscard]] std::vector<std::string> labels(const std::string& axis, std::vector<std::string> values) const {
    for (std::string& value : values) value = label(axis, value);
    return values;
  }

  /// Returns the matrix of results that differ only in the axes of its rows and columns. `others`: values of the other
  /// axes, for the title.
  [[nodiscard]] Matrix drawn(const std::string& others, const std::vector<std::string>& rows,
                             const std::vector<std::string>& columns, const Results& results) const {
    Matrix matrix(labels(map.rows, rows), labels(map.columns, columns));
    matrix.title = in_words(map.metric) + (percent ? ", %" : "");
    if (percent) matrix.form = Matrix::Form::percent;
    Groups groups;
    for (const Result* r : results) {
      const std::string row = axis_text(*r, map.rows);
      const std::string column = axis_text(*r, map.columns);
      const std::size_t place = matrix.place(label(map.rows, row), label(map.columns, column));
      matrix.cells[place] = value_of(*r, map.metric);
      if (!over_gpus) continue;
      Alike& alike = groups[link_class_of(environment, row, column)];
      alike.cells.push_back(place);
      const Measurement* headline = headline_of(*r, scenario.metrics);
      alike.estimates.push_back(headline == nullptr ? model::Estimate{} : model::estimate_of(*headline));
    }
    if (over_gpus) {
      mark_outliers(matrix, groups);
      if (!percent) scale(matrix, unit);
      set_shade_range(matrix, unit == "1");
    } else {
      matrix.corner = map.rows + " \\ " + map.columns;
      const auto best = std::ranges::max(matrix.cells);
      for (std::size_t i = 0; i < matrix.cells.size(); ++i) matrix.marked[i] = matrix.cells[i] == best;
    }
    if (!others.empty()) matrix.title += ": " + others;
    return matrix;
  }
};

void add_maps(const Declared& declared, std::span<const Result* const> results, HeatMaps& to) {
  const HeatMap& map = declared.map;
  std::vector<std::string> rows = values_of(results, map.rows);
  std::vector<std::string> columns = values_of(results, map.columns);
  if (rows.size() < map.least || columns.size() < map.least) return;
  std::vector<std::string>& notes = declared.over_gpus ? to.notes_over_gpus : to.notes_over_counts;
  if (rows.size() > kMostRows || columns.size() > kMostColumns) {
    notes.push_back(fmt::format("no heat map of {}: more than {} values of {} or {} of {}", map.metric, kMostRows,
                                map.rows, kMostColumns, map.columns));
    return;
  }
  if (declared.over_gpus) {
    sort_gpus(rows);
    sort_gpus(columns);
  }
  const Results known = those_of(results, [&](const Result* r) { return value_of(*r, map.metric).has_value(); });
  if (known.empty()) return;
  const std::vector<std::string> axes = other_axes(declared.scenario, map, known);
  Results on_map = map.at_largest.empty() ? known : largest(known, map.at_largest);
  std::erase_if(on_map, [&map](const Result* r) { return !r->config.has(map.rows) || !r->config.has(map.columns); });
  const std::ptrdiff_t least = declared.over_gpus ? 1 : 2;  // minimum numbers; a single one is already in the table
  const std::size_t most = declared.over_gpus ? kMostGpuMaps : kMostMaps;
  std::size_t count = 0;
  for (const auto& [others, those] : by_name(on_map, [&axes](const Result* r) { return others_of(*r, axes); })) {
    Matrix matrix = declared.drawn(others, rows, columns, those);
    if (std::ranges::count_if(matrix.cells, [](const auto& cell) { return cell.has_value(); }) < least) continue;
    if (++count > most) continue;
    if (declared.over_gpus) std::ranges::copy(those, std::back_inserter(to.in_over_gpus));
    (declared.over_gpus ? to.over_gpus : to.over_counts).push_back(std::move(matrix));
  }
  if (count > most) notes.push_back(fmt::format("{} more heat maps not shown", count - most));
}

// --- Findings -------------------------------------------------------------------------------------------------------

std::vector<std::string> gpus_in(std::span<const Finding* const> findings) {
  std::vector<std::string> gpus;
  for (const Finding* f : findings) {
    for (const char* side : {"a", "b"}) add_new(gpus, f->label(side));
  }
  sort_gpus(gpus);
  for (std::string& gpu : gpus) gpu = gpu_text(gpu);
  return gpus;
}

/// Returns the labels of a finding except its two GPUs and its outcome.
std::string beside_pair(const Finding& finding) {
  std::vector<std::string> parts;
  for (const auto& [name, word] : finding.labels) {
    if (name != "a" && name != "b" && name != "outcome") parts.push_back(name + " " + word);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Sets one colour scale for the maps from index `from` on, which must show the same metric.
void share_scale(std::vector<Matrix>& maps, std::size_t from) {
  if (maps.size() < from + 2) return;
  auto [low, high] = maps[from].range();
  for (std::size_t i = from; i < maps.size(); ++i) {
    const auto [its_low, its_high] = maps[i].range();
    low = std::min(low, its_low);
    high = std::max(high, its_high);
  }
  for (std::size_t i = from; i < maps.size(); ++i) maps[i].darkest = low, maps[i].brightest = high;
}

}  // namespace

HeatMaps heat_maps(const ScenarioDescriptor& scenario, std::span<const Result* const> results,
                   const Environment& environment) {
  HeatMaps maps;
  if (results.empty()) return maps;
  for (const HeatMap& map : scenario.heat_maps) {
    const std::size_t over_counts = maps.over_counts.size();
    const std::size_t over_gpus = maps.over_gpus.size();
    add_maps({map, scenario, environment}, results, maps);
    const MetricDeclaration* declared = scenario.metric(map.metric);
    if (declared != nullptr && declared->unit == "s") continue;  // each map of times has a unit of its own
    share_scale(maps.over_counts, over_counts);
    share_scale(maps.over_gpus, over_gpus);
  }
  return maps;
}

bool is_of_pair(const Finding& finding) {
  return !finding.metrics.empty() && !finding.label("a").empty() && !finding.label("b").empty();
}

std::vector<Matrix> pair_matrices(std::span<const Finding* const> findings, const std::string& title) {
  const std::vector<std::string> gpus = gpus_in(findings);
  const auto name_of = [](const Finding* f) { return std::pair(beside_pair(*f), f->metrics.front().name); };
  std::vector<Matrix> matrices;
  for (const auto& [name, those] : by_name(findings, name_of)) {
    const auto& [beside, metric] = name;
    Matrix& matrix = matrices.emplace_back(gpus, gpus);
    for (const Finding* f : those) {
      const std::string a = gpu_text(f->label("a"));
      const std::string b = gpu_text(f->label("b"));
      for (const std::size_t place : {matrix.place(a, b), matrix.place(b, a)}) {
        matrix.cells[place] = f->metrics.front().value;
      }
    }
    const std::string& unit = those.front()->metrics.front().unit;
    matrix.title = fmt::format("{}: {}", title, in_words(metric));
    scale(matrix, unit);
    set_shade_range(matrix, unit == "1");
    if (!beside.empty()) matrix.title += ", " + beside;
  }
  return matrices;
}

}  // namespace xferbench
