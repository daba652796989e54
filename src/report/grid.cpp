#include "report/grid.hpp"

#include <algorithm>
#include <string_view>

#include "core/printable.hpp"
#include "report/cells.hpp"

namespace xferbench {

namespace {

constexpr const char* kGap = "   ";

using Row = std::vector<std::string>;

bool spans(const Grid& grid, const Row& cells, std::size_t i) {
  return cells.size() < grid.header.size() && i + 1 == cells.size();
}

std::vector<std::size_t> widths_of(const Grid& grid) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < grid.header.size(); ++i) {
    std::size_t widest = width(printable(grid.header[i]));
    for (const Grid::Row& row : grid.rows) {
      if (i < row.cells.size() && !spans(grid, row.cells, i)) widest = std::max(widest, width(printable(row.cells[i])));
    }
    widths.push_back(widest);
  }
  return widths;
}

template <class Paint>
std::string line(const Grid& grid, const Row& cells, const std::vector<std::size_t>& widths, const Paint& paint) {
  std::string text = " ";
  std::string pending;  // spaces that are only written when something follows: no trailing blanks
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool last_on_the_left = i + 1 == cells.size() && i < grid.left_columns;
    const bool unaligned = spans(grid, cells, i) || i >= widths.size() || last_on_the_left;
    const std::string shown = printable(cells[i]);
    const std::string cell = unaligned ? shown : padded(shown, widths[i], i < grid.left_columns);
    pending += i == 0 ? " " : kGap;
    if (cells[i].empty()) {
      pending += cell;
      continue;
    }
    text += pending + paint(i, cell);
    pending.clear();
  }
  return text + "\n";
}

std::string painted(const Grid& grid, const Grid::Row& row, std::size_t i, const std::string& text,
                    const Style& style) {
  if (row.tone != Grid::Tone::plain) {
    if (i < row.tone_from) return text;
    return row.tone == Grid::Tone::bad ? style.bad(text) : style.dim(text);
  }
  return i < grid.emphasised.size() && grid.emphasised[i] ? style.bold(text) : text;
}

std::string markdown_line(const Row& cells, std::size_t columns) {
  std::string text = "|";
  for (std::size_t i = 0; i < columns; ++i) {
    text += i < cells.size() && !cells[i].empty() ? " " + markdown_escaped(cells[i]) + " |" : " |";
  }
  return text + "\n";
}

}  // namespace

std::string to_lines(const Grid& grid, const Style& style) {
  const std::vector<std::size_t> widths = widths_of(grid);
  std::string all;
  // A single case that was skipped has nothing to name.
  if (!grid.header.empty()) {
    all = line(grid, grid.header, widths, [&](std::size_t, const std::string& text) { return style.dim(text); });
  }
  for (const Grid::Row& row : grid.rows) {
    all += line(grid, row.cells, widths,
                [&](std::size_t i, const std::string& text) { return painted(grid, row, i, text, style); });
  }
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
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      escaped += ' ';
    } else {
      if (kSpecial.find(c) != std::string_view::npos) escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace xferbench
