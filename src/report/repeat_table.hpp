// What several processes of the same run measured, side by side. A pure function from records to text.
#pragma once

#include <span>
#include <string>

#include "report/reader.hpp"
#include "report/style.hpp"

namespace xferbench {

/// A row for each case of the first report: the median of the processes' medians of its first measurement, the lowest
/// and the highest of them, and how far these are apart.
std::string to_repeat_table(std::span<const StoredReport> processes, const Style& style);

}  // namespace xferbench
