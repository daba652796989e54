#include "words/case_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "words/case_keys.hpp"
#include "words/charts.hpp"

namespace xferbench {

namespace {

using Cells = std::vector<Cell>;
using Axes = std::vector<std::string>;

std::string half_width_text(const std::optional<double>& width) { return width ? format_percent(*width) : ""; }

/// Returns half the distance between a metric's "_low" and "_high" metrics, divided by its value; nullopt without them.
std::optional<double> half_width_of(const Result& result, const Metric& metric) {
  const Metric* low = result.metric(metric.name + "_low", metric.gpu);
  const Metric* high = result.metric(metric.name + "_high", metric.gpu);
  if (low == nullptr || high == nullptr || metric.value <= 0) return std::nullopt;
  return (high->value - low->value) / 2 / metric.value;
}

/// Returns a value of the measurement as text: a time in the column's `time_unit`, else in the measurement's unit.
std::string value_text(const Measurement& m, const std::optional<double>& value, const std::string& time_unit) {
  if (!value) return "";
  return m.unit == "s" ? format_seconds_in(*value, time_unit)
                       : fmt::format("{} {}", format_significant(*value), m.unit);
}

std::string measurement_cell(const std::optional<MetricDeclaration::Companion>& companion, const Measurement& m,
                             const std::string& time_unit) {
  if (!companion) return value_text(m, m.median, time_unit);
  switch (*companion) {
    case MetricDeclaration::Companion::interval: return half_width_text(relative_half_width(m));
    case MetricDeclaration::Companion::clock: return std::string(to_text(m.clock));
    case MetricDeclaration::Companion::p90: return value_text(m, m.p90, time_unit);
    case MetricDeclaration::Companion::p99: return value_text(m, m.p99, time_unit);
  }
  return {};
}

std::string metric_cell(MetricDeclaration::Format format, const Metric& metric, const std::string& time_unit) {
  using Format = MetricDeclaration::Format;
  switch (format) {
    case Format::seconds: return format_seconds_in(metric.value, time_unit);
    case Format::percent: return format_percent(metric.value);
    case Format::ratio: return fmt::format("{:.2f}x", metric.value);
    case Format::number:
    case Format::word: break;
  }
  return is_whole(metric.unit) ? fmt::format("{:.0f}", metric.value) : format_significant(metric.value);
}

/// Returns the text of a column for a result, or for one of its GPUs; empty if there is no such number.
std::string cell(const Column& column, const Result& result, const std::string& time_unit,
                 std::optional<int> gpu = {}) {
  const MetricDeclaration& of = *column.of;
  if (of.kind == MetricDeclaration::Kind::measurement) {
    const Measurement* m = result.measurement(of.name, gpu);
    return m == nullptr || m->samples.empty() ? "" : measurement_cell(column.companion, *m, time_unit);
  }
  if (of.kind == MetricDeclaration::Kind::label) return result.label(of.name);
  const Metric* metric = result.metric(of.name, gpu);
  if (metric == nullptr || !std::isfinite(metric->value)) return "";
  return column.companion ? half_width_text(half_width_of(result, *metric))
                          : metric_cell(of.format, *metric, time_unit);
}

/// Appends the median and the percentiles of a measurement to `times`: their columns share a unit.
void add_times(const Measurement& m, std::vector<double>& times) {
  if (m.unit != "s" || m.samples.empty()) return;
  times.push_back(m.median);
  for (const std::optional<double>& percentile : {m.p90, m.p99}) {
    if (percentile) times.push_back(*percentile);
  }
}

/// Returns the common unit for the times of a column and of its percentiles' columns. Empty if the times differ so much
/// that each is easier to read in its own unit.
std::string unit_in_table(const std::vector<double>& times) {
  constexpr double kLongest = 1e5;  // maximum number in a column with a common unit
  std::string unit = unit_for_all(times);
  const double most = times.empty() ? 0 : std::ranges::max(times);
  return most * in_a_second(unit) < kLongest ? unit : "";
}

std::string time_unit_of(const MetricDeclaration& of, const std::vector<const Result*>& results,
                         const std::vector<std::optional<int>>& gpus = {std::nullopt}) {
  std::vector<double> times;
  for (const Result* result : results) {
    if (result->status != Status::ok) continue;
    for (const std::optional<int>& gpu : gpus) {
      if (const Measurement* m = result->measurement(of.name, gpu); of.kind == MetricDeclaration::Kind::measurement) {
        if (m != nullptr) add_times(*m, times);
      } else if (const Metric* metric = result->metric(of.name, gpu); metric != nullptr && metric->unit == "s") {
        times.push_back(metric->value);
      }
    }
  }
  return unit_in_table(times);
}

/// Whether any result has a value in the column. A column of clock names must have two different values.
bool shows(const Group& group, const Column& column) {
  std::string first;
  return std::ranges::any_of(group.results, [&](const Result* r) {
    std::string text = cell(column, *r, {});
    if (text.empty() || text == first) return false;
    const bool is_second = !first.empty();
    first = std::move(text);
    return is_second || column.companion != MetricDeclaration::Companion::clock;
  });
}

/// Returns a row with the axis values of a case and, instead of its numbers, the reason why it has none.
Table::Row without_numbers(const Result& result, Cells axes) {
  const bool failed = result.status == Status::failed;
  axes.emplace_back(fmt::format("{}: {}", failed ? "FAILED" : "skipped", result.reason),
                    failed ? Tone::bad : Tone::dim);
  return {std::move(axes)};
}

/// Returns the indices of the columns after the axes, the least important first: clocks, percentiles, other numbers
/// (from right to left), shares of a limit and speed-ups, and finally the interval of the main metric. Leaves out the
/// main metric, the leftmost of these columns, because a table always shows it.
std::vector<std::size_t> least_important(std::span<const Column> columns, std::size_t axes) {
  using Companion = MetricDeclaration::Companion;
  const auto rank = [&columns](std::size_t i) {
    const Column& column = columns[i];
    if (column.companion == Companion::clock) return 0;
    if (column.companion == Companion::p99) return 1;
    if (column.companion == Companion::p90) return 2;
    if (column.companion == Companion::interval) return i == 1 ? 5 : 3;
    using Format = MetricDeclaration::Format;
    const bool tells_most = column.of->format == Format::percent || column.of->format == Format::ratio;
    return tells_most || column.header() == "GB/s" ? 4 : 3;
  };
  std::vector<std::size_t> order;
  for (std::size_t i = columns.size(); i-- > 1;) order.push_back(i);
  std::ranges::stable_sort(order, {}, rank);
  for (std::size_t& i : order) i += axes;
  return order;
}

/// Returns the axis values that all of these skipped cases share, for example " (host managed)".
std::string common_text(const std::vector<const Axis*>& varying, const std::vector<const Result*>& those) {
  std::vector<std::string> parts;
  for (const Axis* axis : varying) {
    const std::string value = axis_text(*those.front(), axis->name);
    const auto has_it = [&](const Result* r) {
      return r->config.has(axis->name) && axis_text(*r, axis->name) == value;
    };
    if (std::ranges::all_of(those, has_it)) parts.push_back(axis->name + " " + value);
  }
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
}

/// Returns a table without rows, with a column for each axis that varies.
Table empty_table(const Group& group) {
  Table table;
  for (const Axis& axis : group.scenario.axes) {
    if (group.varies(axis.name)) table.header.push_back(axis.name);
  }
  // Cases on each GPU of the run, or from each NUMA node, differ in parameters without an axis.
  for (const char* each : {"gpus", "numa"}) {
    if (group.varies(each)) table.header.emplace_back(each);
  }
  table.left_columns = table.header.size();
  return table;
}

Cells axis_cells(const Result& result, const Axes& axes) {
  return list_of(axes, [&](const std::string& axis) { return Cell(axis_text(result, axis)); });
}

// Limits for the charts of samples that open from table rows on HTML pages. A table with more than kMostThatOpen rows
// has no charts. All its charts together show about kSamplesOfAll samples, each chart at least kFewestSamples.
constexpr std::size_t kMostThatOpen = 500;
constexpr std::size_t kSamplesOfAll = 40'000;
constexpr std::size_t kFewestSamples = 50;

/// Returns the GPUs that have their own value of this metric or measurement in any of the results.
std::vector<std::optional<int>> gpus_with(const MetricDeclaration& of, const std::vector<const Result*>& results) {
  std::set<std::optional<int>> gpus;
  const auto look_at = [&](const auto& all) {
    for (const auto& one : all) {
      if (one.gpu && one.name == of.name) gpus.insert(one.gpu);
    }
  };
  for (const Result* r : results) {
    if (r->status == Status::ok && of.kind == MetricDeclaration::Kind::measurement) look_at(r->measurements);
    if (r->status == Status::ok && of.kind == MetricDeclaration::Kind::metric) look_at(r->metrics);
  }
  return {gpus.begin(), gpus.end()};
}

/// Returns a table of one number for each GPU: rows are cases, columns are GPUs.
Table gpu_table(const Group& group, const MetricDeclaration& of, const std::vector<std::optional<int>>& gpus) {
  Table table = empty_table(group);
  const Axes axes = table.header;
  table.title = "GPU by GPU: " + of.heading;
  table.in_pieces = true;
  for (const auto& gpu : gpus) table.header.push_back(fmt::format("GPU {}", *gpu));
  const std::string unit = time_unit_of(of, group.results, gpus);
  for (const Result* result : group.results) {
    Cells cells = axis_cells(*result, axes);
    bool has_any = false;
    for (const auto& gpu : gpus) {
      cells.emplace_back(result->status == Status::ok ? cell({.of = &of}, *result, unit, gpu) : "");
      has_any = has_any || !cells.back().text.empty();
    }
    if (has_any) table.rows.push_back({std::move(cells)});
  }
  return table;
}

/// Returns the number by which ways to do the same work are compared: smaller is better. nullopt if the case has none.
std::optional<double> rank_of(const Result& r, const ScenarioDescriptor& scenario) {
  const Metric* metric = r.metric(scenario.answer.best);
  const Measurement* m = r.measurement(scenario.answer.best);
  if (r.status != Status::ok || (metric == nullptr && (m == nullptr || m->samples.empty()))) return std::nullopt;
  const double value = metric != nullptr ? metric->value : m->median;
  return scenario.metric(scenario.answer.best)->better == Better::higher ? 1 / value : value;
}

/// Returns for each case its time relative to the fastest way to do the same work: "5.26x". Empty if no work was done
/// in more than one way.
std::vector<std::string> times_of_quickest(const Group& group, const std::vector<const Result*>& rows) {
  if (!group.scenario.answer.ranks_ways) return {};
  const auto work_of = [&group](const Result& r) {
    std::string work;
    for (const std::string_view axis : group.scenario.work_axes) work += axis_text(r, std::string(axis)) + "/";
    return work;
  };
  std::map<std::string, std::vector<double>> ways;
  for (const Result* r : group.results) {
    if (const auto rank = rank_of(*r, group.scenario)) ways[work_of(*r)].push_back(*rank);
  }
  if (std::ranges::none_of(ways, [](const auto& work) { return work.second.size() > 1; })) return {};
  std::vector<std::string> texts;
  for (const Result* r : rows) {
    const auto rank = rank_of(*r, group.scenario);
    const std::vector<double>& all = ways[work_of(*r)];
    texts.push_back(rank && all.size() > 1 ? fmt::format("{:.2f}x", *rank / std::ranges::min(all)) : "");
  }
  return texts;
}

}  // namespace

Group::Group(const ScenarioDescriptor& of, const std::vector<const Result*>& all) : scenario(of), results(all) {
  for (const Result* r : results) {
    if (r->status == Status::skipped && r->reason != kNotBegun) ++skipped[r->reason];
  }
}

bool Group::shares_reason(const Result& r) const {
  const auto own = r.status == Status::skipped ? skipped.find(r.reason) : skipped.end();
  return own != skipped.end() && own->second > 1;
}

const Result* Group::with(const std::string& axis) const {
  const auto found = std::ranges::find_if(results, [&](const Result* r) { return r->config.has(axis); });
  return found == results.end() ? nullptr : *found;
}

bool Group::varies(const std::string& axis) const {
  const Result* first = with(axis);
  return std::ranges::any_of(
      results, [&](const Result* r) { return r->config.has(axis) && axis_text(*r, axis) != axis_text(*first, axis); });
}

Fixed fixed_axes(const Group& group) {
  Fixed fixed;
  for (const Axis& axis : group.scenario.axes) {
    const Result* first = group.with(axis.name);
    if (first != nullptr && !group.varies(axis.name)) fixed.emplace_back(axis.name, axis_text(*first, axis.name));
  }
  return fixed;
}

std::vector<const Result*> with_row(const Group& group) {
  return those_of(group.results,
                  [&group](const Result* r) { return r->reason != kNotBegun && !group.shares_reason(*r); });
}

std::vector<std::string> skipped_lines(const Group& group) {
  const auto varying =
      those_of(pointers_to(group.scenario.axes), [&group](const Axis* axis) { return group.varies(axis->name); });
  const auto sharing = those_of(group.results, [&group](const Result* r) { return group.shares_reason(*r); });
  return list_of(by_name(sharing, &Result::reason), [&](const auto& of_reason) {
    const auto& [reason, those] = of_reason;
    return fmt::format("{} of {} cases skipped{}: {}", those.size(), group.results.size(), common_text(varying, those),
                       reason);
  });
}

Table headline_table(const Group& group, const std::vector<const Result*>& rows) {
  Table table = empty_table(group);
  const Axes axes = table.header;
  std::vector<Column> columns = columns_of(group.scenario.metrics);
  std::erase_if(columns, [&group](const Column& column) { return !shows(group, column); });
  table.least_important = least_important(columns, axes.size());
  std::vector<std::string> units;
  for (const Column& column : columns) {
    table.header.push_back(column.header());
    units.push_back(time_unit_of(*column.of, group.results));
  }
  const std::vector<std::string> times = times_of_quickest(group, rows);
  if (!times.empty()) table.header.emplace_back("vs best");
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const Result* result = rows[at];
    Cells cells = axis_cells(*result, axes);
    if (result->status != Status::ok) {
      table.rows.push_back(without_numbers(*result, std::move(cells)));
      continue;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const bool is_share = columns[i].of->format == MetricDeclaration::Format::percent;
      cells.emplace_back(cell(columns[i], *result, units[i]), is_share ? Tone::bold : Tone::plain);
    }
    if (!times.empty()) cells.emplace_back(times[at]);
    table.rows.push_back({std::move(cells)});
    if (rows.size() <= kMostThatOpen) {
      table.rows.back().opens =
          samples_of(*result, group.scenario, std::max(kFewestSamples, kSamplesOfAll / rows.size()));
    }
  }
  return table;
}

std::vector<Table> gpu_tables(const Group& group) {
  std::vector<Table> tables;
  for (const MetricDeclaration& of : group.scenario.metrics) {
    const auto gpus = of.heading.empty() ? std::vector<std::optional<int>>() : gpus_with(of, group.results);
    if (!gpus.empty()) tables.push_back(gpu_table(group, of, gpus));
  }
  return tables;
}

Table table_of(const std::vector<const Measurement*>& measurements) {
  const bool percentiles = std::ranges::any_of(measurements, [](const Measurement* m) { return m->p99.has_value(); });
  Table table{.header = {"measured", "median", "±", "min"}, .left_columns = 1};
  if (percentiles) table.header.insert(table.header.end(), {"p90", "p99"});
  table.header.insert(table.header.end(), {"max", "n", "clock", "flags"});
  for (const char* name : {"n", "min", "max", "clock", "p90", "p99"}) {
    const auto at = std::ranges::find(table.header, name);
    if (at != table.header.end()) table.least_important.push_back(static_cast<std::size_t>(at - table.header.begin()));
  }
  std::vector<double> times;
  for (const Measurement* m : measurements) add_times(*m, times);
  const std::string unit = unit_in_table(times);
  for (const Measurement* measured : measurements) {
    const Measurement& m = *measured;
    const auto text = [&](const std::optional<double>& value) { return value_text(m, value, unit); };
    Cells row{m.gpu ? fmt::format("{}, GPU {}", m.name, *m.gpu) : m.name, text(m.median),
              half_width_text(relative_half_width(m)), text(m.min)};
    if (percentiles) row.insert(row.end(), {text(m.p90), text(m.p99)});
    row.insert(row.end(), {text(m.max), std::to_string(m.samples.size()), std::string(to_text(m.clock)),
                           fmt::format("{}", fmt::join(m.flags, " "))});
    table.rows.push_back({std::move(row)});
  }
  return table;
}

}  // namespace xferbench
