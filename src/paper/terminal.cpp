// Writes documents for terminals.
#include "core/printable.hpp"
#include "paper/text.hpp"
#include "paper/writers.hpp"

namespace xferbench {

namespace {

/// Returns the width at which long sentences are wrapped. Longer lines are hard to read, however wide the window is.
std::size_t readable_columns(const Style& style) {
  constexpr std::size_t kReadable = 116;
  return style.columns > 0 ? std::min(style.columns, kReadable) : kReadable;
}

/// Writes a sentence. If the sentence has a label or a margin above 2 columns, its further lines begin below the text
/// of its first line. Otherwise they are indented by two more columns.
std::string lines_of(const Sentence& sentence, const Style& style) {
  const std::string margin(sentence.margin, ' ');
  const std::string label = printable(sentence.label);
  const bool labelled = !label.empty() || sentence.margin > 2;
  const std::string rest = labelled ? margin + std::string(width(label), ' ') : margin + "  ";
  const std::size_t columns = sentence.is_long || sentence.margin == 2 ? readable_columns(style) : style.columns;
  return painted_lines(wrapped(printable(sentence.text), columns, margin + label, rest), sentence.tone, style);
}

/// Writes the text of the heading, the axis values that all cases share, and the marks, wrapped if needed.
std::string lines_of(const Heading& heading, const Style& style) {
  std::vector<std::pair<std::string, Tone>> words{{printable(heading.text), Tone::bold}};
  for (const std::string& one : heading.common) words.emplace_back(printable(one), Tone::bold);
  for (const std::string& mark : heading.marks) words.emplace_back(printable(mark), Tone::notice);
  std::string text;
  std::size_t used = 0;
  for (const auto& [word, tone] : words) {
    const bool breaks = used > 0 && style.columns > 0 && used + 2 + width(word) > style.columns;
    text += (breaks ? "\n  " : used > 0 ? "  " : "") + style.painted(tone, word);
    used = (breaks || used > 0 ? 2 : 0) + (breaks ? 0 : used) + width(word);
  }
  return text + "\n";
}

std::string joined(const std::string& first, const char* between, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + between + second;
}

std::string lines_of(const List& list, const Style& style) {
  std::string text = list.title.empty() ? "" : "  " + style.bold(printable(list.title)) + "\n";
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const Item& item = list.items[i];
    const std::string number = list.numbered ? std::to_string(i + 1) + ". " : "";
    if (list.numbered && i > 0) text += "\n";
    text += lines_of(Sentence{.text = number + joined(joined(item.strong, ": ", item.text), ": ", item.code),
                              .tone = list.tone,
                              .margin = list.margin},
                     style);
    for (const Sentence& below : item.below) text += lines_of(below, style);
  }
  return text;
}

std::string lines_of(const Table& table, const Style& style) { return to_terminal(table, style); }
std::string lines_of(const Matrix& matrix, const Style& style) { return to_terminal(matrix, style); }

bool is_drawing(const Part& part) {
  return std::visit([]<class Content>(const Content&) { return Drawing<Content>; }, part.content);
}

std::string lines_of(const std::vector<Part>& parts, const Style& style) {
  std::string text;
  for (const Part& part : parts) {
    if (!is_shown(part.shown, Shown::terminal) || is_drawing(part)) continue;
    if (part.apart) text += "\n";
    if (const auto* fold = std::get_if<Fold>(&part.content)) {
      text += style.dim(printable(fold->title)) + "\n" + lines_of(fold->parts, style);
      continue;
    }
    text += std::visit(
        [&]<class Content>(const Content& content) {
          if constexpr (std::is_same_v<Content, Fold> || Drawing<Content>)
            return std::string();
          else
            return lines_of(content, style);
        },
        part.content);
  }
  return text;
}

/// Replaces each plus-minus sign by "+-", which is one character longer, and where possible removes a blank before it,
/// so that columns stay aligned.
std::string in_ascii(std::string text) {
  constexpr std::string_view kSign = "±";
  for (std::size_t at = text.find(kSign); at != std::string::npos; at = text.find(kSign, at)) {
    const std::size_t blanks = at > 1 && text.compare(at - 2, 2, "  ") == 0 ? 1 : 0;
    text.replace(at - blanks, kSign.size() + blanks, "+-");
  }
  return text;
}

}  // namespace

std::string to_terminal(const Document& document, const Style& style) {
  std::string text;
  for (const std::string& alarm : document.trust.alarms()) text += paragraph(alarm, Tone::notice, style);
  const std::string incomplete = document.trust.incomplete_text();
  if (!incomplete.empty()) text += paragraph(incomplete, Tone::notice, style);
  text += lines_of(document.parts, style);
  if (!incomplete.empty()) text += "\n" + paragraph(incomplete, Tone::notice, style);
  if (!document.trust.next.empty()) text += printable(document.trust.next) + "\n";
  return style.ascii ? in_ascii(std::move(text)) : text;
}

}  // namespace xferbench
