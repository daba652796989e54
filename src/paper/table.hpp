// A table before it is drawn: cells with their formatting, and columns that may be left out where space is short.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
    std::vector<Cell> cells;  ///< with fewer cells than the header, the last is a sentence across all remaining columns
    std::vector<std::string> below{};  ///< sentences about the row; on a terminal below it
    std::optional<Chart> opens{};      ///< opened by a click on the first cell, on HTML pages
  };
  std::vector<std::string> header;
  std::size_t left_columns = 0;  ///< number of left-aligned columns; all others are right-aligned ...
  bool last_left = false;        ///< ... except the last one, if this is true
  std::size_t gap = 3;           ///< blanks between columns
  /// Columns to leave out if lines are too long, in this order. If that is not enough because of a long, left-aligned
  /// last column, its cells move below their rows.
  std::vector<std::size_t> least_important{};
  std::vector<Row> rows{};
  std::string title{};
  std::string below{};     ///< heading of Row::below, which other formats show as the last column
  bool in_pieces = false;  ///< if lines are too long, further columns go below, with the left ones repeated

  /// Removes a column from header and rows. Keeps sentences that run across columns.
  void erase_column(std::size_t column);
  /// Whether the cell is a sentence across all remaining columns.
  [[nodiscard]] bool runs_on(const Row& row, std::size_t column) const {
    return row.cells.size() < header.size() && column + 1 == row.cells.size();
  }
};

}  // namespace xferbench
