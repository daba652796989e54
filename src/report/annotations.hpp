// Annotations: short notes with a severity that a CI system shows next to a change. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "paper/document.hpp"

namespace xferbench {

struct Annotation {
  enum class Weight { error, warning, notice };
  Weight weight = Weight::notice;
  std::string title;
  std::string message;
};

/// Adds a warning for each of trust.marks(), which say why numbers may be wrong. `command` is, for example, "xferbench
/// check". `of` is the file or subject of the marks: "r.json".
void add_marks(const Trust& trust, const std::string& command, const std::string& of, std::vector<Annotation>& notes);

/// Returns workflow commands for GitHub's runner, a line each: "::error title=...::...". GitHub shows only ten of each
/// severity in a step. If there are more, the tenth line says how many.
std::vector<std::string> github_lines(const std::vector<Annotation>& annotations);

}  // namespace xferbench
