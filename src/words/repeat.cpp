#include "words/repeat.hpp"

#include <fmt/format.h>

#include "core/units.hpp"
#include "words/trust.hpp"

namespace xferbench {

namespace {

Table::Row row_of(const RepeatedCase& c, std::size_t processes) {
  const std::string missing = c.processes < processes ? fmt::format(" (in {} of {})", c.processes, processes) : "";
  const auto text = [&c](double value) { return format_with_unit(value, c.unit); };
  return {{text(c.median), c.median > 0 ? format_percent((c.high - c.low) / c.median) : "-", text(c.low), text(c.high),
           c.key + missing}};
}

}  // namespace

Document document_of(const Report& one, std::span<const RepeatedCase> cases, std::size_t processes) {
  Document document("xferbench --repeat", trust_of(one.environment, one.verified, true));
  if (!one.environment.simulated()) document.add(Sentence{.text = one.environment.gpu.name});
  document.add(Sentence{.text = fmt::format("medians of {} processes", processes)}, true);
  Table table{
      .header = {"median", "spread", "lowest", "highest", "case"}, .last_left = true, .least_important = {3, 2}};
  for (const RepeatedCase& c : cases) table.rows.push_back(row_of(c, processes));
  document.add(std::move(table));
  return document;
}

}  // namespace xferbench
