// Write documents for terminals and as Markdown and HTML. Pure functions. Only they escape texts: control characters,
// Markdown, HTML.
#pragma once

#include <string>

#include "paper/document.hpp"
#include "paper/style.hpp"

namespace xferbench {

/// Wraps lines to the columns of the style. Each part ends with a line feed.
std::string to_terminal(const Document& document, const Style& style);

/// Lines of aligned cells, and a last line that names columns that were left out. An empty header is not drawn.
std::string to_terminal(const Table& table, const Style& style);

/// A map of coloured cells. Columns that do not fit into a line go below.
std::string to_terminal(const Matrix& matrix, const Style& style);

struct MarkdownLimits {
  /// Maximum bytes; 0: unlimited. Tables and lists share the space equally; rows that do not fit are only counted.
  std::size_t most = 0;
  int title_level = 1;  ///< of the document's title: 1 is "#"
};

/// Writes Markdown for GitHub's renderer.
std::string to_markdown(const Document& document, const MarkdownLimits& limits = {});

/// A self-contained HTML page. It fetches nothing, and its content security policy allows only the script that sorts
/// and filters long tables. Light or dark, as the reader prefers.
std::string to_html(const Document& document);

/// Escapes text for HTML and SVG, also in double quotes. The result is one line.
std::string html_escaped(const std::string& text);

/// Escapes text for Markdown. The result is one line without emphasis, links, HTML, cell separators, mentions and issue
/// references.
std::string markdown_escaped(const std::string& text);

}  // namespace xferbench
