// Draws matrices on terminals as maps of coloured cells.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/printable.hpp"
#include "paper/text.hpp"
#include "paper/writers.hpp"

namespace xferbench {

namespace {

/// Indices into ANSI's palette of 256 colours, in even steps of lightness.
constexpr std::array<int, kShades> kColours{53, 54, 60, 61, 67, 73, 72, 78, 114, 149, 185, 227};
constexpr std::size_t kFirstBright = 5;  // index of the first colour on which black text is easier to read than white

std::string coloured(const std::string& cell, std::size_t shade, const Style& style) {
  if (!style.color) return cell;
  const int text = shade < kFirstBright ? 231 : 16;
  return fmt::format("\x1b[48;5;{}m\x1b[38;5;{}m{}\x1b[0m", kColours[shade], text, cell);
}

/// Writer of a matrix, in blocks of columns that fit into a line.
class Map {
 public:
  Map(const Matrix& matrix, const Style& style) : matrix_(matrix), style_(style), left_(width(matrix.corner)) {
    for (const std::string& row : matrix.rows) left_ = std::max(left_, width(row));
    for (const std::string& column : matrix.columns) cell_width_ = std::max(cell_width_, width(column));
    for (std::size_t i = 0; i < matrix.cells.size(); ++i) {
      const std::size_t mark = matrix.marked[i] ? 0 : 1;  // every cell has room for an asterisk
      cell_width_ = std::max(cell_width_, width(matrix.cell_text(i)) + mark);
    }
    range_ = matrix.range();
  }

  /// Number of matrix columns that fit into a line.
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
    std::string text = "  " + padded(matrix_.cell_text(i), cell_width_, false);
    return matrix_.cells[i] ? coloured(text, shade_of(*matrix_.cells[i], range_), style_) : text;
  }

  const Matrix& matrix_;
  const Style& style_;
  std::size_t left_;
  std::size_t cell_width_ = 0;
  std::pair<double, double> range_;
};

}  // namespace

std::string to_terminal(const Matrix& matrix, const Style& style) {
  const Map map(matrix, style);
  std::string all = "  " + style.bold(printable(matrix.title)) + "\n";
  for (std::size_t from = 0; from < matrix.columns.size(); from += map.at_once()) {
    all += map.columns(from, std::min(from + map.at_once(), matrix.columns.size()));
  }
  return matrix.note.empty() ? all : all + style.dim(wrapped(printable(matrix.note), style.columns, "  ", "    "));
}

}  // namespace xferbench
