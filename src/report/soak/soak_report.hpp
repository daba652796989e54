// Writes the progress of a soak: a line for each GPU and interval, and metrics for monitoring. Pure functions of
// records.
#pragma once

#include "paper/style.hpp"
#include "report/openmetrics/openmetrics.hpp"
#include "results/soak.hpp"

namespace xferbench {

/// Returns for example "for 20 min, one line every 60 s, copies of 256 MiB: h2d, d2h".
std::string soak_plan(const SoakSettings& settings);

/// Returns the soaked device, the settings, and the headings of the columns.
std::string soak_heading(const SoakHeader& header, const Style& style);

/// Returns a line for each GPU, followed by a line for each change for the worse in the health of that GPU.
std::string soak_lines(const SoakHeader& header, const SoakInterval& interval, const Style& style);

/// Returns metrics: rates and health of each GPU in the last interval, and totals since the beginning of the soak.
std::vector<openmetrics::Family> soak_metrics(const SoakHeader& header, const SoakInterval& last);

}  // namespace xferbench
