// Finds host work before copies to the GPU that is probably a copy within host memory. Frameworks make such copies if
// they move arrays through pinned buffers of their own.
#include <fmt/format.h>

#include <algorithm>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "explain/candidates.hpp"
#include "measure/statistics.hpp"

namespace xferbench::explain {

namespace {

/// Returns the seconds for which the thread works before the copy, outside of CUDA calls.
double busy_before(const Program& p, Index copy) {
  const Index call = p.operations[copy].call;
  return std::max(0., work_before(p, call) - sample_of(p, call).idle_before);
}

/// Whether the copy's memory may have been filled by a copy: it is pinned, and before the copy the thread neither reads
/// files nor touches as much new memory.
bool may_be_filled_by_copying(const Program& p, Index copy) {
  constexpr std::uint64_t kLeast = 1 * MiB;
  const Operation& o = p.operations[copy];
  return o.host == recording::Memory::pinned && o.bytes >= kLeast && 2 * sample_of(p, o.call).read_before < o.bytes &&
         2 * new_memory_before(p, o.call) < o.bytes;
}

/// Returns the seconds per byte of the work before each copy, if it is about the same each time and as long as a copy
/// takes; else nothing. One CPU copies 4 to 25 GB/s.
std::optional<double> pace_of_copying(const Program& p, const std::vector<Index>& copies) {
  constexpr double kFastest = 4e-11;
  constexpr double kSlowest = 2.5e-10;
  constexpr double kAlike = 1.5;
  const std::vector<double> paces =
      list_of(copies, [&p](Index i) { return busy_before(p, i) / static_cast<double>(p.operations[i].bytes); });
  const double usual = statistics::median(paces);
  const auto is_like = [usual](double pace) { return pace < kAlike * usual && usual < kAlike * pace; };
  if (usual < kFastest || usual > kSlowest) return std::nullopt;
  return 4 * std::ranges::count_if(paces, is_like) >= 3 * std::ssize(paces) ? std::optional(usual) : std::nullopt;
}

Candidate host_copies_of(const AnalysisInput& e, const std::vector<Index>& copies, double pace) {
  Candidate candidate = of_copies(e, FindingKind::host_copy, copies);
  Finding& finding = candidate.finding;
  const double seconds = pace * static_cast<double>(finding.bytes);
  finding.what = fmt::format(
      "Before each of {} to the GPU from pinned memory, its thread works as long as a CPU needs to copy the data "
      "there: {} in total, {}",
      copies_in_words(e.program, copies), format_seconds(seconds), rate_text(finding.bytes, seconds));
  candidate.fixes.push_back(
      {"Make the data in pinned memory in the first place (CuPy: cupyx.empty_pinned; PyTorch: pin_memory=True)",
       "This work is a copy into the pinned memory, which a recording does not show", [copies](Program& p) {
         for (const Index i : copies) shorten_work_before(p, p.operations[i].call, busy_before(p, i));
       }});
  return candidate;
}

}  // namespace

std::vector<Candidate> host_copies(const AnalysisInput& e) {
  constexpr std::size_t kFewest = 3;
  std::vector<Candidate> found;
  for (const auto& [thread, all] : sampled_copies_by_thread(e.program)) {
    const std::vector<Index> copies = those_of(all, [&e](Index i) { return may_be_filled_by_copying(e.program, i); });
    if (copies.size() < kFewest) continue;
    if (const auto pace = pace_of_copying(e.program, copies)) found.push_back(host_copies_of(e, copies, *pace));
  }
  return found;
}

}  // namespace xferbench::explain
