// Numbers in named rows and columns, shown as a map of coloured cells or as a table.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "paper/table.hpp"

namespace xferbench {

struct Matrix {
  std::string title{};
  std::string corner{};  ///< text of the corner cell, which says what the rows and columns are
  std::vector<std::string> rows{};
  std::vector<std::string> columns{};
  std::vector<std::optional<double>> cells{};  ///< row by row; a cell without a number is shown as a dash
  std::vector<bool> marked{};                  ///< whether the cell gets an asterisk, for each of `cells`
  std::string note{};  ///< text below the matrix: what the asterisk means; empty if readers know
  enum class Form { significant, percent, hundredths } form = Form::significant;
  std::optional<double> darkest{};    ///< the lower of this number and the lowest cell gets the darkest colour
  std::optional<double> brightest{};  ///< the higher of this number and the highest cell gets the brightest

  Matrix() = default;
  Matrix(std::vector<std::string> its_rows, std::vector<std::string> its_columns);
  /// Returns the index of a cell in `cells`; the row and the column must exist.
  [[nodiscard]] std::size_t place(const std::string& row, const std::string& column) const;
  [[nodiscard]] bool empty() const;
  /// Returns the text of a cell: its asterisk, if any, and its number, or "-" if it has none.
  [[nodiscard]] std::string cell_text(std::size_t cell) const;
  /// Returns the numbers that get the darkest and the brightest colour.
  [[nodiscard]] std::pair<double, double> range() const;
};

/// Number of colours, from dark blue to bright yellow. Terminals and page.css (classes s0, s1 ...) use them.
inline constexpr std::size_t kShades = 12;
/// Returns the index of the colour for a number; `range` is that of Matrix::range().
std::size_t shade_of(double value, std::pair<double, double> range);

/// The matrix as a table, without its note.
Table to_table(const Matrix& matrix);

/// Draws the matrix as SVG, with small cells without numbers. The rows of the matrix, of which there may be thousands,
/// become columns of the drawing, in several strips below each other if needed.
std::string to_svg(const Matrix& matrix);

}  // namespace xferbench
