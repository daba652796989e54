// What a soak comes to, in words.
#pragma once

#include "paper/document.hpp"
#include "results/soak.hpp"

namespace xferbench {

/// What all of it comes to so far: bytes moved and verified, wrong ones, drops and what was beside them, counters.
Document document_of(const SoakHeader& header, const SoakInterval& last);

}  // namespace xferbench
