// Describes in words what a program's transfers cost (`xferbench explain`). Pure functions from records to documents.
#pragma once

#include "explain/explanation.hpp"
#include "paper/document.hpp"

namespace xferbench {

struct ExplanationView {
  bool all_processes = true;  ///< show all processes in full; otherwise only the first, and the others in a line each
  bool all_copies = true;     ///< show all kinds of copies; otherwise the first few
  bool whole_stacks = false;  ///< show whole call stacks; otherwise the innermost frames
  std::size_t bars = 0;       ///< width in columns of a text bar for the whole time; 0: no bars
};

/// Returns the document, with the answer first. Texts from recordings are untrusted.
Document document_of(const explain::Explanation& explanation, const ExplanationView& shown = {});

}  // namespace xferbench
