// Judges a comparison: chooses the verdict and its reason for each case, and the overall outcome.
#pragma once

#include "compare/compare.hpp"

namespace xferbench::compare {

/// Fills in verdicts, reasons, adjusted p-values, the outcome and its warnings. All rows must have been tested.
void judge(Comparison& comparison);

}  // namespace xferbench::compare
