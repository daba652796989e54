// A tune as people read it. Pure functions from records to text.
#pragma once

#include <string>

#include "core/column.hpp"
#include "report/style.hpp"
#include "results/result.hpp"

namespace xferbench {

/// The ten fastest, best first, in the scenario's own columns and with what the model said; then what failed, the
/// winner's measurements and the findings.
std::string to_tune_table(const Report& report, const ScenarioView& scenario, const Style& style);

/// The same as Markdown.
std::string to_tune_markdown(const Report& report, const ScenarioView& scenario);

}  // namespace xferbench
