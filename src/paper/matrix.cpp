#include "paper/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/lists.hpp"
#include "core/units.hpp"

namespace xferbench {

namespace {

std::string number(const Matrix& matrix, const std::optional<double>& cell) {
  if (!cell) return "-";
  switch (matrix.form) {
    case Matrix::Form::percent: return fmt::format("{:.1f}", *cell * 100);
    case Matrix::Form::hundredths: return fmt::format("{:.2f}", *cell);
    case Matrix::Form::significant: break;
  }
  return format_significant(*cell);
}

}  // namespace

Matrix::Matrix(std::vector<std::string> its_rows, std::vector<std::string> its_columns)
    : rows(std::move(its_rows)), columns(std::move(its_columns)) {
  cells.resize(rows.size() * columns.size());
  marked.resize(cells.size());
}

std::size_t Matrix::place(const std::string& row, const std::string& column) const {
  const auto down = std::ranges::find(rows, row) - rows.begin();
  const auto across = std::ranges::find(columns, column) - columns.begin();
  return static_cast<std::size_t>(down) * columns.size() + static_cast<std::size_t>(across);
}

bool Matrix::empty() const {
  return std::ranges::none_of(cells, [](const auto& cell) { return cell.has_value(); });
}

std::string Matrix::cell_text(std::size_t cell) const { return (marked[cell] ? "*" : "") + number(*this, cells[cell]); }

std::pair<double, double> Matrix::range() const {
  const std::vector<double> there = found_for(cells);
  if (there.empty()) return {darkest.value_or(0), 0};
  const auto [low, high] = std::ranges::minmax(there);
  return {std::min(low, darkest.value_or(low)), std::max(high, brightest.value_or(high))};
}

std::size_t shade_of(double value, std::pair<double, double> range) {
  const auto [low, high] = range;
  const double share = high > low ? (value - low) / (high - low) : 1;
  return static_cast<std::size_t>(std::lround(std::clamp(share, 0., 1.) * (kShades - 1)));
}

Table to_table(const Matrix& matrix) {
  Table table{.header = {matrix.corner}, .left_columns = 1, .title = matrix.title};
  table.header.insert(table.header.end(), matrix.columns.begin(), matrix.columns.end());
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    std::vector<Cell>& cells = table.rows.emplace_back().cells;
    cells.emplace_back(matrix.rows[row]);
    for (std::size_t i = 0; i < matrix.columns.size(); ++i) {
      cells.emplace_back(matrix.cell_text(row * matrix.columns.size() + i));
    }
  }
  return table;
}

}  // namespace xferbench
