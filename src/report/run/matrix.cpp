#include "report/run/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/printable.hpp"
#include "core/units.hpp"
#include "report/cells.hpp"

namespace xferbench {

namespace {

/// From low to high in ANSI's 256 colours: dark and blue to bright and yellow, in even steps of lightness.
constexpr std::array kColours{53, 54, 60, 61, 67, 73, 72, 78, 114, 149, 185, 227};
constexpr std::size_t kFirstBright = 5;  // from here on black is read better than white

std::string coloured(const std::string& cell, double share, const Style& style) {
  if (!style.color) return cell;
  const auto last = static_cast<double>(kColours.size() - 1);
  const auto step = static_cast<std::size_t>(std::lround(std::clamp(share, 0., 1.) * last));
  const int text = step < kFirstBright ? 231 : 16;
  return fmt::format("\x1b[48;5;{}m\x1b[38;5;{}m{}\x1b[0m", kColours[step], text, cell);
}

std::string number(const Matrix& matrix, const std::optional<double>& cell) {
  if (!cell) return "-";
  switch (matrix.form) {
    case Matrix::Form::percent: return fmt::format("{:.1f}", *cell * 100);
    case Matrix::Form::hundredths: return fmt::format("{:.2f}", *cell);
    case Matrix::Form::significant: break;
  }
  return format_significant(*cell);
}

/// The number of a cell behind its mark.
std::string cell_text(const Matrix& matrix, std::size_t i) {
  return (matrix.marked[i] ? "*" : "") + number(matrix, matrix.cells[i]);
}

/// How the cells of a matrix are drawn.
class Map {
 public:
  Map(const Matrix& matrix, const Style& style) : matrix_(matrix), style_(style), left_(width(matrix.corner)) {
    for (const std::string& row : matrix.rows) left_ = std::max(left_, width(row));
    for (const std::string& column : matrix.columns) cell_width_ = std::max(cell_width_, width(column));
    std::vector<double> there;
    for (const auto& cell : matrix.cells) {
      cell_width_ = std::max(cell_width_, width(number(matrix, cell)) + 1);  // and an asterisk
      if (cell) there.push_back(*cell);
    }
    if (there.empty()) there.push_back(0);
    low_ = std::ranges::min(there);
    if (matrix.darkest) low_ = std::min(low_, *matrix.darkest);
    high_ = std::ranges::max(there);
  }

  /// How many columns fit into a line.
  [[nodiscard]] std::size_t at_once() const {
    if (style_.columns == 0) return matrix_.columns.size();
    const std::size_t room = style_.columns > left_ + 2 ? (style_.columns - left_ - 2) / (cell_width_ + 2) : 1;
    return std::max<std::size_t>(room, 1);
  }

  [[nodiscard]] std::string columns(std::size_t from, std::size_t to) const {
    std::string all = "  " + style_.dim(padded(matrix_.corner, left_, true));
    for (std::size_t i = from; i < to; ++i) all += style_.dim("  " + padded(matrix_.columns[i], cell_width_, false));
    for (std::size_t row = 0; row < matrix_.rows.size(); ++row) {
      all += "\n  " + style_.dim(padded(matrix_.rows[row], left_, true));
      for (std::size_t i = from; i < to; ++i) all += cell(row * matrix_.columns.size() + i);
    }
    return all + "\n";
  }

 private:
  [[nodiscard]] std::string cell(std::size_t i) const {
    std::string text = "  " + padded(cell_text(matrix_, i), cell_width_, false);
    if (!matrix_.cells[i]) return text;
    return coloured(text, high_ > low_ ? (*matrix_.cells[i] - low_) / (high_ - low_) : 1, style_);
  }

  const Matrix& matrix_;
  const Style& style_;
  std::size_t left_;
  std::size_t cell_width_ = 0;
  double low_ = 0;
  double high_ = 0;
};

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

std::string to_lines(const Matrix& matrix, const Style& style) {
  const Map map(matrix, style);
  std::string all = "\n  " + style.bold(printable(matrix.title)) + "\n";
  for (std::size_t from = 0; from < matrix.columns.size(); from += map.at_once()) {
    all += map.columns(from, std::min(from + map.at_once(), matrix.columns.size()));
  }
  return matrix.note.empty() ? all : all + style.dim(wrapped(printable(matrix.note), style.columns, "  ", "    "));
}

Grid to_grid(const Matrix& matrix) {
  Grid grid{.header = {matrix.corner}, .left_columns = 1};
  grid.header.insert(grid.header.end(), matrix.columns.begin(), matrix.columns.end());
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    Grid::Row& cells = grid.rows.emplace_back();
    cells.cells.push_back(matrix.rows[row]);
    for (std::size_t i = 0; i < matrix.columns.size(); ++i) {
      cells.cells.push_back(cell_text(matrix, row * matrix.columns.size() + i));
    }
  }
  return grid;
}

}  // namespace xferbench
