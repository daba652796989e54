// Numbers in rows and columns that have names. Drawn as a map of coloured cells, or as a table.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "paper/table.hpp"

namespace xferbench {

struct Matrix {
  std::string title{};
  std::string corner{};  ///< what rows and columns are
  std::vector<std::string> rows{};
  std::vector<std::string> columns{};
  std::vector<std::optional<double>> cells{};  ///< row by row; what there is nothing of is a dash
  std::vector<bool> marked{};                  ///< of the same cells, those with an asterisk
  std::string note{};                          ///< what the asterisk says; empty where the reader knows
  enum class Form { significant, percent, hundredths } form = Form::significant;
  std::optional<double> darkest{};    ///< what has the darkest colour, unless a cell has less
  std::optional<double> brightest{};  ///< and the brightest, unless a cell has more

  Matrix() = default;
  Matrix(std::vector<std::string> its_rows, std::vector<std::string> its_columns);
  /// Where the cell of that row and column is; both are there.
  [[nodiscard]] std::size_t place(const std::string& row, const std::string& column) const;
  [[nodiscard]] bool empty() const;
  /// The number of a cell behind its mark; "-" where there is none.
  [[nodiscard]] std::string cell_text(std::size_t cell) const;
  /// The lowest and the highest colour's numbers.
  [[nodiscard]] std::pair<double, double> range() const;
};

/// Colours from dark and blue to bright and yellow: those of terminals, and classes s0 ... of page.css.
inline constexpr std::size_t kShades = 12;
/// Which of them a number has.
std::size_t shade_of(double value, std::pair<double, double> range);

/// The same as a table, without its note.
Table to_table(const Matrix& matrix);

/// The same as a drawing of small cells without numbers, in as many strips as it takes: a column for each of the
/// matrix's rows, of which there may be thousands.
std::string to_svg(const Matrix& matrix);

}  // namespace xferbench
