// A table, independent of the output format: cells with their formatting, and columns that are left out of long lines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/lists.hpp"
#include "paper/chart.hpp"
#include "paper/style.hpp"

namespace xferbench {

struct Cell {
  std::string text;
  Tone tone = Tone::plain;
  bool code = false;    ///< a key, a command or foreign text; Markdown and HTML show it unchanged
  bool strong = false;  ///< emphasized where there are no colours

  Cell(std::string its_text = {}, Tone its_tone = Tone::plain) : text(std::move(its_text)), tone(its_tone) {}
  Cell(const char* its_text, Tone its_tone = Tone::plain) : text(its_text), tone(its_tone) {}
  static Cell as_code(std::string text) {
    Cell cell(std::move(text));
    cell.code = true;
    return cell;
  }
};

struct Table {
  struct Row {
    /// If a row has fewer cells than the header, its last cell is a sentence across all remaining columns.
    std::vector<Cell> cells;
    std::vector<std::string> below{};  ///< sentences about the row; a terminal shows them below it
    std::optional<Chart> opens{};      ///< chart that opens on a click on the row's first cell; only on HTML pages
  };
  std::vector<std::string> header;
  std::size_t left_columns = 0;  ///< number of left-aligned columns; those after them are right-aligned
  bool last_left = false;        ///< the last column is left-aligned, too
  std::size_t gap = 3;           ///< blanks between columns
  /// Indices of the columns that are left out, one after another, until the lines fit. If that is not enough and
  /// `last_left` is set, the cells of the last column move below their rows.
  std::vector<std::size_t> least_important{};
  std::vector<Row> rows{};
  std::string title{};
  std::string below{};     ///< heading for Row::below, which Markdown and HTML show as the last column
  bool in_pieces = false;  ///< if lines are too long, the table is split into several tables below each other; each
                           ///< repeats the left columns

  /// Number of columns: of the header, or of the longest row if it has more.
  [[nodiscard]] std::size_t columns() const {
    return std::max(header.size(), most_of(rows, [](const Row& row) { return row.cells.size(); }));
  }
  /// Removes a column from header and rows. Keeps sentences that run across columns.
  void erase_column(std::size_t column);
  /// Whether the cell is a sentence across all remaining columns.
  [[nodiscard]] bool runs_on(const Row& row, std::size_t column) const {
    return row.cells.size() < header.size() && column + 1 == row.cells.size();
  }
};

}  // namespace xferbench
