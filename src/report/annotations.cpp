#include "report/annotations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/printable.hpp"

namespace xferbench {

namespace {

using Weight = Annotation::Weight;

constexpr std::array kNames{std::string_view("error"), std::string_view("warning"), std::string_view("notice")};
constexpr std::size_t kMostOfAStep = 10;
constexpr std::size_t kLongestTitle = 200;
constexpr std::size_t kLongestMessage = 1000;

/// Escapes a text for a GitHub workflow command. In a property, such as a title, the separators of properties are
/// escaped, too.
std::string escaped(std::string_view text, bool property) {
  const std::string_view meaningful = property ? "%:,\r\n" : "%\r\n";
  std::string result;
  for (const char c : text) {
    const bool is_plain = meaningful.find(c) == std::string_view::npos;
    result += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

/// Returns the message with its line breaks, but with other control characters replaced.
std::string message_text(const std::string& message) {
  std::string text;
  for (std::size_t begin = 0; begin <= message.size();) {
    const std::size_t end = std::min(message.find('\n', begin), message.size());
    text += (begin > 0 ? "\n" : "") + printable(std::string_view(message).substr(begin, end - begin));
    begin = end + 1;
  }
  return shortened(text, kLongestMessage);
}

std::string line_of(const Annotation& note) {
  return fmt::format("::{} title={}::{}", kNames[static_cast<std::size_t>(note.weight)],
                     escaped(shortened(printable(note.title), kLongestTitle), true),
                     escaped(message_text(note.message), false));
}

}  // namespace

void add_marks(const Trust& trust, const std::string& command, const std::string& of, std::vector<Annotation>& notes) {
  for (const Trust::Mark& mark : trust.marks()) {
    notes.push_back({.weight = Annotation::Weight::warning,
                     .title = command + ": " + mark.word,
                     .message = of + (of.empty() ? "" : ": ") + mark.said});
  }
}

std::vector<std::string> github_lines(const std::vector<Annotation>& annotations) {
  std::vector<std::string> lines;
  for (const Weight weight : {Weight::error, Weight::warning, Weight::notice}) {
    const auto all = static_cast<std::size_t>(std::ranges::count(annotations, weight, &Annotation::weight));
    std::size_t shown = 0;
    for (const Annotation& note : annotations) {
      if (note.weight != weight) continue;
      if (++shown < kMostOfAStep || all <= kMostOfAStep) {
        lines.push_back(line_of(note));
        continue;
      }
      lines.push_back(line_of({.weight = weight,
                               .title = "xferbench: and more",
                               .message = fmt::format("{} more, see the table", all - kMostOfAStep + 1)}));
      break;
    }
  }
  return lines;
}

}  // namespace xferbench
