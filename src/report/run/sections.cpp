#include "report/run/sections.hpp"

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

#include "core/units.hpp"
#include "report/cells.hpp"

namespace xferbench {

namespace {

using Cells = std::vector<std::string>;

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
  return unit_for_all(times);
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

std::vector<std::pair<std::string, std::string>> fixed_axes(const Group& group) {
  std::vector<std::pair<std::string, std::string>> fixed;
  for (const Axis& axis : group.scenario.axes) {
    const Result* first = group.with(axis.name);
    if (first != nullptr && !group.varies(axis.name)) fixed.emplace_back(axis.name, axis_text(*first, axis.name));
  }
  return fixed;
}

/// Why a case has no numbers, behind the values of its axes.
Grid::Row without_numbers(const Result& result, Cells axes) {
  const bool failed = result.status == Status::failed;
  std::vector<Tone> tones(axes.size(), Tone::plain);
  tones.push_back(failed ? Tone::bad : Tone::dim);
  axes.push_back(fmt::format("{}: {}", failed ? "FAILED" : "skipped", result.reason));
  return {std::move(axes), std::move(tones)};
}

/// Columns behind the axes, the least important first: clocks and percentiles, then numbers from the right, then shares
/// of a limit, then the interval. The first, what a case is about, always stays.
std::vector<std::size_t> least_important(std::span<const Column> columns, std::size_t axes) {
  using Beside = MetricDeclaration::Beside;
  const auto rank = [&columns](std::size_t i) {
    const Column& column = columns[i];
    if (column.beside == Beside::clock) return 0;
    if (column.beside == Beside::p99) return 1;
    if (column.beside == Beside::p90) return 2;
    if (column.beside == Beside::interval) return i == 1 ? 5 : 3;
    return column.of->format == MetricDeclaration::Format::percent ? 4 : 3;
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

Grid headline_of(const Group& group, const std::vector<const Result*>& rows) {
  Grid grid;
  for (const Axis& axis : group.scenario.axes) {
    if (group.varies(axis.name)) grid.header.push_back(axis.name);
  }
  const Cells axes = grid.header;
  grid.left_columns = axes.size();
  std::vector<Tone> tones(axes.size(), Tone::plain);
  std::vector<Column> columns = columns_of(group.scenario.metrics);
  std::erase_if(columns, [&group](const Column& column) { return !group.shows(column); });
  grid.least_important = least_important(columns, axes.size());
  std::vector<std::string> units;
  for (const Column& column : columns) {
    grid.header.push_back(column.header());
    units.push_back(time_unit_of(*column.of, group.results));
    tones.push_back(column.of->format == MetricDeclaration::Format::percent ? Tone::bold : Tone::plain);
  }
  for (const Result* result : rows) {
    Cells cells;
    for (const std::string& axis : axes) cells.push_back(axis_text(*result, axis));
    if (result->status != Status::ok) {
      grid.rows.push_back(without_numbers(*result, std::move(cells)));
      continue;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) cells.push_back(cell(columns[i], *result, units[i]));
    grid.rows.push_back({std::move(cells), tones});
  }
  return grid;
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
Grid gpu_grid(const Group& group, const MetricDeclaration& of, const std::vector<std::optional<int>>& gpus) {
  Grid grid;
  for (const Axis& axis : group.scenario.axes) {
    if (group.varies(axis.name)) grid.header.push_back(axis.name);
  }
  const Cells axes = grid.header;
  grid.left_columns = axes.size();
  for (const auto& gpu : gpus) grid.header.push_back(fmt::format("GPU {}", *gpu));
  const std::string unit = time_unit_of(of, group.results, gpus);
  for (const Result* result : group.results) {
    Cells cells;
    for (const std::string& axis : axes) cells.push_back(axis_text(*result, axis));
    bool has_any = false;
    for (const auto& gpu : gpus) {
      cells.push_back(result->status == Status::ok ? cell({.of = &of}, *result, unit, gpu) : "");
      has_any = has_any || !cells.back().empty();
    }
    if (has_any) grid.rows.push_back({std::move(cells)});
  }
  return grid;
}

/// A table for each number that single GPUs have and that has a heading.
std::vector<std::pair<std::string, Grid>> gpu_grids(const Group& group) {
  std::vector<std::pair<std::string, Grid>> grids;
  for (const MetricDeclaration& of : group.scenario.metrics) {
    const auto gpus = of.heading.empty() ? std::vector<std::optional<int>>() : gpus_with(of, group.results);
    if (!gpus.empty()) grids.emplace_back("GPU by GPU: " + of.heading, gpu_grid(group, of, gpus));
  }
  return grids;
}

/// Every measurement of one result: what the headline was made from. Percentiles are shown where one is sure of them.
Grid measurements_of(const Result& result) {
  const bool percentiles =
      std::ranges::any_of(result.measurements, [](const Measurement& m) { return m.p99.has_value(); });
  Grid grid{.header = {"measured", "median", "+-", "min"}, .left_columns = 1};
  if (percentiles) grid.header.insert(grid.header.end(), {"p90", "p99"});
  grid.header.insert(grid.header.end(), {"max", "n", "clock", "flags"});
  for (const char* name : {"n", "min", "max", "clock", "p90", "p99"}) {
    const auto at = std::ranges::find(grid.header, name);
    if (at != grid.header.end()) grid.least_important.push_back(static_cast<std::size_t>(at - grid.header.begin()));
  }
  std::vector<double> times;
  for (const Measurement& m : result.measurements) add_times(m, times);
  const std::string unit = unit_for_all(times);
  for (const Measurement& m : result.measurements) {
    if (m.samples.empty()) continue;
    const auto text = [&](const std::optional<double>& value) { return value_text(m, value, unit); };
    Cells row{m.gpu ? fmt::format("{}, GPU {}", m.name, *m.gpu) : m.name, text(m.median),
              half_width_text(relative_half_width(m)), text(m.min)};
    if (percentiles) row.insert(row.end(), {text(m.p90), text(m.p99)});
    row.insert(row.end(), {text(m.max), std::to_string(m.samples.size()), std::string(to_text(m.clock)),
                           fmt::format("{}", fmt::join(m.flags, " "))});
    grid.rows.push_back({std::move(row)});
  }
  return grid;
}

void add_new(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

/// A case's key without what the section's title says: "strategy=graph chunks=8".
std::string short_key(const std::string& key, const Section& section) {
  std::vector<std::string> parts;
  std::istringstream all(key);
  for (std::string part; std::getline(all, part, '/');) {
    const auto is_part = [&part](const auto& axis) { return part.starts_with(axis.first + "="); };
    if (part != section.scenario->name && std::ranges::none_of(section.fixed, is_part)) parts.push_back(part);
  }
  return parts.empty() ? key : fmt::format("{}", fmt::join(parts, " "));
}

Cells finding_row(const Finding& finding, const std::vector<std::string>& labels,
                  const std::vector<std::string>& metrics, const Section& section) {
  Cells row;
  for (const std::string& name : labels) {
    const auto found = std::ranges::find(finding.labels, name, &std::pair<std::string, std::string>::first);
    const std::string text = found == finding.labels.end() ? "-" : found->second;
    row.push_back(name == "case" ? short_key(text, section) : text);
  }
  for (const std::string& name : metrics) {
    const auto found = std::ranges::find(finding.metrics, name, &Metric::name);
    row.push_back(found == finding.metrics.end() ? "" : format_quantity(found->value, found->unit));
  }
  return row;
}

/// Findings of one kind as rows: what they are about, then what they say.
Grid findings_of(const std::vector<const Finding*>& findings, const Section& section) {
  std::vector<std::string> labels;
  std::vector<std::string> metrics;
  for (const Finding* f : findings) {
    for (const auto& [name, word] : f->labels) add_new(labels, name);
    for (const Metric& metric : f->metrics) add_new(metrics, metric.name);
  }
  Grid grid{.header = labels, .left_columns = labels.size()};
  grid.header.insert(grid.header.end(), metrics.begin(), metrics.end());
  for (std::string& name : grid.header) std::ranges::replace(name, '_', ' ');
  for (std::size_t i = grid.header.size(); i-- > labels.size() + 1;) grid.least_important.push_back(i);
  for (const Finding* f : findings) grid.rows.push_back({finding_row(*f, labels, metrics, section)});
  return grid;
}

/// More would say at length what the matrices below them say at a glance.
constexpr std::size_t kMostRowsBesideMatrices = 24;

/// Nobody reads more in a terminal, and it would hold all of it as text.
constexpr std::size_t kMostHeadlineRows = 1000;

/// What people read to the end. The rest is a flag away.
constexpr std::size_t kMostSentences = 6;
constexpr std::size_t kMostFindingRows = 24;  // of a kind

/// What a scenario's results say together: a table for each kind, matrices, and the sentences.
void add_findings(const Report& report, FindingsShown which, Section& section) {
  std::vector<std::string> kinds;
  std::map<std::string, std::vector<const Finding*>> rows;
  std::map<std::string, std::size_t> left_out;  // rows, by kind
  std::map<std::string, std::vector<const Finding*>> pairs;
  const bool all = which == FindingsShown::all;
  for (const Finding& f : report.findings) {
    if (f.scenario != section.scenario->name) continue;
    const bool is_sentence = !f.text.empty() && !f.row;
    if (is_of_pair(f)) pairs[f.kind].push_back(&f);
    if (is_of_pair(f) && !is_sentence) continue;
    const std::size_t before = is_sentence ? section.sentences.size() : rows[f.kind].size();
    if (!all && (f.detail || before >= (is_sentence ? kMostSentences : kMostFindingRows))) {
      ++section.more;
      if (!f.detail && !is_sentence) ++left_out[f.kind];
    } else if (is_sentence) {
      section.sentences.push_back(f.text);
    } else {
      add_new(kinds, f.kind);
      rows[f.kind].push_back(&f);
    }
  }
  for (const auto& [kind, of_pairs] : pairs) {
    std::ranges::move(pair_matrices(of_pairs), std::back_inserter(section.pairs));
  }
  for (const std::string& kind : kinds) {
    Grid grid = findings_of(rows[kind], section);
    if (const std::size_t more = left_out[kind]; more > 0) {
      grid.rows.push_back({.cells = {fmt::format("and {} more", more)}, .tones = {Tone::dim}});
    }
    if (!grid.header.empty()) section.findings.emplace_back(kind, std::move(grid));  // else it says nothing
  }
}

Section section_of(const Report& report, const ScenarioDescriptor& scenario, FindingsShown which, RowsShown rows) {
  Section section;
  section.scenario = &scenario;
  for (const Result& r : report.results) {
    if (r.config.scenario() == scenario.name) section.results.push_back(&r);
  }
  if (section.results.empty()) return section;
  const Group group{scenario, section.results};
  section.fixed = fixed_axes(group);
  const Environment& environment = report.environment;
  if (scenario.gpus == UsesGpus::one && environment.gpu_count() > 1) section.on_gpu = environment.number_of(0);
  section.maps = heat_maps(scenario, section.results, report.environment);
  const std::vector<const Result*> in_rows = with_row(group);
  const bool left_out = rows == RowsShown::not_in_matrices && in_rows.size() > kMostRowsBesideMatrices;
  std::vector<const Result*> shown = left_out ? without(in_rows, section.maps.in_over_gpus) : in_rows;
  section.in_matrices = in_rows.size() - shown.size();
  if (rows == RowsShown::not_in_matrices && shown.size() > kMostHeadlineRows) {
    section.too_many = shown.size() - kMostHeadlineRows;
    shown.resize(kMostHeadlineRows);
  }
  section.headline = headline_of(group, shown);
  section.skipped = skipped_lines(group);
  const auto not_begun = [](const Result* r) { return r->reason == kNotBegun; };
  section.not_begun = static_cast<std::size_t>(std::ranges::count_if(section.results, not_begun));
  const Result& first = *section.results.front();
  if (section.results.size() == 1 && first.status == Status::ok) section.measurements = measurements_of(first);
  section.by_gpu = gpu_grids(group);
  add_findings(report, which, section);
  return section;
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

}  // namespace

std::vector<Section> sections_of(const Report& report, Descriptors scenarios, FindingsShown which, RowsShown rows) {
  std::vector<Section> sections;
  for (const ScenarioDescriptor* scenario : scenarios) {
    Section section = section_of(report, *scenario, which, rows);
    if (!section.results.empty()) sections.push_back(std::move(section));
  }
  return sections;
}

std::string more_line(const Section& section) {
  if (section.more == 0) return {};
  return fmt::format("{} more finding{}: --all-findings shows {}", section.more, section.more == 1 ? "" : "s",
                     section.more == 1 ? "it" : "them");
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

std::string simulated_line(const Environment& environment) {
  if (!environment.simulated()) return {};
  return fmt::format("SIMULATED by profile {}: modelled times, not measurements of this machine",
                     environment.profile_text(kChangesInHeadings));
}

std::vector<std::string> alarms(const Environment& environment, bool verified) {
  std::vector<std::string> lines;
  if (environment.simulated()) lines.push_back(simulated_line(environment));
  if (!verified) lines.emplace_back(kNotVerified);
  if (const std::string fault = environment.injected_fault(); !fault.empty()) {
    lines.push_back(fmt::format("FAULT INJECTED: {}; not a measurement", fault));
  }
  return lines;
}

std::vector<std::string> alarms(const Report& report) { return alarms(report.environment, report.verified); }

std::vector<std::string> marks(const Report& report) {
  std::vector<std::string> words;
  if (report.environment.simulated()) words.emplace_back("SIMULATED");
  if (!report.verified) words.emplace_back(kNotVerifiedMark);
  if (!report.environment.injected_fault().empty()) words.emplace_back("FAULT INJECTED");
  return words;
}

}  // namespace xferbench
