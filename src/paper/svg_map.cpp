// Draws matrices with very many rows as small coloured cells without numbers.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/printable.hpp"
#include "paper/drawing.hpp"
#include "paper/matrix.hpp"

namespace xferbench {

namespace {

// In pixels. Each line of a strip is a column of the matrix, with the column's name on the left. Above a strip are the
// names of the first and the last matrix row in it.
constexpr double kCellsFrom = 56;
constexpr double kCellWidth = 7;
constexpr double kCellHeight = 12;
constexpr std::size_t kInStrip = 100;
constexpr double kMapWidth = kCellsFrom + kCellWidth * kInStrip + 4;
constexpr double kAboveStrip = 20;
constexpr double kBelowStrip = 12;
constexpr double kKey = 36;                // height of the colour key
constexpr std::size_t kLongestColumn = 8;  // bytes

class DenseMap {
 public:
  explicit DenseMap(const Matrix& matrix) : matrix_(matrix), range_(matrix.range()) {
    double top = kKey;
    for (std::size_t from = 0; from < matrix.rows.size(); from += kInStrip) {
      add_strip(from, std::min(from + kInStrip, matrix.rows.size()), top);
      top += kAboveStrip + kCellHeight * static_cast<double>(matrix.columns.size()) + kBelowStrip;
    }
    height_ = top;
  }

  [[nodiscard]] std::string svg() const {
    std::string text = drawing::opening(matrix_.title, kMapWidth, height_) + key() + names_ + "\n";
    for (std::size_t shade = 0; shade < kShades; ++shade) {
      if (!steps_[shade].empty()) text += drawing::path(fmt::format("cells s{}", shade), steps_[shade]) + "\n";
    }
    return text + marks_ + "</svg>\n";
  }

 private:
  static double left_of(std::size_t row) { return kCellsFrom + kCellWidth * static_cast<double>(row % kInStrip); }

  void add_strip(std::size_t from, std::size_t to, double top) {
    const std::string& last = matrix_.rows[to - 1];
    names_ += drawing::text_at(kCellsFrom, top + kAboveStrip - 6, "",
                               matrix_.rows[from] + (to - from > 1 ? " to " + last : ""));
    for (std::size_t column = 0; column < matrix_.columns.size(); ++column) {
      const double line = top + kAboveStrip + kCellHeight * static_cast<double>(column);
      const std::string name = shortened(printable(matrix_.columns[column]), kLongestColumn);
      names_ += drawing::text_at(kCellsFrom - 6, line + kCellHeight - 2, "end", name);
      add_line(from, to, column, line);
    }
  }

  /// Adds the cells of one matrix column. Neighbouring cells of one colour share a path segment.
  void add_line(std::size_t from, std::size_t to, std::size_t column, double top) {
    const auto shade_at = [&](std::size_t row) {
      const auto& cell = matrix_.cells[place(row, column)];
      return cell ? shade_of(*cell, range_) : kShades;
    };
    for (std::size_t row = from, next = row; row < to; row = next) {
      const std::size_t shade = shade_at(row);
      while (next < to && shade_at(next) == shade) ++next;
      if (shade == kShades) continue;
      steps_[shade] +=
          fmt::format("M{} {}h{}", left_of(row), top + kCellHeight / 2, kCellWidth * static_cast<double>(next - row));
    }
    for (std::size_t row = from; row < to; ++row) {
      if (!matrix_.marked[place(row, column)]) continue;
      const std::string said =
          fmt::format("{}, {}: {}", matrix_.rows[row], matrix_.columns[column], matrix_.cell_text(place(row, column)));
      marks_ += drawing::box("marked", left_of(row), top, kCellWidth, kCellHeight, said) + "\n";
    }
  }

  [[nodiscard]] std::size_t place(std::size_t row, std::size_t column) const {
    return row * matrix_.columns.size() + column;
  }

  /// Draws the colour key, between the smallest and the largest number.
  [[nodiscard]] std::string key() const {
    Matrix ends({"", ""}, {""});
    ends.form = matrix_.form;
    ends.cells = {range_.first, range_.second};
    constexpr double kWide = 14;
    std::string text = drawing::text_at(kCellsFrom - 6, 17, "end", ends.cell_text(0));
    for (std::size_t shade = 0; shade < kShades; ++shade) {
      text += drawing::path(fmt::format("cells s{}", shade),
                            fmt::format("M{} 13h{}", kCellsFrom + kWide * static_cast<double>(shade), kWide));
    }
    return text + drawing::text_at(kCellsFrom + kWide * kShades + 6, 17, "", ends.cell_text(1)) + "\n";
  }

  const Matrix& matrix_;
  std::pair<double, double> range_;
  double height_ = 0;
  std::string names_;
  std::array<std::string, kShades> steps_{};
  std::string marks_;
};

}  // namespace

std::string to_svg(const Matrix& matrix) { return matrix.empty() ? std::string() : DenseMap(matrix).svg(); }

}  // namespace xferbench
