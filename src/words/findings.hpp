// Adds a scenario's findings to a document: matrices of pairs of GPUs, a table for each kind of finding, and sentences.
#pragma once

#include "paper/document.hpp"
#include "results/result.hpp"
#include "words/case_tables.hpp"

namespace xferbench {

struct FindingsShown {
  const Fixed& fixed;  ///< axis values that all cases share; keys leave them out, because the heading names them
  bool details;        ///< show all findings; otherwise only the first of each kind, and how many more there are
  std::string whose;   ///< line above the findings, if they are of fewer processes than the tables; else empty
};

void add_findings(const Report& report, const ScenarioDescriptor& scenario, const FindingsShown& shown,
                  Document& document);

/// Returns a hint such as "12 more measurements: --details shows them".
Sentence more_note(std::size_t count, const char* of_these);

}  // namespace xferbench
