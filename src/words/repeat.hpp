// Describes in words how much the results of one run differ between several processes (--repeat). A pure function from
// records to a document.
#pragma once

#include "paper/document.hpp"
#include "results/result.hpp"

namespace xferbench {

/// One case in all processes that sampled it: median, lowest and highest of the processes' medians of its main metric.
struct RepeatedCase {
  std::string key;
  std::string unit{};
  double median = 0;
  double low = 0;
  double high = 0;
  std::size_t processes = 0;
};

/// Returns a table with a row for each case and the spread between its processes. `one`: the report of any of the
/// processes; `processes`: number of processes that ran.
Document document_of(const Report& one, std::span<const RepeatedCase> cases, std::size_t processes);

}  // namespace xferbench
