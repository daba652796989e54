// A table before it is drawn, and its two drawings: aligned for a terminal, and as Markdown. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/style.hpp"

namespace xferbench {

struct Grid {
  struct Row {
    std::vector<std::string> cells;    ///< the last of fewer than the header has is a sentence that runs on
    std::vector<Tone> tones{};         ///< of the first cells, in colour
    std::vector<std::string> below{};  ///< sentences about the row that stand beneath it
  };
  std::vector<std::string> header;
  std::size_t left_columns = 0;  ///< the first so many stand on the left, all others on the right ...
  bool last_left = false;        ///< ... but the last column, where that is said
  std::size_t gap = 3;           ///< blanks between columns
  /// Columns that are left out where lines are too long, the first of these first. Where that cannot do, because the
  /// last column is too long, and that is on the left, its cells stand beneath their rows.
  std::vector<std::size_t> least_important{};
  std::vector<Row> rows{};
};

/// Lines of aligned cells, control characters replaced, that fit into the columns of the style; a line more says what
/// was left out for that. A header without any column is not drawn.
std::string to_lines(const Grid& grid, const Style& style);

/// The same table in pieces that fit into so many columns (0: as one): each has the columns on the left and as many of
/// the others as fit, at least one, and the rows that have something in these.
std::vector<Grid> in_pieces(const Grid& grid, std::size_t columns);

/// A table as GitHub renders it, cells escaped, without what stands beneath rows.
std::string to_markdown(const Grid& grid);

/// Text that Markdown shows as it is: in one line, with nothing in it that means emphasis, a link, HTML or the next
/// cell.
std::string markdown_escaped(const std::string& text);

}  // namespace xferbench
