#include "report/repeat_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/units.hpp"
#include "report/cells.hpp"

namespace xferbench {

namespace {

using Row = std::array<std::string, 5>;

std::string text_of(double value, const std::string& unit) {
  return unit == "s" ? format_seconds(value) : fmt::format("{:.4g} {}", value, unit);
}

Row row_of(const RepeatedCase& c, std::size_t processes) {
  const std::string missing = c.processes < processes ? fmt::format(" (in {} of {})", c.processes, processes) : "";
  return {c.key + missing, text_of(c.median, c.unit), text_of(c.low, c.unit), text_of(c.high, c.unit),
          c.median > 0 ? format_percent((c.high - c.low) / c.median) : "-"};
}

std::string aligned(const std::vector<Row>& rows) {
  Row empty;
  std::array<std::size_t, empty.size()> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line = "  ";
    for (std::size_t i = 0; i < row.size(); ++i) line += padded(row[i], widths[i], i == 0) + "   ";
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string to_repeat_table(const Environment& environment, std::span<const RepeatedCase> cases, std::size_t processes,
                            const Style& style) {
  std::vector<Row> rows{{"case", "median", "lowest", "highest", "spread"}};
  for (const RepeatedCase& c : cases) rows.push_back(row_of(c, processes));
  const std::string machine =
      environment.simulated()
          ? style.notice(fmt::format("SIMULATED by profile {}: no measurements of this machine", environment.profile))
          : environment.gpu.name;
  return fmt::format("{}\n\nmedians of {} processes\n{}", machine, processes, aligned(rows));
}

}  // namespace xferbench
