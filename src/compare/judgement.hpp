// Turns tested numbers into words: a verdict and its reason for each case, and the overall outcome.
#pragma once

#include "compare/compare.hpp"

namespace xferbench::compare {

/// Fills in verdicts, reasons, adjusted p-values, the outcome and its warnings. The rows must be tested before.
void judge(Comparison& comparison);

}  // namespace xferbench::compare
