// Writes tables on terminals, and makes them fit into the width.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/printable.hpp"
#include "paper/text.hpp"
#include "paper/writers.hpp"

namespace xferbench {

namespace {

std::vector<std::size_t> widths_of(const Table& table) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    std::size_t widest = width(printable(table.header[i]));
    for (const Table::Row& row : table.rows) {
      if (i < row.cells.size() && !table.runs_on(row, i))
        widest = std::max(widest, width(printable(row.cells[i].text)));
    }
    widths.push_back(widest);
  }
  return widths;
}

/// Colours a text. `begin`: the column in which each line of the wrapped text begins; 0: the text stays on one line.
std::string painted_lines(const std::string& text, std::size_t begin, Tone tone, const Style& style) {
  constexpr std::size_t kNarrow = 20;
  if (begin == 0 || style.columns < begin + kNarrow) return style.painted(tone, text);
  const std::string margin(begin, ' ');
  std::string lines = wrapped(text, style.columns, margin, margin).substr(begin);
  lines.pop_back();
  return style.painted(tone, lines);
}

std::string line(const Table& table, const Table::Row& row, const std::vector<std::size_t>& widths,
                 const Style& style) {
  std::string text;
  std::string blanks = "  ";  // written only if more text follows in the line
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const std::string cell = printable(row.cells[i].text);
    const std::size_t end = cell.find_last_not_of(' ') + 1;
    const bool sentence = table.runs_on(row, i);
    const std::size_t room = i < widths.size() && !sentence ? widths[i] - width(cell) : 0;
    const bool left = i < table.left_columns || (table.last_left && i + 1 == table.header.size());
    if (!left) blanks.append(room, ' ');
    if (end > 0) {
      const std::size_t begin = width(text) + blanks.size();
      text += blanks + painted_lines(cell.substr(0, end), sentence ? begin : 0, row.cells[i].tone, style);
      blanks.clear();
    }
    blanks.append(cell.size() - end + (left ? room : 0) + table.gap, ' ');
  }
  text += "\n";
  for (const std::string& sentence : row.below) text += wrapped(printable(sentence), style.columns, "      ", "      ");
  return text;
}

std::size_t length_of(const Table& table, const std::vector<std::size_t>& widths) {
  std::size_t all = 2;
  for (const std::size_t w : widths) all += w + table.gap;
  return widths.empty() ? 0 : all - table.gap;
}

/// Moves the cells of the last column below their rows, and removes the column.
void stack_last(Table& table) {
  const std::size_t last = table.header.size() - 1;
  for (Table::Row& row : table.rows) {
    if (row.cells.size() != table.header.size()) continue;
    row.below.insert(row.below.begin(), row.cells[last].text);
    row.cells.pop_back();
  }
  table.header.pop_back();
  table.last_left = false;
  std::erase(table.least_important, last);
}

bool fits(const Table& table, std::size_t columns) { return length_of(table, widths_of(table)) <= columns; }

/// Removes columns, in the order of Table::least_important, until the table fits or no column of that list is left.
/// Returns the headings of the removed columns.
std::vector<std::string> leave_out_least_important(Table& table, std::size_t columns) {
  std::vector<std::string> left_out;
  std::size_t fewest = 1;  // number of columns to keep, so that each sentence across columns has a column to begin in
  for (const Table::Row& row : table.rows) {
    if (row.cells.size() < table.header.size()) fewest = std::max(fewest, row.cells.size() + 1);
  }
  while (!table.least_important.empty() && table.header.size() > fewest && !fits(table, columns)) {
    const std::size_t column = table.least_important.front();
    left_out.push_back(table.header[column]);
    table.erase_column(column);
  }
  return left_out;
}

/// Makes a table fit into `columns` characters. Returns the headings of the columns that were left out.
std::vector<std::string> fit(Table& table, std::size_t columns) {
  Table with_last = table;
  std::vector<std::string> left_out = leave_out_least_important(with_last, columns);
  if (fits(with_last, columns) || !table.last_left || table.header.size() < 2) {
    table = std::move(with_last);
    return left_out;
  }
  stack_last(table);
  return leave_out_least_important(table, columns);
}

std::string lines_of(const Table& whole, const Style& style) {
  Table table = whole;
  const std::vector<std::string> left_out = style.columns > 0 ? fit(table, style.columns) : std::vector<std::string>();
  const std::vector<std::size_t> widths = widths_of(table);
  Table::Row header;
  for (const std::string& name : table.header) header.cells.emplace_back(name, Tone::dim);
  std::string all = table.header.empty() ? "" : line(table, header, widths, style);
  for (const Table::Row& row : table.rows) all += line(table, row, widths, style);
  if (left_out.empty()) return all;
  const std::string note =
      fmt::format("not in {} columns: {}; --wide shows all", style.columns, fmt::join(left_out, ", "));
  return all + paragraph(note, Tone::dim, style);
}

/// Returns the left columns and the columns [from, to) of a table, without rows whose cells in [from, to) are all
/// empty.
Table piece_of(const Table& table, std::size_t from, std::size_t to) {
  const auto kept = [&]<class T>(const std::vector<T>& all) {
    const auto at = [&all](std::size_t i) {
      return all.begin() + static_cast<std::ptrdiff_t>(std::min(i, all.size()));
    };
    std::vector<T> some(all.begin(), at(table.left_columns));
    some.insert(some.end(), at(from), at(to));
    return some;
  };
  Table piece{.header = kept(table.header), .left_columns = table.left_columns, .gap = table.gap};
  for (const Table::Row& row : table.rows) {
    Table::Row some{.cells = kept(row.cells)};
    const auto begin =
        some.cells.begin() + static_cast<std::ptrdiff_t>(std::min(table.left_columns, some.cells.size()));
    if (std::any_of(begin, some.cells.end(), [](const Cell& cell) { return !cell.text.empty(); })) {
      piece.rows.push_back(std::move(some));
    }
  }
  return piece;
}

/// Divides a table into several that fit into `columns` characters (0: unlimited). Each has the left columns, as many
/// other columns as fit but at least one, and the rows that are not empty in these other columns.
std::vector<Table> in_pieces(const Table& table, std::size_t columns) {
  const std::size_t all = table.header.size();
  std::vector<Table> pieces;
  for (std::size_t from = table.left_columns; from < all;) {
    std::size_t to = columns == 0 ? all : from + 1;
    while (to < all && fits(piece_of(table, from, to + 1), columns)) ++to;
    pieces.push_back(piece_of(table, from, to));
    from = to;
  }
  return pieces;
}

}  // namespace

std::string to_terminal(const Table& table, const Style& style) {
  std::string text = table.title.empty() ? "" : "  " + style.bold(printable(table.title)) + "\n";
  if (!table.in_pieces) return text + lines_of(table, style);
  for (const Table& piece : in_pieces(table, style.columns)) text += lines_of(piece, style);
  return text;
}

}  // namespace xferbench
