// What a CI system shows beside a change: short notes, each with its weight. Pure functions.
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

/// A warning for each mark. `of`: the command, and whose marks they are: "xferbench check", "r.json".
void add_marks(const Trust& trust, const std::string& command, const std::string& of, std::vector<Annotation>& notes);

/// As GitHub's runner reads them from what a step writes, a line each: "::error title=...::...". It shows ten of each
/// weight of a step: of more, the tenth says how many there are.
std::vector<std::string> github_lines(const std::vector<Annotation>& annotations);

}  // namespace xferbench
