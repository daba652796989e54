#include "report/run/repeat_table.hpp"

#include <fmt/format.h>

#include "core/printable.hpp"
#include "core/units.hpp"
#include "report/cells.hpp"
#include "report/grid.hpp"
#include "report/run/sections.hpp"

namespace xferbench {

namespace {

Grid::Row row_of(const RepeatedCase& c, std::size_t processes) {
  const std::string missing = c.processes < processes ? fmt::format(" (in {} of {})", c.processes, processes) : "";
  const auto text = [&c](double value) { return format_with_unit(value, c.unit); };
  return {.cells = {text(c.median), c.median > 0 ? format_percent((c.high - c.low) / c.median) : "-", text(c.low),
                    text(c.high), c.key + missing}};
}

}  // namespace

std::string to_repeat_table(const Report& one, std::span<const RepeatedCase> cases, std::size_t processes,
                            const Style& style) {
  Grid grid{.header = {"median", "spread", "lowest", "highest", "case"}, .last_left = true, .least_important = {3, 2}};
  for (const RepeatedCase& c : cases) grid.rows.push_back(row_of(c, processes));
  std::string machine;
  for (const std::string& alarm : alarms(one)) machine += style.notice(printable(alarm)) + "\n";
  if (!one.environment.simulated()) machine += printable(one.environment.gpu.name) + "\n";
  return fmt::format("{}\nmedians of {} processes\n{}", machine, processes, to_lines(grid, style));
}

}  // namespace xferbench
