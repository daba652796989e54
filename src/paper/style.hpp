// How a text looks where it is shown: colours, where they are wanted, and how wide it may be.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace xferbench {

enum class Tone { plain, bold, dim, good, notice, bad };

/// Writes ANSI colours where wanted and nothing where not, in lines that fit.
struct Style {
  bool color = false;
  std::size_t columns = 0;  ///< that a line may have; 0: as many as it needs
  bool every_row = false;   ///< even of a long table of what is drawn below it
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
