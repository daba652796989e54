// How text looks on a terminal: colours and line width.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace xferbench {

enum class Tone { plain, bold, dim, good, notice, bad };

/// Options for writing to a terminal.
struct Style {
  bool color = false;
  std::size_t columns = 0;  ///< maximum columns of a line; 0: unlimited
  bool every_row = false;   ///< show all rows, even of long tables whose numbers are repeated in a matrix below
  bool ascii = false;       ///< write "+-" for the plus-minus sign, for locales without UTF-8
  [[nodiscard]] std::string painted(Tone tone, const std::string& text) const {
    constexpr std::array<const char*, 6> kCodes{"", "1", "2", "1;32", "1;33", "1;31"};
    if (!color || tone == Tone::plain) return text;
    return std::string("\x1b[") + kCodes[static_cast<std::size_t>(tone)] + "m" + text + "\x1b[0m";
  }
  [[nodiscard]] std::string bold(const std::string& text) const { return painted(Tone::bold, text); }
  [[nodiscard]] std::string dim(const std::string& text) const { return painted(Tone::dim, text); }
  [[nodiscard]] std::string bad(const std::string& text) const { return painted(Tone::bad, text); }
  [[nodiscard]] std::string notice(const std::string& text) const { return painted(Tone::notice, text); }
};

}  // namespace xferbench
