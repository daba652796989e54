#include "report/grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/printable.hpp"
#include "report/cells.hpp"

namespace xferbench {

namespace {

using Cells = std::vector<std::string>;

bool runs_on(const Grid& grid, const Cells& cells, std::size_t i) {
  return cells.size() < grid.header.size() && i + 1 == cells.size();
}

std::vector<std::size_t> widths_of(const Grid& grid) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < grid.header.size(); ++i) {
    std::size_t widest = width(printable(grid.header[i]));
    for (const Grid::Row& row : grid.rows) {
      const Cells& cells = row.cells;
      if (i < cells.size() && !runs_on(grid, cells, i)) widest = std::max(widest, width(printable(cells[i])));
    }
    widths.push_back(widest);
  }
  return widths;
}

/// A text that begins in that column, in lines that fit; of what is not a sentence (`begin` is 0) as it is.
std::string painted_lines(const std::string& text, std::size_t begin, Tone tone, const Style& style) {
  constexpr std::size_t kNarrow = 20;
  if (begin == 0 || style.columns < begin + kNarrow) return style.painted(tone, text);
  const std::string margin(begin, ' ');
  std::string lines = wrapped(text, style.columns, margin, margin).substr(begin);
  lines.pop_back();
  return style.painted(tone, lines);
}

std::string line(const Grid& grid, const Grid::Row& row, const std::vector<std::size_t>& widths, const Style& style) {
  std::string text;
  std::string blanks = "  ";  // only written when something follows
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const std::string cell = printable(row.cells[i]);
    const std::size_t end = cell.find_last_not_of(' ') + 1;
    const bool sentence = runs_on(grid, row.cells, i);
    const std::size_t room = i < widths.size() && !sentence ? widths[i] - width(cell) : 0;
    const bool left = i < grid.left_columns || (grid.last_left && i + 1 == grid.header.size());
    if (!left) blanks.append(room, ' ');
    if (end > 0) {
      const Tone tone = i < row.tones.size() ? row.tones[i] : Tone::plain;
      const std::size_t begin = width(text) + blanks.size();
      text += blanks + painted_lines(cell.substr(0, end), sentence ? begin : 0, tone, style);
      blanks.clear();
    }
    blanks.append(cell.size() - end + (left ? room : 0) + grid.gap, ' ');
  }
  text += "\n";
  for (const std::string& sentence : row.below) text += wrapped(printable(sentence), style.columns, "      ", "      ");
  return text;
}

std::size_t length_of(const Grid& grid, const std::vector<std::size_t>& widths) {
  std::size_t all = 2;
  for (const std::size_t w : widths) all += w + grid.gap;
  return widths.empty() ? 0 : all - grid.gap;
}

void leave_out(Grid& grid, std::size_t column) {
  const auto at = static_cast<std::ptrdiff_t>(column);
  for (Grid::Row& row : grid.rows) {
    // What runs on stands under the columns that it takes the place of.
    if (column < row.cells.size() && !runs_on(grid, row.cells, column)) row.cells.erase(row.cells.begin() + at);
    if (column < row.tones.size()) row.tones.erase(row.tones.begin() + at);
  }
  grid.header.erase(grid.header.begin() + at);
  if (column < grid.left_columns) --grid.left_columns;
  for (std::size_t& other : grid.least_important) {
    if (other > column) --other;
  }
}

/// The cells of the last column beneath their rows.
void stack_last(Grid& grid) {
  const std::size_t last = grid.header.size() - 1;
  for (Grid::Row& row : grid.rows) {
    if (row.cells.size() != grid.header.size()) continue;
    row.below.insert(row.below.begin(), row.cells[last]);
    row.cells.pop_back();
  }
  grid.header.pop_back();
  grid.last_left = false;
  std::erase(grid.least_important, last);
}

bool fits(const Grid& grid, std::size_t columns) { return length_of(grid, widths_of(grid)) <= columns; }

/// Leaves out columns as long as it must and can; the headings of those that are gone.
std::vector<std::string> leave_out_least_important(Grid& grid, std::size_t columns) {
  std::vector<std::string> left_out;
  std::size_t fewest = 1;  // columns, so that what runs on still does
  for (const Grid::Row& row : grid.rows) {
    if (row.cells.size() < grid.header.size()) fewest = std::max(fewest, row.cells.size() + 1);
  }
  while (!grid.least_important.empty() && grid.header.size() > fewest && !fits(grid, columns)) {
    const std::size_t column = grid.least_important.front();
    grid.least_important.erase(grid.least_important.begin());
    left_out.push_back(grid.header[column]);
    leave_out(grid, column);
  }
  return left_out;
}

/// Makes a grid fit; the headings of the columns that are not in it any more.
std::vector<std::string> fit(Grid& grid, std::size_t columns) {
  Grid with_last = grid;
  std::vector<std::string> left_out = leave_out_least_important(with_last, columns);
  if (fits(with_last, columns) || !grid.last_left || grid.header.size() < 2) {
    grid = std::move(with_last);
    return left_out;
  }
  stack_last(grid);
  return leave_out_least_important(grid, columns);
}

std::string markdown_line(const Cells& cells, std::size_t columns) {
  std::string text = "|";
  for (std::size_t i = 0; i < columns; ++i) {
    text += i < cells.size() && !cells[i].empty() ? " " + markdown_escaped(cells[i]) + " |" : " |";
  }
  return text + "\n";
}

}  // namespace

std::string to_lines(const Grid& whole, const Style& style) {
  Grid grid = whole;
  const std::vector<std::string> left_out = style.columns > 0 ? fit(grid, style.columns) : std::vector<std::string>();
  const std::vector<std::size_t> widths = widths_of(grid);
  const Grid::Row header{.cells = grid.header, .tones = std::vector(grid.header.size(), Tone::dim)};
  std::string all = grid.header.empty() ? "" : line(grid, header, widths, style);
  for (const Grid::Row& row : grid.rows) all += line(grid, row, widths, style);
  if (left_out.empty()) return all;
  const std::string note =
      fmt::format("not in {} columns: {}; --wide shows all", style.columns, fmt::join(left_out, ", "));
  return all + paragraph(note, Tone::dim, style);
}

namespace {

/// The columns on the left, and those from one place up to another.
Grid piece_of(const Grid& grid, std::size_t from, std::size_t to) {
  const auto kept = [&]<class T>(const std::vector<T>& all) {
    const auto at = [&all](std::size_t i) {
      return all.begin() + static_cast<std::ptrdiff_t>(std::min(i, all.size()));
    };
    std::vector<T> some(all.begin(), at(grid.left_columns));
    some.insert(some.end(), at(from), at(to));
    return some;
  };
  Grid piece{.header = kept(grid.header), .left_columns = grid.left_columns, .gap = grid.gap};
  for (const Grid::Row& row : grid.rows) {
    Grid::Row some{.cells = kept(row.cells), .tones = kept(row.tones)};
    const auto begin = some.cells.begin() + static_cast<std::ptrdiff_t>(std::min(grid.left_columns, some.cells.size()));
    if (std::any_of(begin, some.cells.end(), [](const std::string& cell) { return !cell.empty(); })) {
      piece.rows.push_back(std::move(some));
    }
  }
  return piece;
}

}  // namespace

std::vector<Grid> in_pieces(const Grid& grid, std::size_t columns) {
  const std::size_t all = grid.header.size();
  std::vector<Grid> pieces;
  for (std::size_t from = grid.left_columns; from < all;) {
    std::size_t to = columns == 0 ? all : from + 1;
    while (to < all && fits(piece_of(grid, from, to + 1), columns)) ++to;
    pieces.push_back(piece_of(grid, from, to));
    from = to;
  }
  return pieces;
}

std::string to_markdown(const Grid& grid) {
  std::size_t columns = grid.header.size();
  for (const Grid::Row& row : grid.rows) columns = std::max(columns, row.cells.size());
  if (columns == 0) return {};
  std::string text = markdown_line(grid.header, columns) + "|";
  for (std::size_t i = 0; i < columns; ++i) text += i < grid.left_columns ? "---|" : "---:|";
  text += "\n";
  for (const Grid::Row& row : grid.rows) text += markdown_line(row.cells, columns);
  return text;
}

std::string markdown_escaped(const std::string& text) {
  constexpr std::string_view kSpecial = "\\`*_[]|~";
  std::string escaped;
  for (const char c : printable(text, ' ')) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else {
      if (kSpecial.find(c) != std::string_view::npos) escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace xferbench
