// Finds threads that wait for child processes which prepare the data that they copy to the GPU.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "explain/candidates.hpp"

namespace xferbench::explain {

using recording::Workers;

namespace {

struct BusyChildren {
  double cpus = 0;  // number of CPUs that the child processes used on average
  std::uint32_t most = 0;
};

/// Returns the CPU use of the child processes from the last sample before the window to the first one after it. Nothing
/// if the samples miss half of the window, or if most of the time between them is outside.
std::optional<BusyChildren> busy_children(const AnalysisInput& e) {
  const std::vector<Workers>& all = e.recording.workers;
  const auto after_begin = std::ranges::upper_bound(all, e.window.begin, {}, &Workers::time);
  const auto first = after_begin == all.begin() ? after_begin : std::prev(after_begin);
  auto last = std::ranges::lower_bound(first, all.end(), e.window.end, {}, &Workers::time);
  if (last == all.end() && last != first) --last;
  if (last == all.end() || last == first || last->time == first->time) return std::nullopt;
  const recording::Time from = std::max(first->time, e.window.begin);
  const recording::Time until = std::min(last->time, e.window.end);
  const auto inside = static_cast<double>(until - std::min(from, until));
  const auto between = static_cast<double>(last->time - first->time);
  if (2 * inside < static_cast<double>(e.window.end - e.window.begin) || 2 * inside < between) return std::nullopt;
  return BusyChildren{static_cast<double>(last->cpu - std::min(last->cpu, first->cpu)) / between,
                      std::ranges::max_element(first, last + 1, {}, &Workers::children)->children};
}

/// Returns the seconds that the thread idles before the copy. Some of its idle time since the previous copy may belong
/// to other places, so its time outside of calls at other places is subtracted.
double idle_before(const Program& p, Index copy) {
  const Sample& sample = sample_of(p, p.operations[copy].call);
  const double work = work_before(p, p.operations[copy].call);
  const double elsewhere = std::max(0., sample.outside_before - work);
  return std::clamp(sample.idle_before - elsewhere, 0., work);
}

Candidate workers_candidate(const AnalysisInput& e, const std::vector<Index>& copies, const std::vector<double>& idle,
                            const BusyChildren& children) {
  Candidate candidate = of_copies(e, FindingKind::slow_workers, copies);
  candidate.finding.what = fmt::format(
      "The GPU waits for workers: the thread that makes {} to the GPU idles for {} between them, while {} {:.1f} CPUs "
      "busy",
      copies_in_words(e.program, copies), format_seconds(total_of(idle)),
      children.most == 1 ? "a child process keeps" : fmt::format("{} child processes keep", children.most),
      children.cpus);
  candidate.fixes.push_back(
      {"Use more workers, or make their work cheaper (PyTorch: DataLoader(num_workers=..., prefetch_factor=...))",
       "The thread waits for data from them, and CPUs are left for more of them", [copies, idle](Program& p) {
         for (std::size_t k = 0; k < copies.size(); ++k) shorten_work_before(p, p.operations[copies[k]].call, idle[k]);
       }});
  return candidate;
}

}  // namespace

std::vector<Candidate> slow_workers(const AnalysisInput& e) {
  constexpr std::size_t kFewest = 3;
  const std::optional<BusyChildren> children = busy_children(e);
  std::vector<Candidate> found;
  if (!children) return found;
  for (const auto& [thread, copies] : sampled_copies_by_thread(e.program)) {
    const std::vector<double> idle = list_of(copies, [&e](Index i) { return idle_before(e.program, i); });
    // Processes that idle as well have other reasons, and more of them may not help.
    if (copies.size() < kFewest || children->cpus * e.program.seconds < total_of(idle) / 2) continue;
    found.push_back(workers_candidate(e, copies, idle, *children));
  }
  return found;
}

}  // namespace xferbench::explain
