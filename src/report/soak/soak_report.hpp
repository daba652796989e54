// Writes the progress of a soak: a line for each GPU and interval, and metrics for monitoring. Pure functions of
// records.
#pragma once

#include <string>
#include <vector>

#include "paper/style.hpp"
#include "report/openmetrics/openmetrics.hpp"
#include "results/soak.hpp"

namespace xferbench {

/// Returns for example "for 20 min, one line every 60 s, copies of 256 MiB: h2d, d2h".
std::string soak_plan(const SoakSettings& settings);

/// Returns the soaked device, the settings, and the headings of the columns.
std::string soak_heading(const SoakHeader& header, const Style& style);

/// Returns a line for each GPU, then a line for each change for the worse.
std::string soak_lines(const SoakHeader& header, const SoakInterval& interval, const Style& style);

/// Returns metrics: the state of the last interval, and all counters.
std::vector<openmetrics::Family> soak_metrics(const SoakHeader& header, const SoakInterval& last);

}  // namespace xferbench
