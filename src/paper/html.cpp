// Writes documents as HTML pages.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "core/printable.hpp"
#include "page_texts.hpp"
#include "paper/writers.hpp"

namespace xferbench {

namespace {

/// Text in code style. Long text may be broken after a slash.
std::string code(const std::string& text) {
  std::string safe;
  for (const char c : html_escaped(text)) {
    safe += c;
    if (c == '/') safe += "<wbr>";
  }
  return safe.empty() ? "" : "<code>" + safe + "</code>";
}

std::string strong(const std::string& text) {
  return text.empty() ? "" : "<strong>" + html_escaped(text) + "</strong>";
}

/// Returns the CSS class for the colour and weight of a text. No tone differs by colour alone.
std::string_view class_of(Tone tone) {
  constexpr std::array<std::string_view, 6> kClasses{"", "bold", "dim", "good", "notice", "bad"};
  return kClasses[static_cast<std::size_t>(tone)];
}

/// Returns a start tag with these CSS classes, if any. HTML requires quotes only around several classes.
std::string tag(std::string_view name, std::vector<std::string_view> classes, std::string_view more = {}) {
  std::erase(classes, "");
  const std::string all = fmt::format("{}", fmt::join(classes, " "));
  const char* quote = classes.size() > 1 ? "\"" : "";
  return fmt::format("<{}{}{}>", name, all.empty() ? "" : fmt::format(" class={}{}{}", quote, all, quote), more);
}

/// Whether a word, without punctuation at its end, is a unit that belongs to the number before it.
bool is_unit(std::string_view word) {
  constexpr std::array<std::string_view, 14> kUnits{"ns", "us", "ms",  "s",   "%",   "B",   "KB",
                                                    "MB", "GB", "KiB", "MiB", "GiB", "TiB", "GB/s"};
  return std::ranges::find(kUnits, word.substr(0, word.find_last_not_of(",;:.)") + 1)) != kUnits.end();
}

/// Escapes a word. A flag such as "--size" is never broken; the key of a case may be broken after its slashes.
std::string word_of_prose(const std::string& word) {
  const std::size_t begin = word.starts_with('(') ? 1 : 0;
  const bool is_flag = word.compare(begin, 2, "--") == 0 && word.size() > begin + 2 && word[begin + 2] >= 'a';
  const bool is_key = word.find('/') < word.find('=') && word.find('=') != std::string::npos && !is_flag;
  if (!is_flag && !is_key) return html_escaped(word);
  const std::size_t end = word.find_last_not_of(",;:.)") + 1;
  const std::string inner = word.substr(begin, end - begin);
  const std::string told = is_key ? code(inner) : "<span class=flag>" + html_escaped(inner) + "</span>";
  return html_escaped(word.substr(0, begin)) + told + html_escaped(word.substr(end));
}

/// Escapes a sentence such that no line break splits a flag, or separates a number from its unit.
std::string prose(const std::string& text) {
  std::string told;
  std::string before;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    const bool goes_with = !before.empty() && before.back() >= '0' && before.back() <= '9' && is_unit(word);
    told += (at == 0 ? "" : goes_with ? "&nbsp;" : " ") + word_of_prose(word);
    before = word;
    at = end + 1;
  }
  return told;
}

std::string joined(std::vector<std::string> words, std::string_view between) {
  std::erase(words, "");
  return fmt::format("{}", fmt::join(words, between));
}

/// Tables with more rows can be sorted and filtered.
constexpr std::size_t kManyRows = 20;
constexpr std::size_t kMostRowsOfMap = 64;  // matrices with more rows are drawn without numbers
constexpr std::size_t kLongText = 40;       // characters; the text of longer cells may be wrapped

class Page {
 public:
  explicit Page(const std::string& title) : about_(title) {}

  [[nodiscard]] const std::string& contents() const { return contents_; }

  std::string parts(const std::vector<Part>& all) {
    constexpr std::string_view kEnd = "</p>\n";
    std::string text;
    for (const Part& part : all) {
      if (!is_shown(part.shown, Shown::pages)) continue;
      const auto* const sentence = std::get_if<Sentence>(&part.content);
      if (sentence != nullptr && sentence->goes_on && text.ends_with(kEnd)) {
        text.replace(
            text.size() - kEnd.size(), kEnd.size(),
            "<br>" + tag("span", {class_of(sentence->tone)}) + words_of(*sentence) + "</span>" + std::string(kEnd));
      } else {
        text += std::visit([this](const auto& content) { return this->part(content); }, part.content);
      }
    }
    return text;
  }

 private:
  static std::string words_of(const Sentence& sentence) {
    const std::string text = prose(sentence.label + sentence.text);
    return sentence.strong ? "<strong>" + text + "</strong>" : text;
  }

  std::string part(const Sentence& sentence) {
    if (sentence.text.empty()) return {};
    return tag("p", {class_of(sentence.tone), sentence.strong ? "answer" : ""}) + words_of(sentence) + "</p>\n";
  }

  std::string part(const Heading& heading) {
    about_ = heading.text;
    const std::string place = fmt::format("part-{}", ++headings_);
    contents_ += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", place, html_escaped(heading.text));
    std::string text = fmt::format("<h2 id=\"{}\">{}", place, html_escaped(heading.text));
    for (const std::string& mark : heading.marks) text += " <span class=mark>" + html_escaped(mark) + "</span>";
    text += "</h2>\n";
    return heading.common.empty() ? text
                                  : text + "<p class=dim>" + html_escaped(joined(heading.common, ", ")) + "</p>\n";
  }

  /// Puts content into a region that scrolls if the content is too wide. Each region gets a unique label.
  std::string boxed(const std::string& title, bool is_long, std::string_view content) {
    std::string label = title.empty() ? about_ : title;
    for (int number = 2; !labels_.insert(label).second; ++number) {
      label = fmt::format("{} ({})", title.empty() ? about_ : title, number);
    }
    return fmt::format("<div class=\"scroll{}\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">{}</div>\n",
                       is_long ? " long" : "", html_escaped(label), content);
  }

  [[nodiscard]] std::string caption(const std::string& title) const {
    return "<caption class=hidden>" + html_escaped(title.empty() ? about_ : title) + "</caption>";
  }

  /// Returns a title to be placed above a scrolling region, so that it does not scroll away.
  [[nodiscard]] std::string heading(const std::string& title) const {
    const char* level = headings_ > 0 ? "h3" : "h2";
    return title.empty() ? "" : fmt::format("<{0}>{1}</{0}>\n", level, html_escaped(title));
  }

  /// `opens`: attributes of the button that opens a popover; empty: no button.
  static std::string cell(const Cell& cell, std::string_view name, bool left, std::size_t span,
                          const std::string& opens) {
    const std::string text = cell.text.substr(0, cell.text.find_last_not_of(' ') + 1);
    std::string more = name == "th" ? " scope=row" : "";
    if (span > 1) more += fmt::format(" colspan={}", span);
    const bool is_long = left && text.size() > kLongText;
    std::string content = cell.code ? code(text) : cell.strong ? strong(text) : html_escaped(text);
    if (!opens.empty()) content = fmt::format("<button type=button{}>{}</button>", opens, content);
    return tag(name, {left ? "" : "n", is_long ? "words" : "", class_of(cell.tone)}, more) + content +
           fmt::format("</{}>", name);
  }

  std::string part(const Table& table) {
    const std::size_t columns = table.columns();
    if (columns == 0) return {};
    const auto is_left = [&](std::size_t i) { return i < table.left_columns || (table.last_left && i + 1 == columns); };
    const bool has_below = std::ranges::any_of(table.rows, [](const Table::Row& row) { return !row.below.empty(); });
    std::string text = "<table>" + caption(table.title) + (table.header.empty() ? "" : "<thead><tr>");
    for (std::size_t i = 0; i < table.header.size(); ++i) {
      text += tag("th", {is_left(i) ? "" : "n"}, " scope=col") + html_escaped(table.header[i]) + "</th>";
    }
    if (!table.header.empty()) {
      text += (has_below ? "<th scope=col>" + html_escaped(table.below) + "</th>" : "") + "</tr></thead>";
    }
    text += "<tbody>\n";
    std::string opened;
    for (const Table::Row& row : table.rows) {
      text += "<tr>";
      if (row.opens) opened += popover(*row.opens);
      const std::string opens =
          row.opens ? fmt::format(" popovertarget=\"opened-{}\" title=\"{}\"", opened_, html_escaped(row.opens->title))
                    : "";
      for (std::size_t i = 0; i < row.cells.size(); ++i) {
        const bool last = i + 1 == row.cells.size();
        text += cell(row.cells[i], i == 0 && is_left(0) ? "th" : "td", is_left(i) || (last && i + 1 < columns),
                     last ? columns - i : 1, i == 0 ? opens : "");
      }
      if (has_below) text += "<td class=words>" + html_escaped(joined(row.below, "; ")) + "</td>";
      text += "</tr>\n";
    }
    return heading(table.title) + boxed(table.title, table.rows.size() > kManyRows, text + "</tbody></table>") + opened;
  }

  std::string part(const Matrix& matrix) {
    if (matrix.rows.size() > kMostRowsOfMap) return figure(matrix.title, to_svg(matrix)) + note_of(matrix);
    const auto range = matrix.range();
    const std::string corner =
        matrix.corner.empty() ? "<td></td>" : "<th scope=col>" + html_escaped(matrix.corner) + "</th>";
    std::string text = "<table class=map>" + caption(matrix.title) + "<thead><tr>" + corner;
    for (const std::string& column : matrix.columns) text += "<th scope=col class=n>" + html_escaped(column) + "</th>";
    text += "</tr></thead><tbody>\n";
    for (std::size_t i = 0; i < matrix.cells.size(); ++i) {
      const std::size_t column = i % matrix.columns.size();
      if (column == 0) text += "<tr><th scope=row>" + html_escaped(matrix.rows[i / matrix.columns.size()]) + "</th>";
      const std::string shade = matrix.cells[i] ? fmt::format("s{}", shade_of(*matrix.cells[i], range)) : "";
      text += tag("td", {"n", shade}) + matrix.cell_text(i) + "</td>";
      if (column + 1 == matrix.columns.size()) text += "</tr>\n";
    }
    return heading(matrix.title) + boxed(matrix.title, false, text + "</tbody></table>") + note_of(matrix);
  }

  template <Drawing Content>
  std::string part(const Content& drawing) {
    return figure(drawing.title, to_svg(drawing)) + note_of(drawing);
  }

  std::string part(const Chart& chart) {
    const bool small = chart.shape == Chart::Shape::small;
    constexpr std::array<std::string_view, 4> kLooks{"", "dash", "dot", "dot"};  // CSS class of a line, by Series::Role
    std::string names;
    for (const LineName& line : small ? std::vector<LineName>() : names_of(chart)) {
      names += tag("li", {fmt::format("c{}", line.colour), kLooks[static_cast<std::size_t>(line.role)]}) +
               html_escaped(line.name) + "</li>";
    }
    if (!names.empty()) names = "<ul class=names>" + names + "</ul>\n";
    return figure(chart.title, to_svg(chart), small) + names + note_of(chart);
  }

  std::string popover(const Chart& chart) {
    return fmt::format("<div popover id=\"opened-{}\" role=\"dialog\" aria-label=\"{}\">", ++opened_,
                       html_escaped(chart.title)) +
           figure(chart.title, to_svg(chart)) + "</div>\n";
  }

  std::string figure(const std::string& title, const std::string& svg, bool small = false) {
    if (svg.empty()) return {};
    return tag("figure", {small ? "small" : ""}) + "<figcaption>" + html_escaped(title) + "</figcaption>\n" +
           boxed(title, false, svg) + "</figure>\n";
  }

  template <class Content>
  static std::string note_of(const Content& content) {
    if constexpr (requires { content.note; }) {
      if (!content.note.empty()) return "<p class=dim>" + html_escaped(content.note) + "</p>\n";
    }
    return {};
  }

  std::string part(const List& list) {
    if (list.items.empty()) return {};
    const char* name = list.numbered ? "ol" : "ul";
    std::string text = heading(list.title);
    text += tag(name, {class_of(list.tone)}) + "\n";
    for (const Item& item : list.items) {
      text += "<li>" + joined({strong(item.strong), prose(item.text), code(item.code)}, ": ");
      for (const Sentence& below : item.below) text += tag("p", {class_of(below.tone)}) + words_of(below) + "</p>";
      text += "</li>\n";
    }
    return text + fmt::format("</{}>\n", name);
  }

  std::string part(const Fold& fold) {
    return "<details><summary>" + html_escaped(fold.title) + "</summary>\n" + parts(fold.parts) + "</details>\n";
  }

  std::string about_;             // name for content without a title: the last heading, or the title of the document
  std::set<std::string> labels_;  // labels of the scrolling regions so far
  std::size_t headings_ = 0;
  std::size_t opened_ = 0;  // number of popovers so far
  std::string contents_;
};

/// Returns the banner that stays in view while the page scrolls. To be short, it has only the words of the marks.
std::string banner(const Trust& trust) {
  std::vector<std::string> words = trust.words();
  const std::string incomplete = trust.incomplete_text();
  if (!incomplete.empty()) words.push_back(incomplete.substr(0, incomplete.find(':')));
  if (words.empty()) return {};
  return "<div class=banner role=region aria-label=Warning>" + html_escaped(joined(words, ", ")) + "</div>\n";
}

}  // namespace

std::string to_html(const Document& document) {
  Page page(document.title);
  const std::string parts = page.parts(document.parts);
  std::vector<std::string> alarms = document.trust.alarms();
  if (!document.trust.complete) alarms.push_back(document.trust.incomplete_text());
  std::string marks;
  for (const std::string& alarm : alarms) marks += "<p class=mark>" + html_escaped(alarm) + "</p>\n";
  const bool has_contents = page.contents().find("<li>", 1) != std::string::npos;  // at least two entries
  const std::string contents =
      has_contents ? "<nav aria-label=Contents><ul>\n" + page.contents() + "</ul></nav>\n" : "";
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action 'none'; "
      "img-src data:; script-src {}; style-src {}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}<div class=frame>\n{}<main>\n<h1>{}</h1>\n{}{}"
      "</main>\n</div>\n<script>{}</script>\n</body>\n</html>\n",
      kPageJsSource, kPageCssSource, html_escaped(joined({document.title, document.about}, ": ")), kPageCss,
      banner(document.trust), contents, html_escaped(document.title), marks, parts, kPageJs);
}

std::string html_escaped(const std::string& text) {
  std::string safe;
  for (const char c : printable(text, ' ')) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += c;
    }
  }
  return safe;
}

}  // namespace xferbench
