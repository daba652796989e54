// Finds unintended ordering by the legacy default stream, and managed pages that migrate on access.
#include <fmt/format.h>

#include <algorithm>

#include "core/units.hpp"
#include "explain/candidates.hpp"

namespace xferbench::explain {

using recording::CopyKind;
using recording::Memory;

// --- The legacy default stream --------------------------------------------------------------------------------------

namespace {

bool by_legacy(const Dependency& d) { return d.legacy; }

}  // namespace

std::vector<Candidate> default_stream(const AnalysisInput& e) {
  std::vector<Index> operations;
  for (Index i = 0; i < e.program.operations.size(); ++i) {
    if (std::ranges::any_of(e.program.operations[i].after, by_legacy)) operations.push_back(i);
  }
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

// --- Managed memory -------------------------------------------------------------------------------------------------

namespace {

double seconds_of(const AnalysisInput& e, recording::Time time) {
  return 1e-9 * static_cast<double>(static_cast<std::int64_t>(time - e.window.begin));
}

/// The migrations of managed pages during one kernel.
struct Moved {
  double begin = 0;  ///< begin of the first migration
  double end = 0;    ///< end of the last migration
  std::uint64_t bytes = 0;
  std::size_t times = 0;
  /// Returns the seconds that the kernel waited for pages and page faults: from its first to its last migration.
  [[nodiscard]] double seconds() const { return end - begin; }
};

/// Returns the page migrations during each operation, by the operation's index.
std::vector<Moved> moved_during(const AnalysisInput& e) {
  std::vector<Moved> moved(e.program.operations.size());
  for (const recording::Migration& m : e.recording.migrations) {
    const double begin = seconds_of(e, m.begin);
    const Index kernel = m.bytes == 0 ? kNone : kernel_at(e.program, m.device, begin);
    if (kernel == kNone) continue;
    Moved& here = moved[kernel];
    if (here.times++ == 0) here.begin = begin;
    here.end = std::max(here.end, std::min(seconds_of(e, m.end), e.program.operations[kernel].end));
    here.bytes += m.bytes;
  }
  return moved;
}

/// Returns the duration that the kernel would have if its pages were prefetched, plus the time of the prefetch.
double prefetched(const Operation& o, const Moved& moved, const Costs& costs) {
  const double recorded = o.end - o.begin;
  const double copied = costs.copy(CopyKind::h2d, Memory::pinned, moved.bytes).value_or(moved.seconds());
  const double computed = std::max(0., recorded - moved.seconds());
  return recorded <= 0 ? o.work : std::min(o.work, o.work / recorded * computed + copied);
}

}  // namespace

std::vector<Candidate> managed_memory(const AnalysisInput& e) {
  if (e.recording.migrations.empty()) return {};
  const std::vector<Moved> moved = moved_during(e);
  std::vector<Index> kernels;
  Moved all;
  double waited = 0;
  for (Index i = 0; i < moved.size(); ++i) {
    if (moved[i].bytes == 0) continue;
    kernels.push_back(i);
    const Operation& o = e.program.operations[i];
    const double unprofiled = e.replayed.operation_ends[i] - e.replayed.operation_begins[i];
    waited += moved[i].seconds() * (o.end > o.begin ? unprofiled / (o.end - o.begin) : 1);
    all.bytes += moved[i].bytes;
    all.times += moved[i].times;
  }
  if (kernels.empty() || !e.costs.copy(CopyKind::h2d, Memory::pinned, all.bytes)) return {};
  Candidate candidate = of_operations(e, FindingKind::managed, kernels);
  Finding& finding = candidate.finding;
  finding.count = all.times;
  finding.bytes = all.bytes;
  finding.what =
      fmt::format("{} of managed memory migrate in {} pieces while the kernels that access it wait ({} in total)",
                  format_size(all.bytes), all.times, format_seconds(waited));
  candidate.fixes.push_back({"Prefetch it (cudaMemPrefetchAsync) before the kernel, or copy from pinned memory",
                             "The accessed memory is known before the kernel starts",
                             [moved, costs = e.costs](Program& p) {
                               for (Index i = 0; i < moved.size(); ++i) {
                                 if (moved[i].bytes > 0)
                                   p.operations[i].work = prefetched(p.operations[i], moved[i], costs);
                               }
                             }});
  return {std::move(candidate)};
}

}  // namespace xferbench::explain
