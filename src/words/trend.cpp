#include "words/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "measure/statistics.hpp"
#include "words/compare_text.hpp"
#include "words/machine.hpp"

namespace xferbench {

namespace {

using compare::Change;
using compare::Trend;

/// A change in the series of one case's numbers.
struct ReportedChange {
  const Trend::Series* series;
  const Change* change;
  std::string name;  // short name of the case
  [[nodiscard]] std::size_t run() const { return series->points[change->at].run; }
  [[nodiscard]] double size() const { return std::abs(std::log(change->ratio())); }
  [[nodiscard]] bool is_worse() const { return series->is_worse(*change).value_or(false); }
  [[nodiscard]] Tone tone() const {
    const auto worse = series->is_worse(*change);
    return !worse ? Tone::notice : *worse ? Tone::bad : Tone::good;
  }
  /// Returns for example "5.1 % slower".
  [[nodiscard]] std::string text() const {
    const auto worse = series->is_worse(*change);
    const bool of_speed = series->unit == "s" || series->unit.ends_with("/s");
    const char* way = !worse     ? (change->ratio() > 1 ? "more" : "less")
                      : of_speed ? (*worse ? "slower" : "faster")
                                 : (*worse ? "worse" : "better");
    return format_percent_short(std::abs(change->ratio() - 1)) + " " + way;
  }
};

/// Returns all changes: changes for the worse first, then the others, each sorted by size with the largest first.
std::vector<ReportedChange> all_changes(const Trend& trend, const std::vector<std::string>& names) {
  std::vector<ReportedChange> all;
  for (std::size_t i = 0; i < trend.series.size(); ++i) {
    for (const Change& change : trend.series[i].changes) all.push_back({&trend.series[i], &change, names[i]});
  }
  std::ranges::stable_sort(
      all, {}, [](const ReportedChange& reported) { return std::pair(!reported.is_worse(), -reported.size()); });
  return all;
}

/// Returns the xferbench versions before and at a run, for example "0.1.0 abc -> 0.1.0 def"; one if both are the same.
std::string versions_at(const Trend& trend, std::size_t run) {
  const std::string& before = trend.runs[run - 1].version;
  const std::string& now = trend.runs[run].version;
  return before == now ? now : before + " -> " + now;
}

std::string day_of(const compare::Source& run) { return run.started_at.substr(0, run.started_at.find('T')); }

std::string file_of(const compare::Source& run) { return std::filesystem::path(run.name).filename().string(); }

Sentence answer(const Trend& trend, const std::vector<ReportedChange>& changes) {
  const bool too_few = !trend.runs_to_confirm || 2 * *trend.runs_to_confirm > trend.runs.size();
  if (changes.empty() && too_few) {
    const std::string enough =
        trend.runs_to_confirm ? fmt::format("after {} runs", *trend.runs_to_confirm) : "only with very many more runs";
    return {.text = fmt::format("too few runs: {} over {}; every change is detectable {}",
                                counted(trend.series.size(), "case"), counted(trend.runs.size(), "run"), enough),
            .tone = Tone::notice,
            .strong = true};
  }
  if (changes.empty()) {
    return {.text = fmt::format("no significant change of {} or more: {} over {}",
                                format_percent_short(compare::kTrendThreshold), counted(trend.series.size(), "case"),
                                counted(trend.runs.size(), "run")),
            .tone = Tone::bold,
            .strong = true};
  }
  const auto cases = set_of(changes, &ReportedChange::series);
  const ReportedChange& first = changes.front();
  return {.text = fmt::format("{} of {} changed: {} is {} since {} ({}; {}){}", cases.size(),
                              counted(trend.series.size(), "case"), first.name, first.text(),
                              day_of(trend.runs[first.run()]), file_of(trend.runs[first.run()]),
                              versions_at(trend, first.run()),
                              changes.size() > 1 ? ", and " + counted(changes.size() - 1, "further change") : ""),
          .tone = first.is_worse() ? Tone::bad : Tone::notice,
          .strong = true};
}

Table table_of(const Trend& trend, const std::vector<ReportedChange>& changes) {
  Table table{.header = {"change", "case", "from", "file", "before", "then", "p"},
              .left_columns = 4,
              .gap = 2,
              .least_important = {6, 3},
              .title = "Changes"};
  for (const ReportedChange& reported : changes) {
    Cell change(reported.text(), reported.tone());
    change.strong = reported.is_worse();
    const compare::Source& run = trend.runs[reported.run()];
    table.rows.push_back({{change, Cell::as_code(reported.name), run.started_at, Cell::as_code(file_of(run)),
                           compared_value(reported.change->before, reported.series->unit),
                           compared_value(reported.change->after, reported.series->unit), p_text(reported.change->p)}});
  }
  return table;
}

/// Returns, for each run at which a number changed, what else is different from the run before.
List differences_of(const Trend& trend) {
  List list;
  list.title = "Other differences from the run before";
  for (const auto& [run, differences] : trend.differences) {
    Item item{.text = differences.empty() ? "none recorded in the files" : "", .strong = day_of(trend.runs[run])};
    for (const compare::Difference& d : differences) {
      item.text += fmt::format("{}{}: {}, then {}", item.text.empty() ? "" : "; ", d.what, d.base, d.new_side);
    }
    list.items.push_back(std::move(item));
  }
  return list;
}

/// Returns the distinct warnings without the file name that each begins with, and for each the files that have it.
std::vector<std::pair<std::string, std::vector<std::string>>> by_doubt(const Trend& trend) {
  using Files = std::vector<std::string>;
  std::vector<std::pair<std::string, Files>> all;
  for (const std::string& warning : trend.warnings) {
    const compare::Source* of = nullptr;
    for (const compare::Source& run : trend.runs) {
      // Takes the longest name, because a warning about "r.json.xz" also begins with "r.json".
      const bool is_longer = of == nullptr || run.name.size() > of->name.size();
      if (is_longer && warning.starts_with(run.name)) of = &run;
    }
    const std::string said = of == nullptr ? warning : warning.substr(of->name.size());
    const auto known = std::ranges::find_if(all, [&said](const auto& doubt) { return doubt.first == said; });
    std::vector<std::string>& files = known != all.end() ? known->second : all.emplace_back(said, Files()).second;
    if (of != nullptr) files.push_back(file_of(*of));
  }
  return all;
}

/// Returns a list of the warnings, each once, with the names of the files that have this warning.
List doubts_of(const Trend& trend) {
  List list;
  for (const auto& [said, files] : by_doubt(trend)) {
    if (files.size() < 2) {
      list.items.push_back({.text = (files.empty() ? "" : files.front()) + said});
      continue;
    }
    const char* each =
        said.starts_with(" ") ? ", each of which" : "";  // for "r.json is incomplete", not for "r.json: the link ..."
    Item& item = list.items.emplace_back(Item{.text = fmt::format("{} files{}{}", files.size(), each, said)});
    item.below.push_back({.text = fmt::format("{}", fmt::join(files, ", ")), .tone = Tone::dim, .margin = 4});
  }
  return list;
}

std::string method(const Trend& trend) {
  return fmt::format(
      "a change: the medians before and after it differ by {} or more, significant at {} over all cases (Mann-Whitney "
      "at every cut, by permutations, and on the dozen runs on either side){}",
      format_percent_short(compare::kTrendThreshold), format_percent_short(compare::kTrendError),
      trend.runs_to_confirm ? fmt::format("; with this many cases, every change is detectable after {}",
                                          counted(*trend.runs_to_confirm, "run"))
                            : "");
}

/// Returns ticks at some of the runs, so that there is room for labels: days, or times if all runs are of one day.
std::vector<std::pair<double, std::string>> ticks_of(const Trend& trend) {
  constexpr std::size_t kMost = 5;
  const bool one_day = day_of(trend.runs.front()) == day_of(trend.runs.back());
  const std::size_t step = (trend.runs.size() + kMost - 1) / kMost;
  std::vector<std::pair<double, std::string>> ticks;
  for (std::size_t run = 0; run < trend.runs.size(); run += step) {
    const compare::Source& source = trend.runs[run];
    ticks.emplace_back(static_cast<double>(run),
                       one_day && source.started_at.size() > 16 ? source.started_at.substr(11, 5) : day_of(source));
  }
  return ticks;
}

double median_of(std::span<const Trend::Point> points) {
  return statistics::median(list_of(points, &Trend::Point::value));
}

/// Adds a line for each period between changes, at the median of its runs.
void add_levels(const Trend::Series& series, double factor, Chart& chart) {
  if (series.changes.empty()) return;
  std::vector<std::size_t> edges{0};
  for (const Change& change : series.changes) edges.push_back(change.at);
  edges.push_back(series.points.size());
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    const auto part = std::span(series.points).subspan(edges[i], edges[i + 1] - edges[i]);
    const double middle = median_of(part) * factor;
    chart.series.push_back(
        {.name = "",
         .points = {{static_cast<double>(part.front().run), middle}, {static_cast<double>(part.back().run), middle}},
         .role = Chart::Series::Role::limit});
  }
}

Chart chart_of(const Trend& trend, const Trend::Series& series, const std::string& name) {
  const bool times = series.unit == "s";
  const double most = std::ranges::max_element(series.points, {}, &Trend::Point::value)->value;
  const std::string unit = times ? unit_for_all(std::array{most}) : series.unit;
  const double factor = times ? in_a_second(unit) : 1;
  Chart chart{.title = name,
              .x = {.label = "runs by start time",
                    .ticks = ticks_of(trend),
                    .ends = {0, static_cast<double>(trend.runs.size() - 1)}},
              .y = {.label = unit == "1" ? "" : unit},
              .shape = Chart::Shape::low};
  // If medians between changes are drawn, draw points without a line, which would hide the medians.
  const auto role = series.changes.empty() ? Chart::Series::Role::measured : Chart::Series::Role::points;
  Chart::Series& line = chart.series.emplace_back(Chart::Series{.name = series.measured, .role = role});
  for (const Trend::Point& point : series.points) {
    const compare::Source& run = trend.runs[point.run];
    Chart::Point& shown =
        line.points.emplace_back(Chart::Point{.x = static_cast<double>(point.run), .y = point.value * factor});
    if (point.interval) shown.low = point.interval->low * factor, shown.high = point.interval->high * factor;
    shown.more = run.started_at + ", " + run.version;
  }
  add_levels(series, factor, chart);
  for (const Change& change : series.changes) {
    const ReportedChange reported{&series, &change, name};
    const double before = static_cast<double>(reported.run()) - 0.5;
    chart.marks.push_back(
        {before, before, reported.text() + " from " + day_of(trend.runs[reported.run()]) + " on", reported.tone()});
  }
  return chart;
}

/// Returns the row of a case without a change: its median and range over all runs.
Table::Row row_of(const Trend::Series& series, const std::string& name) {
  const auto [least, most] = std::ranges::minmax_element(series.points, {}, &Trend::Point::value);
  const auto text = [&series](double value) { return compared_value(value, series.unit); };
  return {{Cell::as_code(name), text(median_of(series.points)), text(least->value), text(most->value),
           fmt::format("{}", series.points.size())}};
}

void add_series(const Trend& trend, const std::vector<std::string>& names, Document& document) {
  constexpr std::size_t kMostCharts = 60;  // maximum charts in the collapsed section
  Fold fold;
  Table table{.header = {"case", "median", "lowest", "highest", "runs"}, .left_columns = 1, .gap = 2};
  std::vector<Part> charts;
  const auto all = all_changes(trend, names);
  std::set<const Trend::Series*> shown;
  if (!all.empty()) {
    document.add(Heading{.text = "Cases that changed"}, true, Shown::elsewhere);
    document.add(Sentence{.text = "points: the runs; dashed: the median between changes", .tone = Tone::dim}, false,
                 Shown::pages);
  }
  for (const ReportedChange& reported : all) {
    if (!shown.insert(reported.series).second) continue;
    document.add(chart_of(trend, *reported.series, reported.name));
    document.add(Sentence{.text = reported.series->key, .tone = Tone::dim}, false, Shown::elsewhere);
  }
  for (std::size_t i = 0; i < trend.series.size(); ++i) {
    if (shown.contains(&trend.series[i])) continue;
    table.rows.push_back(row_of(trend.series[i], names[i]));
    if (charts.size() < kMostCharts) charts.push_back({chart_of(trend, trend.series[i], names[i])});
  }
  if (table.rows.empty()) return;
  fold.title = counted(table.rows.size(), "case") + " without a change";
  fold.parts.push_back({std::move(table)});
  std::ranges::move(charts, std::back_inserter(fold.parts));
  document.add(std::move(fold), true);
}

}  // namespace

Document document_of(const Trend& trend) {
  const std::vector<std::string> keys = list_of(trend.series, &Trend::Series::key);
  const std::vector<std::string> names = short_names(keys);
  const std::vector<ReportedChange> changes = all_changes(trend, names);
  Document document(fmt::format("xferbench: trend of {}", counted(trend.runs.size(), "run")),
                    trust_of(trend.simulated, trend.runs));
  document.add(answer(trend, changes));
  document.add(Sentence{
      .text = fmt::format("{} of {}, {} to {}", counted(trend.runs.size(), "run"), machine_line(trend.environment),
                          day_of(trend.runs.front()), day_of(trend.runs.back())),
      .tone = Tone::dim});
  if (!changes.empty()) {
    document.add(table_of(trend, changes), true);
    document.add(differences_of(trend), true);
  }
  if (!trend.warnings.empty()) {
    List list = doubts_of(trend);
    const std::string doubts = counted(list.items.size(), "warning") + " about single files";
    document.add(Sentence{.text = doubts + "; --html lists them", .tone = Tone::notice}, true, Shown::terminal);
    document.add(Fold{doubts, {{std::move(list)}}}, true, Shown::elsewhere);
  }
  add_series(trend, names, document);
  document.add(Sentence{.text = method(trend), .tone = Tone::dim}, true);
  return document;
}

}  // namespace xferbench
