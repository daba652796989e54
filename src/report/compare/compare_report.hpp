// Comparisons as people, pull requests and programs read them. Pure functions from records to text.
#pragma once

#include <string>
#include <vector>

#include "compare/compare.hpp"
#include "report/annotations.hpp"
#include "report/style.hpp"

namespace xferbench {

/// For a terminal: what is worse first. Where there are many cases, those of which nothing is known to have changed are
/// only counted, unless `all` are wanted. What doubts there are is not in it: that belongs to standard error.
std::string to_table(const compare::Comparison& comparison, bool all, const Style& style);
/// One column for each file, one row for each case; the best, and what cannot be told from it, is marked.
std::string to_table(const compare::Across& across, const Style& style);

/// For a pull request's comment: a summary, what changed, and the rest folded away. Shorter than the 65,536 characters
/// that a comment may have: what does not fit is counted. Texts from the files are escaped: they can neither leave
/// their cell nor mention anybody.
std::string to_markdown(const compare::Comparison& comparison);
std::string to_markdown(const compare::Across& across);
/// A text as Markdown shows it: characters that mean something, in Markdown or HTML, become entities.
std::string markdown_text(const std::string& text);

/// What became worse, the worst first, and why the exit code is not 0 where that is not it.
std::vector<Annotation> annotations_of(const compare::Comparison& comparison);

/// For programs (docs/compare-schema.json is the contract): a case to a line. What is unknown is absent.
std::string to_json(const compare::Comparison& comparison);
std::string to_json(const compare::Across& across);

}  // namespace xferbench
