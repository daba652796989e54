#include "paper/text.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include "core/lists.hpp"
#include "core/printable.hpp"

namespace xferbench {

std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t to, bool left) {
  const std::string space(to - std::min(to, width(text)), ' ');
  return left ? text + space : space + text;
}

namespace {

/// For a word that is too long for a line, returns the number of bytes for the first line: up to the last slash within
/// `room` bytes, or the whole word if there is no such slash.
std::size_t first_part(const std::string& word, std::size_t room) {
  const std::size_t slash = room > 1 ? word.rfind('/', room - 1) : std::string::npos;
  return slash == std::string::npos || slash == 0 ? word.size() : slash + 1;
}

bool is_number(const std::string& word) {
  return !word.empty() && word.find_first_not_of("(-0123456789.") == std::string::npos;
}

/// Returns the words of a sentence. A number and its unit count as one word.
std::vector<std::string> words_of(const std::string& sentence) {
  std::vector<std::string> all;
  std::istringstream words(sentence);
  for (std::string word; words >> word;) {
    if (!all.empty() && is_number(all.back()) && !is_number(word)) {
      all.back() += " " + word;
    } else {
      all.push_back(word);
    }
  }
  return all;
}

}  // namespace

std::string wrapped(const std::string& text, std::size_t columns, const std::string& first_margin,
                    const std::string& margin) {
  std::string lines;
  std::string line = first_margin;
  bool begun = false;      // the current line already has a word
  std::string in_command;  // ends each line of a command but the last, so that a shell reads the lines as one
  const auto next_line = [&] {
    lines += line + in_command + "\n";
    line = margin;
    begun = false;
  };
  for (std::string& word : words_of(text)) {
    if (word == "xferbench" && line.ends_with(':')) in_command = " \\";
    if (begun && columns > 0 && width(line) + 1 + width(word) + in_command.size() > columns) next_line();
    while (columns > 0 && !begun && width(line) + width(word) > columns) {
      const std::size_t part = first_part(word, columns > width(line) ? columns - width(line) : 0);
      if (part == word.size()) break;
      line += word.substr(0, part);
      word.erase(0, part);
      next_line();
    }
    line += (begun ? " " : "") + word;
    begun = true;
  }
  return lines + line + "\n";
}

std::string painted_lines(const std::string& lines, Tone tone, const Style& style) {
  std::string painted;
  for (const std::string& line : split(lines, '\n')) painted += style.painted(tone, line) + "\n";
  return painted;
}

std::string paragraph(const std::string& text, Tone tone, const Style& style) {
  return painted_lines(wrapped(printable(text), style.columns, "", "  "), tone, style);
}

}  // namespace xferbench
