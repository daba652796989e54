#include "words/repeat.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/units.hpp"
#include "words/trust.hpp"

namespace xferbench {

namespace {

double spread_of(const RepeatedCase& c) { return c.median > 0 ? (c.high - c.low) / c.median : 0; }

std::string answer_of(std::span<const RepeatedCase> cases, std::size_t processes) {
  std::vector<RepeatedCase> all(cases.begin(), cases.end());
  if (all.empty()) return fmt::format("{} processes measured nothing", processes);
  std::ranges::stable_sort(all, {}, spread_of);
  const std::string middle = format_percent(spread_of(all[(all.size() - 1) / 2]));
  if (all.size() == 1) {
    return fmt::format("{}: median of {} processes, spread between processes {}",
                       format_with_unit(all[0].median, all[0].unit), processes, middle);
  }
  return fmt::format("spread between {} processes: at most {} in half of {} cases, {} in the worst case: {}", processes,
                     middle, all.size(), format_percent(spread_of(all.back())), all.back().key);
}

Table::Row row_of(const RepeatedCase& c, std::size_t processes) {
  const std::string missing = c.processes < processes ? fmt::format(" (in {} of {})", c.processes, processes) : "";
  const auto text = [&c](double value) { return format_with_unit(value, c.unit); };
  return {
      {text(c.median), c.median > 0 ? format_percent(spread_of(c)) : "-", text(c.low), text(c.high), c.key + missing}};
}

}  // namespace

Document document_of(const Report& one, std::span<const RepeatedCase> cases, std::size_t processes) {
  Document document("xferbench --repeat", trust_of(one.environment, one.verified, true));
  document.add(Sentence{.text = answer_of(cases, processes), .tone = Tone::bold});
  if (!one.environment.simulated()) document.add(Sentence{.text = one.environment.gpu.name});
  document.add(Sentence{.text = fmt::format("medians of {} processes", processes)}, true);
  Table table{
      .header = {"median", "spread", "lowest", "highest", "case"}, .last_left = true, .least_important = {3, 2}};
  for (const RepeatedCase& c : cases) table.rows.push_back(row_of(c, processes));
  document.add(std::move(table));
  return document;
}

}  // namespace xferbench
