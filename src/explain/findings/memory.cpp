// Finds memory of the host that is touched for the first time where it could be kept: the system gives a page with the
// first access, and clears it.
#include <fmt/format.h>

#include <algorithm>

#include "core/units.hpp"
#include "explain/candidates.hpp"

namespace xferbench::explain {

using recording::CopyKind;
using recording::Memory;

namespace {

constexpr std::uint64_t kPage = 4 * KiB;
constexpr std::uint64_t kHugePage = 2 * MiB;

const HostCall* call_of(const Program& p, const Operation& o) { return o.call == kNone ? nullptr : &p.calls[o.call]; }

/// Whether so many page faults are those of at least half of the memory. A fault of a huge page brings 2 MiB.
bool cover(std::uint64_t faults, std::uint64_t bytes) {
  const std::uint64_t page = bytes >= 2 * kHugePage ? kHugePage : kPage;
  return 2 * faults * page >= bytes;
}

template <class Wanted>
std::vector<Index> copies_that(const Program& p, Wanted wanted) {
  std::vector<Index> found;
  for (Index i = 0; i < p.operations.size(); ++i) {
    const Operation& o = p.operations[i];
    if (crosses_the_link(o) && o.host == Memory::pageable && o.call != kNone && wanted(o, p.calls[o.call])) {
      found.push_back(i);
    }
  }
  return found;
}

// --- Copies into memory that was never touched -----------------------------------------------------------------------

std::vector<Candidate> copies_into_new_memory(const AnalysisInput& e) {
  constexpr double kSlower = 1.3;  // a copy that takes less than this many times the usual time has another reason
  const std::vector<Index> copies = copies_that(e.program, [&e](const Operation& o, const HostCall& call) {
    const auto usual = e.costs.copy(o.copy, o.host, o.bytes);
    return o.copy == CopyKind::d2h && cover(call.faults, o.bytes) && usual && o.work > kSlower * *usual;
  });
  if (copies.empty()) return {};
  const double kept = time_by(e, copies, Memory::pageable).value_or(0);
  Candidate candidate{finding_of_copies(e, FindingKind::fresh_memory, copies), {}};
  Finding& finding = candidate.finding;
  finding.what = fmt::format(
      "{} back from the GPU {} to memory that nothing has touched before: {}; memory in use "
      "would reach {}, also pageable",
      copies_in_words(e.program, copies), verb(copies.size(), "write"),
      rate_text(finding.bytes, recorded_time_of(e.program, copies)), rate_text(finding.bytes, kept));
  candidate.fixes.push_back(
      {"Allocate the memory once, write to it once, and copy into it again and again (numba: "
       "copy_to_host(array); CuPy: get(out=array))",
       "The program has done with a result before the next one is copied", [copies, costs = e.costs](Program& p) {
         for (const Index i : copies) {
           Operation& o = p.operations[i];
           if (o.host != Memory::pageable) continue;  // pinned by another fix
           o.work = std::min(o.work, costs.copy(o.copy, o.host, o.bytes).value_or(o.work));
         }
       }});
  return {std::move(candidate)};
}

// --- Arrays that are made anew before each copy ----------------------------------------------------------------------

/// Removes this much time from the program's own work before the call, most from where it takes longest.
void shorten_work_before(Program& p, Index call, double seconds) {
  std::vector<Index> calls = calls_of_work_before(p, call);
  std::ranges::stable_sort(calls, std::ranges::greater(), [&p](Index c) { return p.calls[c].gap; });
  for (const Index c : calls) {
    const double goes = std::clamp(seconds, 0., std::max(0., p.calls[c].gap));
    p.calls[c].gap -= goes;
    seconds -= goes;
  }
}

std::vector<Candidate> arrays_made_anew(const AnalysisInput& e) {
  constexpr std::size_t kFewest = 3;
  const std::vector<Index> copies = copies_that(e.program, [](const Operation& o, const HostCall& call) {
    return o.copy == CopyKind::h2d && 2 * call.faults_before * kPage >= o.bytes;
  });
  if (copies.size() < kFewest) return {};
  std::uint64_t faults = 0;
  for (const Index i : copies) faults += call_of(e.program, e.program.operations[i])->faults_before;
  Candidate candidate{finding_of_copies(e, FindingKind::fresh_memory, copies), {}};
  candidate.finding.at_most = true;
  candidate.finding.what =
      fmt::format("Before each of {} to the GPU, the program touches new memory: {} page faults, together {}",
                  copies_in_words(e.program, copies), faults, format_size(faults * kPage));
  candidate.fixes.push_back(
      {"Make the arrays once and fill them again in each step (NumPy: out=array; PyTorch: tensor.copy_())",
       fmt::format("The new memory is that of arrays which could be kept; allocating, touching and freeing 1 GiB takes "
                   "{} here",
                   format_seconds(e.costs.touch * static_cast<double>(GiB))),
       [copies, touch = e.costs.touch](Program& p) {
         for (const Index i : copies) {
           const Operation& o = p.operations[i];
           const double seconds = touch * static_cast<double>(call_of(p, o)->faults_before * kPage);
           shorten_work_before(p, o.call, seconds);
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
