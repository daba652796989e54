// The same case as several processes measured it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "results/result.hpp"

namespace xferbench {

struct SameCase {
  std::string_view key;
  std::vector<const Result*> results;  ///< one for each report, in their order; null where a report has no such case
};

/// The cases of all reports, each once, in the order in which they come. The reports must outlive what is returned.
std::vector<SameCase> same_cases(std::span<const Report* const> reports);

}  // namespace xferbench
