#include "core/shell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/printable.hpp"

namespace xferbench {

namespace {

bool is_plain(char c) {
  constexpr std::string_view kPlain = "_-./:,+@%=";
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.find(c) != std::string_view::npos;
}

/// Quotes the text as $'...', in which every byte can be written as an octal or hexadecimal escape.
std::string by_numbers(std::string_view text) {
  std::string word = "$'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      word += fmt::format("\\{}", c);
    } else if (byte < 0x20 || byte >= 0x7F) {
      word += fmt::format("\\x{:02x}", byte);
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace

std::string shell_quoted(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string(text);
  if (find_control(text).bytes > 0) return by_numbers(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string shell_word(std::string_view file) {
  return shell_quoted((file.starts_with("-") ? "./" : "") + std::string(file));
}

}  // namespace xferbench
