// Finds host memory that is touched for the first time although the program could keep and reuse memory. At the first
// access to a page, the system allocates and clears it.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "explain/candidates.hpp"

namespace xferbench::explain {

namespace {

constexpr std::uint64_t kPage = 4 * KiB;
constexpr std::uint64_t kHugePage = 2 * MiB;

/// Whether these page faults cover at least half of the memory. A fault of a huge page maps 2 MiB; a few faults have
/// other reasons.
bool cover(std::uint64_t faults, std::uint64_t bytes) {
  constexpr std::uint64_t kFew = 8;
  if (bytes == 0) return false;
  return 2 * faults * kPage >= bytes || (faults >= kFew && 2 * faults * kHugePage >= bytes);
}

template <class Wanted>
std::vector<Index> copies_that(const Program& p, Wanted wanted) {
  return places_where<Index>(p.operations, [&](const Operation& o) {
    return crosses_the_link(o) && o.host == Memory::pageable && o.call != kNone && wanted(o);
  });
}

// --- Copies into memory that was never touched -----------------------------------------------------------------------

/// Freeing, as a share of allocating, touching and freeing. (Measured in a program on an H100: a sixteenth.)
constexpr double kReleasing = 1. / 12;

/// Makes the copies take as long as into touched memory. Their calls return as soon as they end, and no memory is freed
/// before the next call.
void keep_memory(Program& p, const std::vector<Index>& copies, const Costs& costs) {
  std::map<Index, std::uint64_t> freed;  // freed bytes, per call
  for (const Index i : copies) {
    Operation& o = p.operations[i];
    freed[o.call] = o.bytes;
    p.calls[o.call].wake = std::min(p.calls[o.call].wake, costs.wake);
    const auto usual = o.host == Memory::pageable ? costs.copy(o.copy, o.host, o.bytes) : std::nullopt;
    if (!usual || *usual >= o.work) continue;
    o.work = *usual;
    o.by_cpu_rate = true;
  }
  for (HostCall& call : p.calls) {
    const auto after = freed.find(call.follows);
    if (after == freed.end()) continue;
    call.gap -= std::clamp(costs.touch * kReleasing * static_cast<double>(after->second), 0., std::max(0., call.gap));
  }
}

std::vector<Candidate> copies_into_new_memory(const AnalysisInput& e) {
  constexpr double kSlower = 1.3;  // a copy that takes less than this many times the usual time has another reason
  const std::vector<Index> copies = copies_that(e.program, [&e](const Operation& o) {
    const auto usual = e.costs.copy(o.copy, o.host, o.bytes);
    return o.copy == CopyKind::d2h && cover(sample_of(e.program, o.call).faults, o.bytes) && usual &&
           o.work > kSlower * *usual;
  });
  if (copies.empty()) return {};
  const auto faults = total_of(copies, [&p = e.program](Index i) { return sample_of(p, p.operations[i].call).faults; });
  Candidate candidate = of_copies(e, FindingKind::fresh_memory, copies);
  Finding& finding = candidate.finding;
  finding.what = fmt::format(
      "{} back from the GPU {} to memory that was mostly not touched before ({} page faults): {}; touched memory would "
      "reach {}, also pageable",
      copies_in_words(e.program, copies), verb(copies.size(), "write"), faults,
      rate_text(finding.bytes, recorded_time_of(e.program, copies)),
      rate_text(finding.bytes, time_by(e, copies, Memory::pageable).value_or(0)));
  candidate.fixes.push_back(
      {"Allocate the memory once, write to it once, and copy into it again and again (numba: "
       "copy_to_host(array); CuPy: get(out=array))",
       "No result is still needed when the next one is copied",
       [copies, costs = e.costs](Program& p) { keep_memory(p, copies, costs); }});
  return {std::move(candidate)};
}

// --- Arrays that are made anew before each copy ----------------------------------------------------------------------

/// Size of the new memory that the thread touched before the copy, but at most twice that of the copy: a program that
/// makes an array may need another for it.
std::uint64_t new_bytes_before(const Program& p, const Operation& copy) {
  return std::min(new_memory_before(p, copy.call), 2 * copy.bytes);
}

std::vector<Candidate> arrays_made_anew(const AnalysisInput& e) {
  constexpr std::size_t kFewest = 3;
  const std::vector<Index> copies = copies_that(e.program, [&e](const Operation& o) {
    const bool is_new = o.bytes > 0 && 2 * new_memory_before(e.program, o.call) >= o.bytes;
    return o.copy == CopyKind::h2d && sample_of(e.program, o.call).source_file == 0 && is_new;
  });
  if (copies.size() < kFewest) return {};
  const std::uint64_t bytes =
      total_of(copies, [&e](Index i) { return new_bytes_before(e.program, e.program.operations[i]); });
  Candidate candidate = of_copies(e, FindingKind::fresh_memory, copies);
  candidate.finding.what = fmt::format("Before each of {} to the GPU, the program touches new memory, {} in total",
                                       copies_in_words(e.program, copies), format_size(bytes));
  candidate.fixes.push_back(
      {"Make the arrays once and fill them again in each step (NumPy: out=array; PyTorch: tensor.copy_())",
       fmt::format(
           "The new memory is that of arrays which could be kept, not of a mapped file; allocating, touching and "
           "freeing 1 GiB takes {} here",
           format_seconds(e.costs.touch * static_cast<double>(GiB))),
       [copies, touch = e.costs.touch](Program& p) {
         for (const Index i : copies) {
           const Operation& o = p.operations[i];
           shorten_work_before(p, o.call, touch * static_cast<double>(new_bytes_before(p, o)));
         }
       }});
  return {std::move(candidate)};
}

}  // namespace

std::vector<Candidate> fresh_memory(const AnalysisInput& e) {
  std::vector<Candidate> found = copies_into_new_memory(e);
  std::ranges::move(arrays_made_anew(e), std::back_inserter(found));
  return found;
}

}  // namespace xferbench::explain
