// A table before it is drawn: cells that know what they are, and which columns may go where there is little room.
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
  bool code = false;    ///< a key or a command, or foreign text: Markdown and pages show it as it is, letter by letter
  bool strong = false;  ///< stands out where there are no colours

  Cell(std::string its_text = {}, Tone its_tone = Tone::plain) : text(std::move(its_text)), tone(its_tone) {}
  Cell(const char* its_text, Tone its_tone = Tone::plain) : text(its_text), tone(its_tone) {}
  /// A key, a command or foreign text.
  static Cell as_code(std::string text) {
    Cell cell(std::move(text));
    cell.code = true;
    return cell;
  }
};

struct Table {
  struct Row {
    std::vector<Cell> cells;           ///< the last of fewer than the header has is a sentence that runs on
    std::vector<std::string> below{};  ///< sentences about the row, which on a terminal stand beneath it
    std::optional<Chart> opens{};      ///< shown to whoever clicks its first cell, on pages
  };
  std::vector<std::string> header;
  std::size_t left_columns = 0;  ///< the first so many stand on the left, all others on the right ...
  bool last_left = false;        ///< ... but the last column, where that is said
  std::size_t gap = 3;           ///< blanks between columns
  /// Columns that are left out where lines are too long, the first of these first. Where that cannot do, because the
  /// last column is too long, and that is on the left, its cells stand beneath their rows.
  std::vector<std::size_t> least_important{};
  std::vector<Row> rows{};
  std::string title{};
  std::string below{};     ///< the heading of what stands beneath rows, which elsewhere is the last column
  bool in_pieces = false;  ///< where lines are too long, columns that do not fit go on beneath, under the left ones

  /// Takes a column out of header and rows; a sentence that runs on stays.
  void erase_column(std::size_t column);
  /// Whether the cell is the last of a row that has fewer than the header.
  [[nodiscard]] bool runs_on(const Row& row, std::size_t column) const {
    return row.cells.size() < header.size() && column + 1 == row.cells.size();
  }
};

}  // namespace xferbench
