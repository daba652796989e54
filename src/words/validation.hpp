// Describes in words how accurate the predictions of a device profile are.
#pragma once

#include "paper/document.hpp"
#include "validate/validation.hpp"

namespace xferbench {

/// Returns the errors of the predictions for each group of cases, and which case they would wrongly choose as fastest.
Document document_of(const Validated& validated);

}  // namespace xferbench
