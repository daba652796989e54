// Numbers in rows and columns that have names, as a map of coloured cells and as a table. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/grid.hpp"
#include "report/style.hpp"

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
  std::optional<double> darkest{};  ///< what has the darkest colour, unless a cell has less

  Matrix() = default;
  Matrix(std::vector<std::string> its_rows, std::vector<std::string> its_columns);
  /// Where the cell of that row and column is; both are there.
  [[nodiscard]] std::size_t place(const std::string& row, const std::string& column) const;
  [[nodiscard]] bool empty() const;
};

/// The map for a terminal, below an empty line; one that is wider than the lines may be goes on beneath itself.
std::string to_lines(const Matrix& matrix, const Style& style);

/// The same as a table, without its title and its note.
Grid to_grid(const Matrix& matrix);

}  // namespace xferbench
