#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "core/units.hpp"
#include "report/cells.hpp"
#include "report/heatmap.hpp"

namespace xferbench {

namespace {

using Row = std::vector<std::string>;

constexpr const char* kGap = "   ";

/// Units that come in whole ones.
bool is_whole(const Metric& metric) {
  constexpr std::array kWhole{"copies", "iterations", "launches", "round trips"};
  return std::ranges::find(kWhole, metric.unit) != kWhole.end();
}

std::string half_width_text(const Measurement& m) {
  const auto width = relative_half_width(m);
  return width ? fmt::format("{:.1f} %", *width * 100) : "";
}

/// A sample of that measurement or what was made of some: a time, or so many of its unit.
std::string value_text(const Measurement& m, const std::optional<double>& value) {
  if (!value) return "";
  return m.unit == "s" ? format_seconds(*value) : fmt::format("{} {}", format_significant(*value), m.unit);
}

bool is_of_measurement(Column::Source source) {
  using S = Column::Source;
  return source == S::time || source == S::interval || source == S::p90 || source == S::p99 || source == S::clock;
}

std::string measurement_cell(Column::Source source, const Measurement& m) {
  switch (source) {
    case Column::Source::interval: return half_width_text(m);
    case Column::Source::p90: return value_text(m, m.p90);
    case Column::Source::p99: return value_text(m, m.p99);
    case Column::Source::clock: return std::string(to_text(m.clock));
    default: return value_text(m, m.median);
  }
}

/// The text of a column for a result; empty if the result has no such number.
std::string cell(const Column& column, const Result& result) {
  using S = Column::Source;
  if (is_of_measurement(column.source)) {
    const Measurement* m = result.measurement(column.name);
    return m == nullptr || m->samples.empty() ? "" : measurement_cell(column.source, *m);
  }
  if (column.source == S::label) return result.label(column.name);
  const Metric* metric = result.metric(column.name);
  if (metric == nullptr) return {};
  switch (column.source) {
    case S::seconds: return format_seconds(metric->value);
    case S::percent: return format_percent(metric->value);
    case S::ratio: return fmt::format("{:.2f}x", metric->value);
    default: return is_whole(*metric) ? fmt::format("{:.0f}", metric->value) : format_significant(metric->value);
  }
}

/// Lines of aligned cells; `paint` may colour a padded cell of a row.
class Lines {
 public:
  explicit Lines(Row header, std::size_t left_columns) : header_(std::move(header)), left_columns_(left_columns) {}

  void add(Row row, std::function<std::string(std::size_t, const std::string&)> paint = nullptr) {
    rows_.push_back({std::move(row), std::move(paint)});
  }

  [[nodiscard]] std::string text(const Style& style) const {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < header_.size(); ++i) {
      std::size_t widest = width(header_[i]);
      for (const auto& [cells, paint] : rows_) {
        if (i < cells.size() && !spans(cells, i)) widest = std::max(widest, width(cells[i]));
      }
      widths.push_back(widest);
    }
    std::string all;
    // A single case that was skipped has nothing to name.
    const auto paint_header = [&style](std::size_t, const std::string& text) { return style.dim(text); };
    if (!header_.empty()) all = line(header_, widths, paint_header);
    for (const auto& [cells, paint] : rows_) all += line(cells, widths, paint);
    return all;
  }

 private:
  /// The last cell of a row that is shorter than the header is a sentence that runs on across the columns.
  [[nodiscard]] bool spans(const Row& cells, std::size_t i) const {
    return cells.size() < header_.size() && i + 1 == cells.size();
  }

  [[nodiscard]] std::string line(const Row& cells, const std::vector<std::size_t>& widths,
                                 const std::function<std::string(std::size_t, const std::string&)>& paint) const {
    std::string text = " ";
    std::string pending;  // spaces that are only written when something follows: no trailing blanks
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool left = i < left_columns_;
      const bool unaligned = spans(cells, i) || i >= widths.size();
      const std::string cell = unaligned ? cells[i] : padded(cells[i], widths[i], left);
      pending += i == 0 ? " " : kGap;
      if (cells[i].empty()) {
        pending += cell;
        continue;
      }
      text += pending + (paint ? paint(i, cell) : cell);
      pending.clear();
    }
    return text + "\n";
  }

  Row header_;
  std::size_t left_columns_;
  std::vector<std::pair<Row, std::function<std::string(std::size_t, const std::string&)>>> rows_;
};

/// Results of one scenario and what varies among them.
struct Group {
  ScenarioView scenario;
  std::vector<const Result*> results;

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
    std::set<std::string> texts;
    for (const Result* r : results) texts.insert(cell(column, *r));
    texts.erase("");
    return texts.size() > (column.source == Column::Source::clock ? 1U : 0U);
  }
};

std::string title(const Group& group) {
  std::string text(group.scenario.name);
  for (const Axis& axis : group.scenario.axes) {
    const Result* first = group.with(axis.name);
    if (first == nullptr || group.varies(axis.name)) continue;
    text += fmt::format("  {} {}", axis.name, axis_text(*first, axis.name));
  }
  return text;
}

void add_row(Lines& lines, const Result& result, const std::vector<std::string>& axes,
             const std::vector<const Column*>& columns, const Style& style) {
  Row row;
  for (const std::string& axis : axes) row.push_back(axis_text(result, axis));
  const std::size_t first_number = row.size();
  if (result.status != Status::ok) {
    const bool failed = result.status == Status::failed;
    row.push_back(fmt::format("{}: {}", failed ? "FAILED" : "skipped", result.reason));
    lines.add(std::move(row), [&style, failed, first_number](std::size_t i, const std::string& text) {
      if (i < first_number) return text;
      return failed ? style.bad(text) : style.dim(text);
    });
    return;
  }
  for (const Column* column : columns) row.push_back(cell(*column, result));
  lines.add(std::move(row), [&style, &columns, first_number](std::size_t i, const std::string& text) {
    const bool emphasised = i >= first_number && columns[i - first_number]->source == Column::Source::percent;
    return emphasised ? style.bold(text) : text;
  });
}

std::string headline_table(const Group& group, const Style& style) {
  std::vector<std::string> axes;
  for (const Axis& axis : group.scenario.axes) {
    if (group.varies(axis.name)) axes.push_back(axis.name);
  }
  std::vector<const Column*> columns;
  for (const Column& column : group.scenario.columns) {
    if (group.shows(column)) columns.push_back(&column);
  }
  Row header = axes;
  for (const Column* column : columns) header.push_back(column->header);
  Lines lines(header, axes.size());
  std::size_t not_begun = 0;
  for (const Result* result : group.results) {
    // After Ctrl-C there may be hundreds of these, and what was measured would scroll away.
    if (result->reason == kNotBegun) {
      ++not_begun;
    } else {
      add_row(lines, *result, axes, columns, style);
    }
  }
  const std::string text = not_begun == group.results.size() ? "" : lines.text(style);
  return not_begun == 0
             ? text
             : text + style.dim(fmt::format("  {} of {} cases had not begun\n", not_begun, group.results.size()));
}

/// Every measurement of one result: what the headline was made from. Percentiles are shown where one is sure of them.
std::string measurement_table(const Result& result, const Style& style) {
  const bool percentiles =
      std::ranges::any_of(result.measurements, [](const Measurement& m) { return m.p99.has_value(); });
  Row header{"measured", "median", "+-", "min"};
  if (percentiles) header.insert(header.end(), {"p90", "p99"});
  header.insert(header.end(), {"max", "n", "clock", "flags"});
  Lines lines(std::move(header), 1);
  for (const Measurement& m : result.measurements) {
    if (m.samples.empty()) continue;
    Row row{m.name, value_text(m, m.median), half_width_text(m), value_text(m, m.min)};
    if (percentiles) row.insert(row.end(), {value_text(m, m.p90), value_text(m, m.p99)});
    row.insert(row.end(), {value_text(m, m.max), std::to_string(m.samples.size()), std::string(to_text(m.clock)),
                           fmt::format("{}", fmt::join(m.flags, " "))});
    lines.add(std::move(row));
  }
  return lines.text(style);
}

std::string metric_text(const Metric& metric) {
  if (!std::isfinite(metric.value)) return {};
  if (metric.unit == "s") return format_seconds(metric.value);
  // Beyond 2^63 no size is meant, and the conversion would be undefined.
  if (metric.unit == "B")
    return format_size(static_cast<std::uint64_t>(std::llround(std::clamp(metric.value, 0., 9e18))));
  if (metric.unit == "GB/s") return format_significant(metric.value) + " GB/s";
  if (metric.unit == "1") return format_percent(metric.value);
  if (is_whole(metric)) return fmt::format("{:.0f}", metric.value);
  return format_significant(metric.value);
}

void add_new(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

Row finding_row(const Finding& finding, const std::vector<std::string>& labels,
                const std::vector<std::string>& metrics) {
  Row row;
  for (const std::string& name : labels) {
    const auto found = std::ranges::find(finding.labels, name, &std::pair<std::string, std::string>::first);
    row.push_back(found == finding.labels.end() ? "-" : found->second);
  }
  for (const std::string& name : metrics) {
    const auto found = std::ranges::find(finding.metrics, name, &Metric::name);
    row.push_back(found == finding.metrics.end() ? "" : metric_text(*found));
  }
  return row;
}

/// Findings of one kind as rows: what they are about, then what they say. Its title is the kind.
std::string finding_table(const std::string& kind, const std::vector<const Finding*>& findings, const Style& style) {
  std::vector<std::string> labels;
  std::vector<std::string> metrics;
  for (const Finding* f : findings) {
    for (const auto& [name, word] : f->labels) add_new(labels, name);
    for (const Metric& metric : f->metrics) add_new(metrics, metric.name);
  }
  Row header = labels;
  header.insert(header.end(), metrics.begin(), metrics.end());
  for (std::string& name : header) std::ranges::replace(name, '_', ' ');
  if (header.empty()) return {};  // a finding that says nothing
  Lines lines(std::move(header), labels.size());
  for (const Finding* f : findings) lines.add(finding_row(*f, labels, metrics));
  return "  " + style.bold(kind) + "\n" + lines.text(style);
}

/// A sentence in lines that a terminal holds, broken at blanks, the first a little to the left.
std::string wrapped(const std::string& sentence) {
  constexpr std::size_t kLongest = 116;
  std::string lines;
  std::string line = " ";
  std::istringstream words(sentence);
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > kLongest && line.find_first_not_of(' ') != std::string::npos) {
      lines += line + "\n";
      line = "   ";
    }
    line += " " + word;
  }
  return lines + line + "\n";
}

/// What a scenario's results say together: a table for each kind, then the sentences.
std::string findings_text(const Report& report, std::string_view scenario, const Style& style) {
  std::vector<std::string> kinds;
  std::map<std::string, std::vector<const Finding*>> rows;
  std::string sentences;
  for (const Finding& f : report.findings) {
    if (f.scenario != scenario) continue;
    if (!f.text.empty()) {
      sentences += wrapped(f.text);
      continue;
    }
    add_new(kinds, f.kind);
    rows[f.kind].push_back(&f);
  }
  std::string text;
  for (const std::string& kind : kinds) text += "\n" + finding_table(kind, rows[kind], style);
  return sentences.empty() ? text : text + "\n" + sentences;
}

std::string machine_line(const Environment& e) {
  std::string text = e.gpu.name;
  if (e.gpu.pcie) text += fmt::format(", PCIe Gen{} x{}", e.gpu.pcie->generation, e.gpu.pcie->width);
  if (e.gpu.pcie && e.gpu.pcie->below_maximum()) {
    text += fmt::format(" (the GPU can do Gen{} x{})", e.gpu.pcie->max_generation, e.gpu.pcie->max_width);
  }
  if (!e.driver.empty()) text += ", driver " + e.driver;
  if (!e.host.cpu.empty() && !e.simulated()) text += ", " + e.host.cpu;
  return text;
}

}  // namespace

std::string to_table(const Report& report, std::span<const ScenarioView> scenarios, const Style& style) {
  const Environment& e = report.environment;
  std::string text;
  if (e.simulated()) {
    text += style.notice(
                fmt::format("SIMULATED by profile {}: modelled times, not measurements of this machine", e.profile)) +
            "\n";
  }
  text += style.bold(machine_line(e)) + "\n";
  for (const ScenarioView& scenario : scenarios) {
    Group group{scenario, {}};
    for (const Result& r : report.results) {
      if (r.config.scenario() == scenario.name) group.results.push_back(&r);
    }
    if (group.results.empty()) continue;
    text += "\n" + style.bold(title(group)) + (e.simulated() ? "  " + style.notice("SIMULATED") : "") + "\n";
    text += headline_table(group, style);
    if (group.results.size() == 1 && group.results.front()->status == Status::ok) {
      text += "\n" + measurement_table(*group.results.front(), style);
    }
    text += heat_maps(scenario, group.results, style);
    text += findings_text(report, scenario.name, style);
  }
  if (!report.complete) text += "\n" + style.notice("INTERRUPTED: not every case has run to its end") + "\n";
  return text;
}

}  // namespace xferbench
