// Results as people read them. Pure functions from records to text.
#pragma once

#include <span>
#include <string>

#include "core/column.hpp"
#include "core/result.hpp"

namespace xferbench {

/// Writes ANSI colours where wanted and nothing where not.
struct Style {
  bool color = false;
  [[nodiscard]] std::string bold(const std::string& text) const { return paint("1", text); }
  [[nodiscard]] std::string dim(const std::string& text) const { return paint("2", text); }
  [[nodiscard]] std::string bad(const std::string& text) const { return paint("1;31", text); }
  [[nodiscard]] std::string notice(const std::string& text) const { return paint("1;33", text); }

 private:
  [[nodiscard]] std::string paint(const char* code, const std::string& text) const {
    return color ? std::string("\x1b[") + code + "m" + text + "\x1b[0m" : text;
  }
};

/// One table per scenario. Axes with one value stand in the title, the others are columns; columns without any value
/// are left out. One single case gets all its measurements below. Then what the results say together: a table for each
/// kind of finding, and the sentences. `scenarios` says what each calls its columns.
std::string to_table(const Report& report, std::span<const ScenarioView> scenarios, const Style& style);

}  // namespace xferbench
