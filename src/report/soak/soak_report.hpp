// A soak while it goes on: a line for each GPU and interval, and the same as numbers for monitoring.
// Pure functions of records.
#pragma once

#include <string>
#include <vector>

#include "paper/style.hpp"
#include "report/openmetrics/openmetrics.hpp"
#include "results/soak.hpp"

namespace xferbench {

/// "for 20 min, a line each 60 s, copies of 256 MiB: h2d, d2h".
std::string soak_plan(const SoakSettings& settings);

/// What is soaked, and the heads of the columns.
std::string soak_heading(const SoakHeader& header, const Style& style);

/// A line for each GPU, and one for each thing that changed for the worse.
std::string soak_lines(const SoakHeader& header, const SoakInterval& interval, const Style& style);

/// The state of the last interval and all counters.
std::vector<openmetrics::Family> soak_metrics(const SoakHeader& header, const SoakInterval& last);

}  // namespace xferbench
