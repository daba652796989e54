// The accuracy of a profile in words.
#pragma once

#include "paper/document.hpp"
#include "validate/validation.hpp"

namespace xferbench {

/// For each group of cases, the errors of the predictions, and which case they would have chosen wrongly.
Document document_of(const Validated& validated);

}  // namespace xferbench
