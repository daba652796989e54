// A soak in words: a line for each GPU and interval, what it all comes to, and the same as numbers for monitoring.
// Pure functions of records.
#pragma once

#include <string>
#include <vector>

#include "report/openmetrics/openmetrics.hpp"
#include "report/style.hpp"
#include "results/soak.hpp"

namespace xferbench {

/// "for 20 min, a line each 60 s, copies of 256 MiB: h2d, d2h".
std::string soak_plan(const SoakSettings& settings);

/// What is soaked, and the heads of the columns.
std::string soak_heading(const SoakHeader& header, const Style& style);

/// A line for each GPU, and one for each thing that changed for the worse.
std::string soak_lines(const SoakHeader& header, const SoakInterval& interval, const Style& style);

/// What all of it comes to so far: bytes moved and verified, wrong ones, drops and what was beside them, counters.
std::string soak_verdict(const SoakHeader& header, const SoakInterval& last, const Style& style);

/// The state of the last interval and all counters.
std::vector<openmetrics::Family> soak_metrics(const SoakHeader& header, const SoakInterval& last);

}  // namespace xferbench
