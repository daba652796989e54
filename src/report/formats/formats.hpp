// Writes the results of a run as other programs read them, for --format. Pure functions from records to text;
// packaging/formats.md describes each format.
#pragma once

#include "results/report_format.hpp"
#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench {

/// A report in the format of another program.
struct Formatted {
  std::string text;
  std::size_t left_out = 0;  ///< number of results of the report that are not in the text
};

/// Writes the verified numbers of all cases that were measured to their end. Cases that failed, were skipped,
/// interrupted or not verified have no number in any format. The text says if it was simulated or a fault was injected.
Formatted to_format(ReportFormat format, const Report& report, Descriptors scenarios);

namespace formats {

/// Returns whether the result was verified and measured to its end.
bool is_usable(const Report& report, const Result& result);
/// Writes the cases that nvbandwidth can measure, too.
Formatted to_nvbandwidth(const Report& report);

}  // namespace formats

}  // namespace xferbench
