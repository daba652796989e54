// Functions that write documents for terminals, as Markdown and as HTML. No other code escapes control
// characters, Markdown or HTML.
#pragma once

#include <string>

#include "paper/document.hpp"
#include "paper/style.hpp"

namespace xferbench {

/// Wraps lines to Style::columns. The result ends with a line feed.
std::string to_terminal(const Document& document, const Style& style);

/// Writes a table with aligned columns; a last line names the columns that were left out. An empty header is not
/// written.
std::string to_terminal(const Table& table, const Style& style);

/// Writes a matrix as a map of coloured cells. Columns that do not fit into the line form a further map below.
std::string to_terminal(const Matrix& matrix, const Style& style);

struct MarkdownLimits {
  /// Maximum size of the text in bytes; 0: unlimited. Each table and list gets an equal share of the space. In place of
  /// the rows that do not fit, their number is written.
  std::size_t most = 0;
  int title_level = 1;  ///< heading level of the document's title; 1 is "#"
};

/// Writes Markdown for GitHub's renderer.
std::string to_markdown(const Document& document, const MarkdownLimits& limits = {});

/// Writes a self-contained HTML page. It loads nothing, and its content security policy allows only the script that
/// sorts and filters long tables. Colours are light or dark, as the browser prefers.
std::string to_html(const Document& document);

/// Escapes text for HTML and SVG, also in double quotes. The result is one line.
std::string html_escaped(const std::string& text);

/// Escapes text for Markdown. The result is one line without emphasis, links, HTML, table cell separators, mentions and
/// issue references.
std::string markdown_escaped(const std::string& text);

}  // namespace xferbench
