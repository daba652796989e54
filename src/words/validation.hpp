// How right a profile is, in words.
#pragma once

#include "paper/document.hpp"
#include "validate/validation.hpp"

namespace xferbench {

/// For each group of cases how far predictions lie from measurements, and which case would have been chosen wrongly.
Document document_of(const Validated& validated);

}  // namespace xferbench
