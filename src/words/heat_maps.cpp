#include "words/heat_maps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/printable.hpp"
#include "core/units.hpp"
#include "model/odd_ones.hpp"
#include "words/cells.hpp"

namespace xferbench {

namespace {

constexpr std::size_t kMostMaps = 6;
constexpr std::size_t kMostGpuMaps = 12;
constexpr std::size_t kMostColumns = 24;  // more do not fit into a line
constexpr std::size_t kMostRows = 48;     // more do not fit on a screen

const Axis* axis_of(const ScenarioDescriptor& scenario, const std::string& name) {
  const auto found = std::ranges::find(scenario.axes, name, &Axis::name);
  return found == scenario.axes.end() ? nullptr : &*found;
}

bool is_over_gpus(const HeatMap& map, const ScenarioDescriptor& scenario) {
  return std::ranges::all_of(std::array{map.rows, map.columns}, [&](const std::string& name) {
    const Axis* axis = axis_of(scenario, name);
    return axis != nullptr && axis->kind == AxisKind::gpus;
  });
}

/// Numbers from the least on, words in the order in which they come.
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
  std::vector<std::string> texts;
  for (auto& [number, text] : values) texts.push_back(std::move(text));
  return texts;
}

/// By the numbers of GPUs, whatever the order in which they come.
void sort_gpus(std::vector<std::string>& values) { std::ranges::stable_sort(values, {}, gpu_numbers); }

/// "GPU 0"; what is no number as it is.
std::string gpu_text(const std::string& value) {
  return printable(gpu_numbers(value).size() == 1 ? "GPU " + value : value);
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

std::vector<const Result*> with_value(std::span<const Result* const> results, const std::string& metric) {
  std::vector<const Result*> found;
  std::ranges::copy_if(results, std::back_inserter(found),
                       [&](const Result* r) { return value_of(*r, metric).has_value(); });
  return found;
}

/// Those with the largest value of that axis, and those without it.
std::vector<const Result*> largest(std::span<const Result* const> results, const std::string& axis) {
  std::uint64_t most = 0;
  for (const Result* r : results) most = std::max(most, r->config.count_or(axis, 0));
  std::vector<const Result*> found;
  for (const Result* r : results) {
    if (r->config.count_or(axis, most) == most) found.push_back(r);
  }
  return found;
}

std::string in_words(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

/// Numbers of a metric in the unit in which they are read best; the title says which.
void scale(Matrix& matrix, const std::string& unit) {
  if (unit != "s") {
    if (unit == "1") matrix.form = Matrix::Form::hundredths;
    if (unit != "1") matrix.title += ", " + unit;
    return;
  }
  std::vector<double> times;
  for (const auto& cell : matrix.cells) {
    if (cell) times.push_back(*cell);
  }
  const std::string suits = unit_for_all(times);
  matrix.title += ", " + suits;
  for (auto& cell : matrix.cells) {
    if (cell) *cell *= in_a_second(suits);
  }
}

/// Cells that differ little look alike. Of shares, all of a thing has the brightest colour, in every map.
void calm(Matrix& matrix, bool of_shares) {
  double highest = of_shares ? 1 : 0;
  for (const auto& cell : matrix.cells) highest = std::max(highest, cell.value_or(0));
  matrix.darkest = highest / 2;
  matrix.brightest = highest;
}

// --- Cells that should be alike -------------------------------------------------------------------------------------

/// What a pair of GPUs has in common with its like: links between them, access, whether they are on one node.
using Joint = std::tuple<unsigned, bool, bool>;

Joint joint_of(const Environment& e, const std::string& from, const std::string& to) {
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

/// Cells of one map that should be alike, and what their cases are about, which is never less sure than what is shown.
struct Alike {
  std::vector<std::size_t> cells{};
  std::vector<model::Estimate> estimates{};
};
using Groups = std::map<Joint, Alike>;

void mark_odd_ones(Matrix& matrix, const Groups& groups) {
  std::set<std::size_t> sizes;
  for (const auto& [joint, alike] : groups) {
    for (const std::size_t odd : model::odd_ones(alike.estimates)) {
      matrix.marked[alike.cells[odd]] = true;
      sizes.insert(alike.cells.size());
    }
  }
  if (sizes.empty()) return;
  matrix.note = fmt::format("* differs by more than {:.0f} % from the median of its group of {} cells",
                            model::kOddMargin * 100, fmt::join(sizes, " or "));
}

// --- Maps of one declaration ----------------------------------------------------------------------------------------

struct Named {
  std::string others;
  Matrix matrix;
  Groups groups{};
  std::vector<const Result*> results{};  ///< that have a cell, over GPUs
};

/// What a declared map is of, and what all that are drawn of it have in common.
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

  [[nodiscard]] Matrix empty_map(std::vector<std::string> rows, std::vector<std::string> columns) const {
    if (over_gpus) {
      for (std::string& row : rows) row = map.rows + " " + gpu_text(row);
      for (std::string& column : columns) column = map.columns + " " + gpu_text(column);
    }
    Matrix matrix(std::move(rows), std::move(columns));
    if (!over_gpus) matrix.corner = map.rows + " \\ " + map.columns;
    if (percent) matrix.form = Matrix::Form::percent;
    return matrix;
  }

  void add(const Result& result, Named& to) const {
    const auto value = value_of(result, map.metric);
    if (!value || !result.config.has(map.rows) || !result.config.has(map.columns)) return;
    const std::string row = axis_text(result, map.rows);
    const std::string column = axis_text(result, map.columns);
    const std::size_t place =
        over_gpus ? to.matrix.place(map.rows + " " + gpu_text(row), map.columns + " " + gpu_text(column))
                  : to.matrix.place(row, column);
    to.matrix.cells[place] = value;
    if (!over_gpus) return;
    to.results.push_back(&result);
    Alike& alike = to.groups[joint_of(environment, row, column)];
    alike.cells.push_back(place);
    const Measurement* headline = headline_of(result, scenario.metrics);
    alike.estimates.push_back(headline == nullptr ? model::Estimate{} : model::estimate_of(*headline));
  }

  /// The title, and the marks.
  [[nodiscard]] Matrix finished(Named named) const {
    Matrix matrix = std::move(named.matrix);
    matrix.title = in_words(map.metric) + (percent ? ", %" : "");
    if (over_gpus) {
      mark_odd_ones(matrix, named.groups);
      if (!percent) scale(matrix, unit);
      calm(matrix, unit == "1");
    } else {
      const auto best = std::ranges::max(matrix.cells);
      for (std::size_t i = 0; i < matrix.cells.size(); ++i) matrix.marked[i] = matrix.cells[i] == best;
    }
    if (!named.others.empty()) matrix.title += ": " + named.others;
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
  const std::vector<const Result*> known = with_value(results, map.metric);
  if (known.empty()) return;
  const std::vector<std::string> axes = other_axes(declared.scenario, map, known);
  std::vector<Named> maps;
  for (const Result* r : map.at_largest.empty() ? known : largest(known, map.at_largest)) {
    const std::string others = others_of(*r, axes);
    auto named = std::ranges::find(maps, others, &Named::others);
    if (named == maps.end()) named = maps.insert(maps.end(), {others, declared.empty_map(rows, columns)});
    declared.add(*r, *named);
  }
  const std::ptrdiff_t least = declared.over_gpus ? 1 : 2;  // one number is told by the table
  std::erase_if(maps, [least](const Named& named) {
    return std::ranges::count_if(named.matrix.cells, [](const auto& cell) { return cell.has_value(); }) < least;
  });
  const std::size_t most = declared.over_gpus ? kMostGpuMaps : kMostMaps;
  std::vector<Matrix>& drawn = declared.over_gpus ? to.over_gpus : to.over_counts;
  for (std::size_t i = 0; i < std::min(maps.size(), most); ++i) {
    std::ranges::copy(maps[i].results, std::back_inserter(to.in_over_gpus));
    drawn.push_back(declared.finished(std::move(maps[i])));
  }
  if (maps.size() > most) notes.push_back(fmt::format("{} more heat maps are left out", maps.size() - most));
}

// --- Findings -------------------------------------------------------------------------------------------------------

std::string label_of(const Finding& finding, std::string_view name) {
  const auto found = std::ranges::find(finding.labels, name, &Labels::value_type::first);
  return found == finding.labels.end() ? "" : found->second;
}

std::vector<std::string> gpus_in(std::span<const Finding* const> findings) {
  std::vector<std::string> gpus;
  for (const Finding* f : findings) {
    for (const char* side : {"a", "b"}) {
      if (std::ranges::find(gpus, label_of(*f, side)) == gpus.end()) gpus.push_back(label_of(*f, side));
    }
  }
  sort_gpus(gpus);
  for (std::string& gpu : gpus) gpu = gpu_text(gpu);
  return gpus;
}

/// What a finding is about besides its two GPUs; not what came of it.
std::string beside_pair(const Finding& finding) {
  std::vector<std::string> parts;
  for (const auto& [name, word] : finding.labels) {
    if (name != "a" && name != "b" && name != "outcome") parts.push_back(name + " " + word);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

namespace {

/// One colour for one number: maps of the same metric, from that place on, share a scale.
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
    const auto declared = std::ranges::find(scenario.metrics, map.metric, &MetricDeclaration::name);
    if (declared != scenario.metrics.end() && declared->unit == "s") continue;  // each map has a unit that suits
    share_scale(maps.over_counts, over_counts);
    share_scale(maps.over_gpus, over_gpus);
  }
  return maps;
}

bool is_of_pair(const Finding& finding) {
  return !finding.metrics.empty() && !label_of(finding, "a").empty() && !label_of(finding, "b").empty();
}

std::vector<Matrix> pair_matrices(std::span<const Finding* const> findings) {
  const std::vector<std::string> gpus = gpus_in(findings);
  std::vector<std::pair<std::string, std::string>> named;  // what they are about, and their metric
  std::vector<Matrix> matrices;
  std::vector<std::string> units;
  for (const Finding* f : findings) {
    const Metric& metric = f->metrics.front();
    const std::pair name(beside_pair(*f), metric.name);
    const auto at = static_cast<std::size_t>(std::ranges::find(named, name) - named.begin());
    if (at == named.size()) {
      named.push_back(name);
      matrices.emplace_back(gpus, gpus);
      units.push_back(metric.unit);
    }
    const std::string a = gpu_text(label_of(*f, "a"));
    const std::string b = gpu_text(label_of(*f, "b"));
    for (const std::size_t place : {matrices[at].place(a, b), matrices[at].place(b, a)}) {
      matrices[at].cells[place] = metric.value;
    }
  }
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const auto& [beside, metric] = named[i];
    matrices[i].title = fmt::format("{}: {}", findings.front()->kind, in_words(metric));
    scale(matrices[i], units[i]);
    calm(matrices[i], units[i] == "1");
    if (!beside.empty()) matrices[i].title += ", " + beside;
  }
  return matrices;
}

}  // namespace xferbench
