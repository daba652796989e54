// Tables that show results of different machines side by side.
#include <fmt/format.h>

#include <algorithm>

#include "compare/compare.hpp"
#include "compare/files.hpp"
#include "compare/fleets.hpp"
#include "compare/processes.hpp"

namespace xferbench::compare {

namespace {

/// Returns the column titles: GPU names, followed by the file name if two files have the same GPU.
std::vector<std::string> columns_of(std::span<const NamedReport> reports) {
  std::vector<std::string> columns;
  for (const NamedReport& named : reports) {
    const std::string& gpu = named.report.environment.gpu.name;
    const auto shared = std::ranges::count_if(
        reports, [&](const NamedReport& other) { return other.report.environment.gpu.name == gpu; });
    const std::string file = stem_of(named.name).filename().string();
    std::string column = shared > 1 ? fmt::format("{} ({})", gpu, file) : gpu;
    for (std::size_t i = 2; std::ranges::find(columns, column) != columns.end(); ++i) {
      column = fmt::format("{} ({}) #{}", gpu, file, i);
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

void mark_best(Across::Row& row) {
  if (row.better == Better::neither) return;
  const bool lower = row.better == Better::lower;
  const auto interval = [](const Across::Cell& c) { return c.ci95.value_or(Interval{c.median, c.median}); };
  const Across::Cell* best = nullptr;
  std::size_t there = 0;
  for (const auto& cell : row.cells) {
    if (!cell) continue;
    ++there;
    if (best == nullptr || (lower ? cell->median < best->median : cell->median > best->median)) best = &*cell;
  }
  if (there < 2) return;
  const Interval of_best = interval(*best);
  for (auto& cell : row.cells) {
    if (!cell) continue;
    const Interval own = interval(*cell);
    cell->best = own.low <= of_best.high && of_best.low <= own.high;
  }
}

/// Returns the table row of one case, with a cell for each file; nullopt if no file has a number for the case.
std::optional<Across::Row> across_row(const SameCase& c, const Options& options) {
  Across::Row row{.key = c.identity, .cells = std::vector<std::optional<Across::Cell>>(c.results.size())};
  bool any = false;
  for (std::size_t i = 0; i < c.results.size(); ++i) {
    const auto value = c.results[i] == nullptr ? std::nullopt : value_of(*c.results[i], options.metric, options);
    if (!value) continue;
    if (!std::exchange(any, true)) {
      row.measured = value->name;
      row.unit = value->unit;
      row.better = better_of(*value, c.results[i]->config.scenario(), options);
    }
    if (row.measured != value->name || row.unit != value->unit) continue;  // the file measured another quantity
    const auto* m = value->measurement;
    row.cells[i] = Across::Cell{.median = value->median, .ci95 = m != nullptr ? m->ci95 : std::nullopt};
  }
  mark_best(row);
  return any ? std::optional(std::move(row)) : std::nullopt;
}

}  // namespace

Across across(std::span<const NamedReport> reports, const Options& options) {
  const Files files = files_of({reports});
  Across table;
  table.options = options;
  table.options.metrics_declared = all_declared(files, options);
  check_medians(files);
  table.simulated = check_simulated(files, options);
  table.columns = columns_of(reports);
  table.sources = sources_of(reports);
  table.warnings = doubts_of(files);
  for (const SameCase& c : cases_of(files, options, matching(files, options))) {
    if (auto row = across_row(c, table.options)) table.rows.push_back(std::move(*row));
  }
  if (table.rows.empty()) refuse_numberless(files, options);
  return table;
}

}  // namespace xferbench::compare
