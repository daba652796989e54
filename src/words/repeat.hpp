// What several processes of the same run measured, side by side. A pure function from records to a document.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "paper/document.hpp"
#include "results/result.hpp"

namespace xferbench {

/// One case in all processes that sampled it: of their medians of its first measurement the median, the lowest and the
/// highest.
struct RepeatedCase {
  std::string key;
  std::string unit{};
  double median = 0;
  double low = 0;
  double high = 0;
  std::size_t processes = 0;
};

/// A row for each case, and how far its processes are apart. `one` is the report of any of them, `processes` how many
/// ran.
Document document_of(const Report& one, std::span<const RepeatedCase> cases, std::size_t processes);

}  // namespace xferbench
