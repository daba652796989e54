// Colours, where they are wanted.
#pragma once

#include <string>

namespace xferbench {

/// Writes ANSI colours where wanted and nothing where not.
struct Style {
  bool color = false;
  [[nodiscard]] std::string bold(const std::string& text) const { return paint("1", text); }
  [[nodiscard]] std::string dim(const std::string& text) const { return paint("2", text); }
  [[nodiscard]] std::string bad(const std::string& text) const { return paint("1;31", text); }
  [[nodiscard]] std::string good(const std::string& text) const { return paint("1;32", text); }
  [[nodiscard]] std::string notice(const std::string& text) const { return paint("1;33", text); }

 private:
  [[nodiscard]] std::string paint(const char* code, const std::string& text) const {
    return color ? std::string("\x1b[") + code + "m" + text + "\x1b[0m" : text;
  }
};

}  // namespace xferbench
