#include "report/repeat_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "core/units.hpp"
#include "measure/statistics.hpp"
#include "report/cells.hpp"

namespace xferbench {

namespace {

using Row = std::array<std::string, 5>;

/// Medians of one case, in the order of the processes that have it.
struct Medians {
  std::string unit;
  std::vector<double> values;
};

std::map<std::string_view, Medians> medians_of(std::span<const StoredReport> processes) {
  std::map<std::string_view, Medians> all;
  for (const StoredReport& process : processes) {
    for (const StoredResult& result : process.results) {
      const auto sampled = std::ranges::find_if(result.measurements, [](const auto& m) { return !m.samples.empty(); });
      if (sampled == result.measurements.end()) continue;
      Medians& medians = all[result.key];
      medians.unit = sampled->unit;
      medians.values.push_back(sampled->median);
    }
  }
  return all;
}

std::string text_of(double value, const std::string& unit) {
  return unit == "s" ? format_seconds(value) : fmt::format("{:.4g} {}", value, unit);
}

Row row_of(const std::string& key, const Medians& medians, std::size_t processes) {
  const auto [low, high] = std::ranges::minmax(medians.values);
  const double middle = statistics::median(medians.values);
  const std::string missing =
      medians.values.size() < processes ? fmt::format(" (in {} of {})", medians.values.size(), processes) : "";
  return {key + missing, text_of(middle, medians.unit), text_of(low, medians.unit), text_of(high, medians.unit),
          middle > 0 ? format_percent((high - low) / middle) : "-"};
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

std::string to_repeat_table(std::span<const StoredReport> processes, const Style& style) {
  if (processes.empty()) return "";
  const StoredReport& first = processes.front();
  const auto medians = medians_of(processes);
  std::vector<Row> rows{{"case", "median", "lowest", "highest", "spread"}};
  std::size_t without = 0;
  for (const StoredResult& result : first.results) {
    const auto found = medians.find(result.key);
    if (found == medians.end()) {
      ++without;
    } else {
      rows.push_back(row_of(result.key, found->second, processes.size()));
    }
  }
  std::string text = first.environment.simulated()
                         ? style.notice(fmt::format("SIMULATED by profile {}", first.environment.profile)) + "\n"
                         : first.environment.gpu.name + "\n";
  text += fmt::format("\nmedians of {} processes\n{}", processes.size(), aligned(rows));
  if (without > 0) text += fmt::format("\n{} cases without samples\n", without);
  return text;
}

}  // namespace xferbench
