// Comparisons for a pull request's comment. Pure functions from records to text.
#pragma once

#include <string>

#include "compare/compare.hpp"

namespace xferbench {

/// A summary, what changed, and the rest folded away. Shorter than the 65,536 characters that a comment may have: what
/// does not fit is counted. Texts from the files are escaped: they can neither leave their cell nor mention anybody.
std::string to_markdown(const compare::Comparison& comparison);

/// One column for each file.
std::string to_markdown(const compare::Across& across);

/// A text as Markdown shows it: characters that mean something, in Markdown or HTML, become entities.
std::string markdown_text(const std::string& text);

}  // namespace xferbench
