// Explanations of what a program's transfers cost, in words. Pure functions from records to documents.
#pragma once

#include <cstddef>

#include "explain/explanation.hpp"
#include "paper/document.hpp"

namespace xferbench {

struct ExplanationView {
  bool all_processes = true;  ///< all processes in full; otherwise the first in full, and the others in a line each
  bool all_copies = true;     ///< all kinds of copies; otherwise the first few
  bool whole_stacks = false;  ///< whole call stacks; else the innermost frames
  std::size_t bars = 0;       ///< columns of a bar for all of the time; 0: no bars
};

/// The answer is first. Texts from recordings are untrusted.
Document document_of(const explain::Explanation& explanation, const ExplanationView& shown = {});

}  // namespace xferbench
