#include "words/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <unordered_map>

#include "core/printable.hpp"
#include "core/shell.hpp"
#include "core/units.hpp"
#include "words/answer.hpp"
#include "words/cells.hpp"
#include "words/charts.hpp"
#include "words/fleet.hpp"
#include "words/heat_maps.hpp"
#include "words/machine.hpp"
#include "words/timelines.hpp"
#include "words/trust.hpp"

namespace xferbench {

namespace {

using Cells = std::vector<Cell>;
using Axes = std::vector<std::string>;

std::string half_width_text(const std::optional<double>& width) { return width ? format_percent(*width) : ""; }

/// Of a metric whose ends are metrics.
std::optional<double> half_width_of(const Result& result, const Metric& metric) {
  const Metric* low = result.metric(metric.name + "_low", metric.gpu);
  const Metric* high = result.metric(metric.name + "_high", metric.gpu);
  if (low == nullptr || high == nullptr || metric.value <= 0) return std::nullopt;
  return (high->value - low->value) / 2 / metric.value;
}

/// A sample of that measurement or what was made of some: a time in the unit of all that it stands among, or so many of
/// its unit.
std::string value_text(const Measurement& m, const std::optional<double>& value, const std::string& time_unit) {
  if (!value) return "";
  return m.unit == "s" ? format_seconds_in(*value, time_unit)
                       : fmt::format("{} {}", format_significant(*value), m.unit);
}

std::string measurement_cell(const std::optional<MetricDeclaration::Beside>& beside, const Measurement& m,
                             const std::string& time_unit) {
  if (!beside) return value_text(m, m.median, time_unit);
  switch (*beside) {
    case MetricDeclaration::Beside::interval: return half_width_text(relative_half_width(m));
    case MetricDeclaration::Beside::clock: return std::string(to_text(m.clock));
    case MetricDeclaration::Beside::p90: return value_text(m, m.p90, time_unit);
    case MetricDeclaration::Beside::p99: return value_text(m, m.p99, time_unit);
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

/// The text of a column for a result, or for one of its GPUs; empty if that has no such number.
std::string cell(const Column& column, const Result& result, const std::string& time_unit,
                 std::optional<int> gpu = {}) {
  const MetricDeclaration& of = *column.of;
  if (of.kind == MetricDeclaration::Kind::measurement) {
    const Measurement* m = result.measurement(of.name, gpu);
    return m == nullptr || m->samples.empty() ? "" : measurement_cell(column.beside, *m, time_unit);
  }
  if (of.kind == MetricDeclaration::Kind::label) return result.label(of.name);
  const Metric* metric = result.metric(of.name, gpu);
  if (metric == nullptr || !std::isfinite(metric->value)) return "";
  return column.beside ? half_width_text(half_width_of(result, *metric)) : metric_cell(of.format, *metric, time_unit);
}

/// What a measurement has in the columns of times that stand side by side.
void add_times(const Measurement& m, std::vector<double>& times) {
  if (m.unit != "s" || m.samples.empty()) return;
  times.push_back(m.median);
  for (const std::optional<double>& percentile : {m.p90, m.p99}) {
    if (percentile) times.push_back(*percentile);
  }
}

/// Times are read down a column, which therefore has one unit; the percentiles beside a median have that one, too.
/// Empty where times lie so far apart that each is read better in its own.
std::string unit_in_table(const std::vector<double>& times) {
  constexpr double kLongest = 1e5;  // from which on nobody reads it as a number of the same column
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

/// Results of one scenario and what varies among them.
struct Group {
  const ScenarioDescriptor& scenario;
  const std::vector<const Result*>& results;
  std::map<std::string, std::size_t> skipped{};  ///< how many for each reason

  Group(const ScenarioDescriptor& of, const std::vector<const Result*>& all) : scenario(of), results(all) {
    for (const Result* r : results) {
      if (r->status == Status::skipped && r->reason != kNotBegun) ++skipped[r->reason];
    }
  }

  /// Whether it was skipped, and others for the same reason.
  [[nodiscard]] bool shares_reason(const Result& r) const {
    const auto own = r.status == Status::skipped ? skipped.find(r.reason) : skipped.end();
    return own != skipped.end() && own->second > 1;
  }

  /// The first that has the axis, if any.
  [[nodiscard]] const Result* with(const std::string& axis) const {
    const auto found = std::ranges::find_if(results, [&](const Result* r) { return r->config.has(axis); });
    return found == results.end() ? nullptr : *found;
  }
  /// Whether those results that have the axis differ in it. That some lack it follows from another axis, which varies.
  [[nodiscard]] bool varies(const std::string& axis) const {
    const Result* first = with(axis);
    return std::ranges::any_of(results, [&](const Result* r) {
      return r->config.has(axis) && axis_text(*r, axis) != axis_text(*first, axis);
    });
  }
  /// Whether a column has anything to say: a value, or for a clock, two different ones.
  [[nodiscard]] bool shows(const Column& column) const {
    std::string first;
    return std::ranges::any_of(results, [&](const Result* r) {
      std::string text = cell(column, *r, {});
      if (text.empty() || text == first) return false;
      const bool is_second = !first.empty();
      first = std::move(text);
      return is_second || column.beside != MetricDeclaration::Beside::clock;
    });
  }
};

/// Axes with one value: {"size", "1 MiB"}.
using Fixed = std::vector<std::pair<std::string, std::string>>;

Fixed fixed_axes(const Group& group) {
  Fixed fixed;
  for (const Axis& axis : group.scenario.axes) {
    const Result* first = group.with(axis.name);
    if (first != nullptr && !group.varies(axis.name)) fixed.emplace_back(axis.name, axis_text(*first, axis.name));
  }
  return fixed;
}

/// Why a case has no numbers, behind the values of its axes.
Table::Row without_numbers(const Result& result, Cells axes) {
  const bool failed = result.status == Status::failed;
  axes.emplace_back(fmt::format("{}: {}", failed ? "FAILED" : "skipped", result.reason),
                    failed ? Tone::bad : Tone::dim);
  return {std::move(axes)};
}

/// Columns behind the axes, the least important first: clocks and percentiles, then numbers from the right, then shares
/// of a limit and speed-ups, then the interval. The first, what a case is about, always stays.
std::vector<std::size_t> least_important(std::span<const Column> columns, std::size_t axes) {
  using Beside = MetricDeclaration::Beside;
  const auto rank = [&columns](std::size_t i) {
    const Column& column = columns[i];
    if (column.beside == Beside::clock) return 0;
    if (column.beside == Beside::p99) return 1;
    if (column.beside == Beside::p90) return 2;
    if (column.beside == Beside::interval) return i == 1 ? 5 : 3;
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

/// What tells cases that were skipped for one reason from the others: "host managed".
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

/// For each reason that several cases were skipped for, one line. Once through the results: of a long list there may be
/// a reason for every other case.
std::vector<std::string> skipped_lines(const Group& group) {
  std::vector<const Axis*> varying;
  for (const Axis& axis : group.scenario.axes) {
    if (group.varies(axis.name)) varying.push_back(&axis);
  }
  std::vector<std::vector<const Result*>> alike;
  std::map<std::string_view, std::size_t> places;
  for (const Result* result : group.results) {
    if (!group.shares_reason(*result)) continue;
    const auto [place, is_new] = places.try_emplace(result->reason, alike.size());
    if (is_new) alike.emplace_back();
    alike[place->second].push_back(result);
  }
  std::vector<std::string> lines;
  for (const std::vector<const Result*>& those : alike) {
    lines.push_back(fmt::format("{} of {} cases skipped{}: {}", those.size(), group.results.size(),
                                common_text(varying, those), those.front()->reason));
  }
  return lines;
}

/// After Ctrl-C there may be hundreds that had not begun, and what was measured would scroll away.
std::vector<const Result*> with_row(const Group& group) {
  std::vector<const Result*> those;
  std::ranges::copy_if(group.results, std::back_inserter(those),
                       [&group](const Result* r) { return r->reason != kNotBegun && !group.shares_reason(*r); });
  return those;
}

std::vector<const Result*> without(std::vector<const Result*> results, const std::vector<const Result*>& others) {
  const std::set<const Result*> gone(others.begin(), others.end());
  std::erase_if(results, [&gone](const Result* r) { return gone.contains(r); });
  return results;
}

/// With a column for each axis that varies.
Table begun_table(const Group& group) {
  Table table;
  for (const Axis& axis : group.scenario.axes) {
    if (group.varies(axis.name)) table.header.push_back(axis.name);
  }
  table.left_columns = table.header.size();
  return table;
}

Cells axis_cells(const Result& result, const Axes& axes) {
  Cells cells;
  for (const std::string& axis : axes) cells.emplace_back(axis_text(result, axis));
  return cells;
}

// Of the samples that pages show: a page of usual size has all of them, and one of very many cases none.
constexpr std::size_t kMostThatOpen = 500;
constexpr std::size_t kSamplesOfAll = 40'000;
constexpr std::size_t kFewestSamples = 50;

Table headline_of(const Group& group, const std::vector<const Result*>& rows) {
  Table table = begun_table(group);
  const Axes axes = table.header;
  std::vector<Column> columns = columns_of(group.scenario.metrics);
  std::erase_if(columns, [&group](const Column& column) { return !group.shows(column); });
  table.least_important = least_important(columns, axes.size());
  std::vector<std::string> units;
  for (const Column& column : columns) {
    table.header.push_back(column.header());
    units.push_back(time_unit_of(*column.of, group.results));
  }
  for (const Result* result : rows) {
    Cells cells = axis_cells(*result, axes);
    if (result->status != Status::ok) {
      table.rows.push_back(without_numbers(*result, std::move(cells)));
      continue;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const bool is_share = columns[i].of->format == MetricDeclaration::Format::percent;
      cells.emplace_back(cell(columns[i], *result, units[i]), is_share ? Tone::bold : Tone::plain);
    }
    table.rows.push_back({std::move(cells)});
    if (rows.size() <= kMostThatOpen) {
      table.rows.back().opens =
          samples_of(*result, group.scenario, std::max(kFewestSamples, kSamplesOfAll / rows.size()));
    }
  }
  return table;
}

/// The GPUs, among several, that have that number in any of the results.
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

/// One number of each GPU: rows are cases, columns GPUs.
Table gpu_table(const Group& group, const MetricDeclaration& of, const std::vector<std::optional<int>>& gpus) {
  Table table = begun_table(group);
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

/// A table for each number that single GPUs have and that has a heading.
std::vector<Table> gpu_tables(const Group& group) {
  std::vector<Table> tables;
  for (const MetricDeclaration& of : group.scenario.metrics) {
    const auto gpus = of.heading.empty() ? std::vector<std::optional<int>>() : gpus_with(of, group.results);
    if (!gpus.empty()) tables.push_back(gpu_table(group, of, gpus));
  }
  return tables;
}

/// Measurements of one result. Percentiles are shown where one is sure of them.
Table table_of(const std::vector<const Measurement*>& measurements) {
  const bool percentiles = std::ranges::any_of(measurements, [](const Measurement* m) { return m->p99.has_value(); });
  Table table{.header = {"measured", "median", "+-", "min"}, .left_columns = 1};
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

Sentence note(std::string text) { return {.text = std::move(text), .tone = Tone::dim, .margin = 2}; }

/// "12 more measurements: --details shows them".
Sentence more_note(std::size_t count, const char* of_these) {
  const bool one = count == 1;
  return note(fmt::format("{} more {}{}: --details shows {}", count, of_these, one ? "" : "s", one ? "it" : "them"));
}

/// Of a single case what its columns were made from, and with `details` all that was measured.
void add_measurements(const Result& result, const ScenarioDescriptor& scenario, bool details, Document& document) {
  std::vector<const Measurement*> shown;
  std::size_t more = 0;
  for (const Measurement& m : result.measurements) {
    if (m.samples.empty()) continue;
    const auto declared = std::ranges::find_if(scenario.metrics, [&](const MetricDeclaration& d) {
      return d.kind == MetricDeclaration::Kind::measurement && d.name == m.name;
    });
    const bool is_column = declared != scenario.metrics.end() && !declared->heading.empty();
    if (details || is_column) {
      shown.push_back(&m);
    } else {
      ++more;
    }
  }
  if (!shown.empty()) document.add(table_of(shown), true);
  if (more > 0) document.add(more_note(more, "measurement"), shown.empty());
}

void add_new(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

/// A case's key without what the section's heading says: "strategy=graph chunks=8".
std::string short_key(const std::string& key, const ScenarioDescriptor& scenario, const Fixed& fixed) {
  std::vector<std::string> parts;
  std::istringstream all(key);
  for (std::string part; std::getline(all, part, '/');) {
    const auto is_part = [&part](const auto& axis) { return part.starts_with(axis.first + "="); };
    if (part != scenario.name && std::ranges::none_of(fixed, is_part)) parts.push_back(part);
  }
  return parts.empty() ? key : fmt::format("{}", fmt::join(parts, " "));
}

/// More would say at length what the matrices below them say at a glance.
constexpr std::size_t kMostRowsBesideMatrices = 24;

/// Nobody reads more in a terminal, and it would hold all of it as text.
constexpr std::size_t kMostHeadlineRows = 1000;

/// What people read to the end. The rest is a flag away.
constexpr std::size_t kMostSentences = 6;
constexpr std::size_t kMostFindingRows = 24;  // of a kind

/// What a scenario's results say together: a table for each kind, matrices, and the sentences.
class Findings {
 public:
  Findings(const Report& report, const Group& group, const Fixed& fixed, bool details)
      : scenario_(group.scenario), fixed_(fixed), all_(details) {
    for (const Finding& f : report.findings) {
      if (f.scenario == scenario_.name) take(f);
    }
  }

  void add_to(Document& document) const {
    for (const auto& [kind, of_pairs] : pairs_) {
      for (Matrix& matrix : pair_matrices(of_pairs)) document.add(std::move(matrix), true);
    }
    for (const std::string& kind : kinds_) {
      Table table = table_of(kind);
      if (!table.header.empty()) document.add(std::move(table), true);  // else it says nothing
    }
    if (!sentences_.empty()) document.add(List(sentences_), true);
    if (more_ > 0) document.add(more_note(more_, "finding"), true);
  }

 private:
  void take(const Finding& f) {
    const bool is_sentence = !f.text.empty() && !f.row;
    if (is_of_pair(f)) pairs_[f.kind].push_back(&f);
    if (is_of_pair(f) && !is_sentence) return;
    const std::size_t before = is_sentence ? sentences_.size() : rows_[f.kind].size();
    if (!all_ && (f.detail || before >= (is_sentence ? kMostSentences : kMostFindingRows))) {
      ++more_;
      if (!f.detail && !is_sentence) ++left_out_[f.kind];
    } else if (is_sentence) {
      sentences_.push_back(f.text);
    } else {
      add_new(kinds_, f.kind);
      rows_[f.kind].push_back(&f);
    }
  }

  /// What findings of a kind are about, then what they say.
  [[nodiscard]] Table table_of(const std::string& kind) const {
    std::vector<std::string> labels;
    std::vector<std::string> metrics;
    for (const Finding* f : rows_.at(kind)) {
      for (const auto& [name, word] : f->labels) add_new(labels, name);
      for (const Metric& metric : f->metrics) add_new(metrics, metric.name);
    }
    Table table{.header = labels, .left_columns = labels.size(), .title = kind};
    table.header.insert(table.header.end(), metrics.begin(), metrics.end());
    for (std::string& name : table.header) std::ranges::replace(name, '_', ' ');
    for (std::size_t i = table.header.size(); i-- > labels.size() + 1;) table.least_important.push_back(i);
    for (const Finding* f : rows_.at(kind)) table.rows.push_back({row_of(*f, labels, metrics)});
    if (const auto more = left_out_.find(kind); more != left_out_.end()) {
      table.rows.push_back({{Cell(fmt::format("and {} more", more->second), Tone::dim)}});
    }
    return table;
  }

  [[nodiscard]] Cells row_of(const Finding& finding, const std::vector<std::string>& labels,
                             const std::vector<std::string>& metrics) const {
    Cells row;
    for (const std::string& name : labels) {
      const auto found = std::ranges::find(finding.labels, name, &std::pair<std::string, std::string>::first);
      const std::string text = found == finding.labels.end() ? "-" : found->second;
      row.emplace_back(name == "case" ? short_key(text, scenario_, fixed_) : text);
    }
    for (const std::string& name : metrics) {
      const auto found = std::ranges::find(finding.metrics, name, &Metric::name);
      row.emplace_back(found == finding.metrics.end() ? "" : format_quantity(found->value, found->unit));
    }
    return row;
  }

  const ScenarioDescriptor& scenario_;
  const Fixed& fixed_;
  bool all_;
  std::vector<std::string> kinds_;  // in the order in which they come
  std::map<std::string, std::vector<const Finding*>> rows_;
  std::map<std::string, std::size_t> left_out_;  // rows, by kind
  std::map<std::string, std::vector<const Finding*>> pairs_;
  std::vector<std::string> sentences_;
  std::size_t more_ = 0;  // that are not shown
};

/// The cases, as many rows as people read, and how many are left out for which reason.
void add_headline(const Group& group, const HeatMaps& maps, bool every_row, Document& document) {
  const std::vector<const Result*> in_rows = with_row(group);
  const bool left_out = !every_row && in_rows.size() > kMostRowsBesideMatrices;
  std::vector<const Result*> shown = left_out ? without(in_rows, maps.in_over_gpus) : in_rows;
  const std::size_t in_matrices = in_rows.size() - shown.size();
  const std::size_t too_many = every_row || shown.size() <= kMostHeadlineRows ? 0 : shown.size() - kMostHeadlineRows;
  shown.resize(shown.size() - too_many);
  if (!shown.empty()) document.add(headline_of(group, shown));
  if (const std::vector<std::string> skipped = skipped_lines(group); !skipped.empty()) {
    document.add(List(skipped, Tone::dim));
  }
  if (in_matrices > 0) {
    document.add(note(fmt::format("{} rows are left out, as the matrices show them; --wide shows them", in_matrices)));
  }
  if (too_many > 0) {
    document.add(
        note(fmt::format("{} rows more are left out; --wide shows them, --json and --csv have them", too_many)));
  }
  const auto not_begun = std::ranges::count_if(group.results, [](const Result* r) { return r->reason == kNotBegun; });
  if (not_begun > 0) {
    document.add(note(fmt::format("{} of {} cases had not begun", not_begun, group.results.size())));
  }
}

void add_maps(const HeatMaps& maps, Document& document) {
  for (const Matrix& map : maps.over_counts) document.add(map, true, Shown::coloured);
  for (const Matrix& map : maps.over_gpus) document.add(map, true);
  for (const std::string& text : maps.notes_over_counts) {
    document.add(Sentence{.text = text, .margin = 2}, true, Shown::coloured);
  }
  if (!maps.notes_over_gpus.empty()) document.add(List(maps.notes_over_gpus), true);
}

std::vector<const Result*> results_of(const Report& report, const ScenarioDescriptor& scenario) {
  std::vector<const Result*> results;
  for (const Result& r : report.results) {
    if (r.config.scenario() == scenario.name) results.push_back(&r);
  }
  return results;
}

/// What failed, and for each scenario its answer.
void add_answers(const Report& report, Descriptors scenarios, Document& document) {
  const auto failed = std::ranges::count(report.results, Status::failed, &Result::status);
  if (failed > 0) {
    const std::size_t all = report.results.size();
    const std::string text = fmt::format("{} of {} case{} FAILED", failed, all, all == 1 ? "" : "s");
    document.add(Sentence{.text = text, .tone = Tone::bad, .strong = true});
  }
  const auto first = [&](const Result& r) { return r.config.scenario() == report.results.front().config.scenario(); };
  const bool several = !std::ranges::all_of(report.results, first);
  for (const ScenarioDescriptor* scenario : scenarios) {
    for (const std::string& answer : answers_of(*scenario, results_of(report, *scenario))) {
      document.add(Sentence{.text = several ? scenario->name + ": " + answer : answer,
                            .tone = Tone::bold,
                            .strong = true,
                            .is_long = true});
    }
  }
}

/// The results of one scenario.
void add_section(const Report& report, const ScenarioDescriptor& scenario, const RunShown& shown, Document& document) {
  const std::vector<const Result*> results = results_of(report, scenario);
  if (results.empty()) return;
  const Group group{scenario, results};
  const Fixed fixed = fixed_axes(group);
  Heading heading{.text = std::string(scenario.name), .marks = document.trust.words()};
  for (const auto& [axis, value] : fixed) heading.common.push_back(axis + " " + value);
  const Environment& environment = report.environment;
  if (scenario.gpus == UsesGpus::one && environment.gpu_count() > 1) {
    heading.common.push_back(fmt::format("GPU {} only", environment.number_of(0)));
  }
  document.add(std::move(heading), true);
  std::vector<Chart> charts = charts_of(scenario, results);
  if (charts.empty()) {
    for (Bars& bars : bars_of(scenario, results)) document.add(std::move(bars), true, Shown::pages);
  }
  for (Chart& chart : charts) document.add(std::move(chart), true, Shown::pages);
  for (Bars& bars : gpu_bars_of(scenario, results)) document.add(std::move(bars), true, Shown::pages);
  const HeatMaps maps = heat_maps(scenario, results, environment);
  add_headline(group, maps, shown.every_row, document);
  if (results.size() == 1 && results.front()->status == Status::ok) {
    add_measurements(*results.front(), scenario, shown.details, document);
  }
  for (Table& table : gpu_tables(group)) document.add(std::move(table), true);
  add_maps(maps, document);
  Findings(report, group, fixed, shown.details).add_to(document);
}

/// Warnings that differ only in their numbers, and in what stands in parentheses, are of one kind.
std::string kind_of(const std::string& warning) {
  std::string kind;
  int depth = 0;
  for (const char c : warning) {
    if (c == '(') ++depth;
    if (depth == 0 && std::isdigit(static_cast<unsigned char>(c)) == 0) kind += c;
    if (c == ')' && depth > 0) --depth;
  }
  return kind;
}

/// "xferbench --suite ci; begun 2026-11-21T10:00:00Z, xferbench 0.1.0 abc1234".
std::string origin_of(const Report& report) {
  constexpr std::size_t kLongest = 300;  // bytes
  std::string command;
  for (const std::string& word : report.command) command += (command.empty() ? "" : " ") + shell_quoted(word);
  const std::string commit = report.tool.git.empty() ? "" : " " + report.tool.git;
  return fmt::format("{}; begun {}, xferbench {}{}", shortened(command, kLongest), report.started_at,
                     report.tool.version, commit);
}

/// Whether all that was begun was skipped for a reason that no continuing would mend.
bool nothing_can_be_measured(const Report& report) {
  const auto cannot = [](const Result& r) {
    return r.status == Status::skipped && r.reason != kNotBegun && r.reason != kNoSamples;
  };
  return !report.results.empty() && std::ranges::all_of(report.results, cannot);
}

}  // namespace

Document document_of(const Report& report, Descriptors scenarios, const RunShown& shown) {
  Document document("xferbench", trust_of(report));
  document.trust.next = shown.next;
  if (nothing_can_be_measured(report)) document.trust.incomplete = "NOTHING MEASURED: every case was skipped";
  if (report.fleet) {
    add_fleet(report, shown.every_row, document);
  } else {
    add_answers(report, scenarios, document);
    document.add(Sentence{.text = machine_line(report.environment), .tone = Tone::dim}, !document.parts.empty());
    document.add(Sentence{.text = origin_of(report), .tone = Tone::dim}, false, Shown::pages);
    for (const ScenarioDescriptor* scenario : scenarios) add_section(report, *scenario, shown, document);
  }
  add_timelines(report, document);
  if (const std::vector<std::string> warnings = warning_lines(report); !warnings.empty()) {
    document.add(Heading{.text = "Warnings"}, true, Shown::elsewhere);
    document.add(List(warnings), false, Shown::elsewhere);
  }
  return document;
}

std::vector<std::string> warning_lines(const Report& report) {
  struct Kind {
    std::string first;  // the case and its warning
    std::size_t cases = 0;
  };
  std::vector<Kind> kinds;
  std::unordered_map<std::string, std::size_t> places;
  for (const Result& r : report.results) {
    for (const std::string& warning : r.warnings) {
      const auto [place, is_new] = places.try_emplace(kind_of(warning), kinds.size());
      const bool alone = report.results.size() == 1;
      if (is_new) kinds.push_back({.first = alone ? warning : fmt::format("{}: {}", r.identity(), warning)});
      ++kinds[place->second].cases;
    }
  }
  std::vector<std::string> lines;
  for (const auto& [first, cases] : kinds) {
    const std::string more =
        cases == 1 ? "" : fmt::format(" (and in {} more case{})", cases - 1, cases == 2 ? "" : "s");
    lines.push_back(first + more);
  }
  return lines;
}

}  // namespace xferbench
