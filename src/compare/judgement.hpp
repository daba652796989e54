// From what the numbers say to words: a verdict and its reason for each case, and what all of it comes to.
#pragma once

#include "compare/compare.hpp"

namespace xferbench::compare {

/// Fills in verdicts, reasons, adjusted p-values, the outcome and its warnings, of rows whose numbers were weighed.
void judge(Comparison& comparison);

}  // namespace xferbench::compare
