// Results as Markdown, for issues, wikis and CI summaries: the terminal's tables as GitHub renders them. Pure functions
// from records to text.
#pragma once

#include <span>
#include <string>

#include "core/scenario_descriptor.hpp"
#include "results/result.hpp"

namespace xferbench {

/// A heading and a table for each scenario, as to_table() shows it, then what the results say together; at the end what
/// was doubtful. Simulated results say so above and in every heading.
std::string to_markdown(const Report& report, Descriptors scenarios);

}  // namespace xferbench
