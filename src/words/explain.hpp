// What a program's transfers cost it, in words. Pure functions from records to documents.
#pragma once

#include <cstddef>

#include "explain/explanation.hpp"
#include "paper/document.hpp"

namespace xferbench {

struct ExplanationShown {
  bool all_processes = true;  ///< in full; else the first, and the others in a line each
  bool all_copies = true;     ///< all kinds of copies; else the first few
  bool whole_stacks = false;  ///< else the innermost frames
  std::size_t bars = 0;       ///< columns of the bar that stands for all of the time; 0: none
};

/// The answer first. Texts from recordings are foreign.
Document document_of(const explain::Explanation& explanation, const ExplanationShown& shown = {});

}  // namespace xferbench
