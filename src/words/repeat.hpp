// Compares several processes of the same run, in words. A pure function from records to a document.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "paper/document.hpp"
#include "results/result.hpp"

namespace xferbench {

/// One case in all processes that sampled it: median, lowest and highest of the processes' medians of its headline.
struct RepeatedCase {
  std::string key;
  std::string unit{};
  double median = 0;
  double low = 0;
  double high = 0;
  std::size_t processes = 0;
};

/// A row for each case, with the spread between its processes. `one` is the report of any process, `processes` how many
/// ran.
Document document_of(const Report& one, std::span<const RepeatedCase> cases, std::size_t processes);

}  // namespace xferbench
