// Finds unintended ordering by the legacy default stream.
#include <fmt/format.h>

#include <algorithm>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "explain/candidates.hpp"

namespace xferbench::explain {

namespace {

bool by_legacy(const Dependency& d) { return d.legacy; }

}  // namespace

std::vector<Candidate> default_stream(const AnalysisInput& e) {
  const auto operations = places_where<Index>(
      e.program.operations, [](const Operation& o) { return std::ranges::any_of(o.after, by_legacy); });
  if (operations.empty()) return {};
  Candidate candidate = of_operations(e, FindingKind::default_stream, operations);
  candidate.finding.what =
      fmt::format("{} {} for another stream only because one of the two is the legacy default stream",
                  counted(operations.size(), "operation"), verb(operations.size(), "wait"));
  candidate.fixes.push_back({"Use streams made with cudaStreamNonBlocking, or compile with --default-stream per-thread",
                             "The program does not rely on this order", [](Program& p) {
                               for (Operation& o : p.operations) std::erase_if(o.after, by_legacy);
                             }});
  return {std::move(candidate)};
}

}  // namespace xferbench::explain
