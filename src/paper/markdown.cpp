// Writes documents as Markdown.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "core/printable.hpp"
#include "paper/writers.hpp"

namespace xferbench {

namespace {

/// Formats text as code. Characters with a meaning in Markdown or HTML become entities, so that "@" mentions nobody.
std::string code(const std::string& text) {
  constexpr std::string_view kMeaningful = "&<>|`*_[]\\~@#\"'!";
  std::string escaped;
  for (const char c : printable(text, ' ')) {
    const bool is_plain = kMeaningful.find(c) == std::string_view::npos;
    escaped += is_plain ? std::string(1, c) : fmt::format("&#{};", static_cast<unsigned char>(c));
  }
  return escaped.empty() ? "" : "<code>" + escaped + "</code>";
}

std::string strong(const std::string& text) { return text.empty() ? "" : "**" + markdown_escaped(text) + "**"; }

std::string shown(const Cell& cell) {
  if (cell.code) return code(cell.text);
  const std::string text = cell.text.substr(0, cell.text.find_last_not_of(' ') + 1);
  return cell.strong ? strong(text) : markdown_escaped(text);
}

std::string line_of(const std::vector<Cell>& cells) {
  std::string text = "|";
  for (const Cell& cell : cells) text += cell.text.empty() ? " |" : " " + shown(cell) + " |";
  return text + "\n";
}

/// Writer of a document's parts. If the text would exceed its maximum size, table rows and list entries are left out.
/// Each table and list gets an equal share of the space that the other text leaves.
class Writer {
 public:
  /// Whether rows of tables and lists are written. `none` serves to measure the size of everything else.
  enum class Rows { all, none };
  explicit Writer(Rows rows) : rows_(rows) {}
  /// Limits the text to `most` bytes. `others`: bytes of everything except rows; `places`: number of tables and lists.
  Writer(std::size_t most, std::size_t others, std::size_t places)
      : left_(most - std::min(most, others)), places_(places) {}

  /// Returns the number of tables and lists written so far.
  [[nodiscard]] std::size_t places() const { return come_; }

  std::string parts(const std::vector<Part>& all) {
    std::string text;
    for (const Part& part : all) {
      if (!is_shown(part.shown, Shown::markdown)) continue;
      const auto* const sentence = std::get_if<Sentence>(&part.content);
      const bool goes_on = sentence != nullptr && sentence->goes_on && text.ends_with('\n');
      if (goes_on) text.insert(text.size() - 1, "  ");  // in Markdown, two blanks before a line feed break the line
      const std::string own = std::visit([this](const auto& content) { return this->part(content); }, part.content);
      if (own.empty()) continue;
      text += (text.empty() || goes_on ? "" : "\n") + own;
    }
    return text;
  }

 private:
  std::string part(const Sentence& sentence) {
    if (sentence.text.empty()) return {};
    const std::string text = sentence.label + sentence.text;
    return (sentence.strong ? strong(text) : markdown_escaped(text)) + "\n";
  }

  std::string part(const Heading& heading) {
    std::string text = "## " + markdown_escaped(heading.text);
    if (!heading.marks.empty())
      text += fmt::format(" ({})", markdown_escaped(fmt::format("{}", fmt::join(heading.marks, ", "))));
    text += "\n";
    if (!heading.common.empty())
      text += "\n" + markdown_escaped(fmt::format("{}", fmt::join(heading.common, ", "))) + "\n";
    return text;
  }

  std::string title(const std::string& text) { return text.empty() ? "" : "### " + markdown_escaped(text) + "\n\n"; }

  /// Writes as many lines as fit, then the number of lines that do not fit.
  std::string lines(const std::vector<std::string>& all, const char* what) {
    ++come_;
    if (rows_ == Rows::none) return {};
    constexpr std::size_t kNote = 60;
    const std::size_t share = left_ == kUnlimited ? kUnlimited : left_ / std::max<std::size_t>(places_ + 1 - come_, 1);
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (share != kUnlimited && text.size() + all[i].size() + kNote > share) {
        text += fmt::format("\n{} more {} do not fit here.\n", all.size() - i, what);
        break;
      }
      text += all[i];
    }
    if (left_ != kUnlimited) left_ -= std::min(left_, text.size());
    return text;
  }

  std::string part(const Table& table) {
    const std::size_t columns = table.columns();
    if (columns == 0) return {};
    std::string rule = "|";
    for (std::size_t i = 0; i < columns; ++i) {
      const bool left = i < table.left_columns || (table.last_left && i + 1 == columns);
      rule += left ? "---|" : "---:|";
    }
    const bool has_below = std::ranges::any_of(table.rows, [](const Table::Row& row) { return !row.below.empty(); });
    std::vector<Cell> header(table.header.begin(), table.header.end());
    header.resize(columns);
    if (has_below) {
      header.emplace_back(table.below);
      rule += "---|";
    }
    std::vector<std::string> rows;
    for (Table::Row row : table.rows) {
      row.cells.resize(columns);
      if (has_below) row.cells.push_back(Cell::as_code(fmt::format("{}", fmt::join(row.below, "; "))));
      rows.push_back(line_of(row.cells));
    }
    return title(table.title) + line_of(header) + rule + "\n" + lines(rows, "cases");
  }

  std::string part(const Matrix& matrix) {
    const std::string text = part(to_table(matrix));
    return matrix.note.empty() ? text : text + "\n" + markdown_escaped(matrix.note) + "\n";
  }

  static std::string entry(const Item& item, const std::string& mark) {
    std::vector<std::string> words{strong(item.strong), markdown_escaped(item.text), code(item.code)};
    std::erase(words, "");
    std::string text = fmt::format("{} {}\n", mark, fmt::join(words, ": "));
    for (const Sentence& below : item.below) {
      text += fmt::format("{}- {}\n", std::string(mark.size() + 1, ' '), markdown_escaped(below.label + below.text));
    }
    return text;
  }
  std::string part(const List& list) {
    if (list.items.empty()) return {};
    std::vector<std::string> rows;
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      rows.push_back(entry(list.items[i], list.numbered ? fmt::format("{}.", i + 1) : "-"));
    }
    return title(list.title) + lines(rows, "entries");
  }

  template <Drawing Content>
  static std::string part(const Content&) {
    return {};
  }

  std::string part(const Fold& fold) {
    return "<details><summary>" + markdown_escaped(fold.title) + "</summary>\n\n" + parts(fold.parts) +
           "\n</details>\n";
  }

  static constexpr std::size_t kUnlimited = std::string::npos;
  Rows rows_ = Rows::all;
  std::size_t left_ = kUnlimited;
  std::size_t places_ = 0;
  std::size_t come_ = 0;
};

}  // namespace

std::string to_markdown(const Document& document, const MarkdownLimits& limits) {
  const std::string title = fmt::format("{} {}\n", std::string(static_cast<std::size_t>(limits.title_level), '#'),
                                        markdown_escaped(document.title));
  std::string marks;
  for (const std::string& alarm : document.trust.alarms()) marks += "\n" + strong(alarm) + "\n";
  if (!document.trust.complete) marks += "\n" + strong(document.trust.incomplete_text()) + "\n";
  std::string text = Writer(Writer::Rows::all).parts(document.parts);
  if (const std::size_t above = title.size() + marks.size() + 1; limits.most > 0 && above + text.size() > limits.most) {
    Writer bare(Writer::Rows::none);
    const std::size_t others = above + bare.parts(document.parts).size();
    text = Writer(limits.most, others, bare.places()).parts(document.parts);
  }
  return title + marks + (text.empty() ? "" : "\n" + text);
}

std::string markdown_escaped(const std::string& text) {
  constexpr std::string_view kSpecial = "\\`*_[]|~";
  constexpr std::string_view kAsEntities = "&<@#";
  std::string escaped;
  for (const char c : printable(text, ' ')) {
    if (kAsEntities.find(c) != std::string_view::npos) {
      escaped += c == '&' ? "&amp;" : c == '<' ? "&lt;" : fmt::format("&#{};", static_cast<int>(c));
    } else {
      if (kSpecial.find(c) != std::string_view::npos) escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace xferbench
