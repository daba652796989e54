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
  std::string corner{};  ///< text of the corner cell: what the rows and columns are
  std::vector<std::string> rows{};
  std::vector<std::string> columns{};
  std::vector<std::optional<double>> cells{};  ///< row by row; nothing is shown as a dash
  std::vector<bool> marked{};                  ///< cells with an asterisk
  std::string note{};                          ///< meaning of the asterisk; empty if readers know it
  enum class Form { significant, percent, hundredths } form = Form::significant;
  std::optional<double> darkest{};    ///< number with the darkest colour, unless a cell is lower
  std::optional<double> brightest{};  ///< number with the brightest colour, unless a cell is higher

  Matrix() = default;
  Matrix(std::vector<std::string> its_rows, std::vector<std::string> its_columns);
  /// Index of a cell; row and column must exist.
  [[nodiscard]] std::size_t place(const std::string& row, const std::string& column) const;
  [[nodiscard]] bool empty() const;
  /// Mark and number of a cell; "-" without a number.
  [[nodiscard]] std::string cell_text(std::size_t cell) const;
  /// The numbers with the darkest and the brightest colour.
  [[nodiscard]] std::pair<double, double> range() const;
};

/// Number of colours, from dark blue to bright yellow: on terminals, and as classes s0 ... of page.css.
inline constexpr std::size_t kShades = 12;
/// Index of a number's colour.
std::size_t shade_of(double value, std::pair<double, double> range);

/// The matrix as a table, without its note.
Table to_table(const Matrix& matrix);

/// The matrix as a drawing of small cells without numbers. Rows, of which there may be thousands, become columns of the
/// drawing, in as many strips as needed.
std::string to_svg(const Matrix& matrix);

}  // namespace xferbench
