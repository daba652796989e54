#include "paper/table.hpp"

namespace xferbench {

void Table::erase_column(std::size_t column) {
  const auto at = static_cast<std::ptrdiff_t>(column);
  for (Row& row : rows) {
    // A sentence across the remaining columns stays, even if one of these columns is removed.
    if (column < row.cells.size() && !runs_on(row, column)) row.cells.erase(row.cells.begin() + at);
  }
  header.erase(header.begin() + at);
  if (column < left_columns) --left_columns;
  std::erase(least_important, column);
  for (std::size_t& other : least_important) {
    if (other > column) --other;
  }
}

}  // namespace xferbench
