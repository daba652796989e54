// The findings of a scenario: matrices of pairs, a table for each kind of finding, and sentences.
#pragma once

#include <cstddef>
#include <string>

#include "paper/document.hpp"
#include "results/result.hpp"
#include "words/case_tables.hpp"

namespace xferbench {

/// `fixed`: axis values that the section's heading gives for all cases. Without `details` only the first findings of
/// each kind are shown, no details, and how many more there are.
void add_findings(const Report& report, const ScenarioDescriptor& scenario, const Fixed& fixed, bool details,
                  Document& document);

/// "12 more measurements: --details shows them".
Sentence more_note(std::size_t count, const char* of_these);

}  // namespace xferbench
