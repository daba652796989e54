// Documents as terminals, Markdown and pages show them. Pure functions; what texts of documents could do to any of
// these (control characters, Markdown, HTML) is made harmless here and nowhere else.
#pragma once

#include <string>

#include "paper/document.hpp"
#include "paper/style.hpp"

namespace xferbench {

/// Lines that fit into the columns of the style. Each part ends with a line feed.
std::string to_terminal(const Document& document, const Style& style);

/// Lines of aligned cells; a line more says which columns were left out. A header without any column is not drawn.
std::string to_terminal(const Table& table, const Style& style);

/// A map of coloured cells; one that is wider than the lines may be goes on beneath itself.
std::string to_terminal(const Matrix& matrix, const Style& style);

struct MarkdownLimits {
  std::size_t most = 0;  ///< bytes, 0: as many as it takes. Rows that do not fit are counted, those of folds first
  int title_level = 1;   ///< of the document's title: "#" is 1
};

/// As GitHub renders it.
std::string to_markdown(const Document& document, const MarkdownLimits& limits = {});

/// A page of its own, in HTML: it fetches nothing, and its policy lets nothing run but what sorts and filters long
/// tables. Light or dark as the reader likes it.
std::string to_html(const Document& document);

/// Text that HTML and SVG show as it is, in one line, also between double quotes.
std::string html_escaped(const std::string& text);

/// Text that Markdown shows as it is: in one line, with nothing in it that means emphasis, a link, HTML, the next cell,
/// a person or an issue.
std::string markdown_escaped(const std::string& text);

}  // namespace xferbench
