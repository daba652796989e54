#include "report/grid.hpp"

#include <algorithm>
#include <string_view>

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
    for (const auto& [cells, tones] : grid.rows) {
      if (i < cells.size() && !runs_on(grid, cells, i)) widest = std::max(widest, width(printable(cells[i])));
    }
    widths.push_back(widest);
  }
  return widths;
}

std::string line(const Grid& grid, const Grid::Row& row, const std::vector<std::size_t>& widths, const Style& style) {
  std::string text;
  std::string blanks = "  ";  // only written when something follows
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const std::string cell = printable(row.cells[i]);
    const std::size_t end = cell.find_last_not_of(' ') + 1;
    const bool aligned = i < widths.size() && !runs_on(grid, row.cells, i);
    const std::size_t room = aligned ? widths[i] - width(cell) : 0;
    const bool left = i < grid.left_columns || (grid.last_left && i + 1 == grid.header.size());
    if (!left) blanks.append(room, ' ');
    if (end > 0) {
      text += blanks + style.painted(i < row.tones.size() ? row.tones[i] : Tone::plain, cell.substr(0, end));
      blanks.clear();
    }
    blanks.append(cell.size() - end + (left ? room : 0) + grid.gap, ' ');
  }
  return text + "\n";
}

std::string markdown_line(const Cells& cells, std::size_t columns) {
  std::string text = "|";
  for (std::size_t i = 0; i < columns; ++i) {
    text += i < cells.size() && !cells[i].empty() ? " " + markdown_escaped(cells[i]) + " |" : " |";
  }
  return text + "\n";
}

}  // namespace

std::string to_lines(const Grid& grid, const Style& style) {
  const std::vector<std::size_t> widths = widths_of(grid);
  const Grid::Row header{grid.header, std::vector(grid.header.size(), Tone::dim)};
  std::string all = grid.header.empty() ? "" : line(grid, header, widths, style);
  for (const Grid::Row& row : grid.rows) all += line(grid, row, widths, style);
  return all;
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
