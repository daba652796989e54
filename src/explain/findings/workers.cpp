// Finds threads that wait for workers: for processes or other threads that prepare the data which they copy to the GPU.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/units.hpp"
#include "explain/candidates.hpp"

namespace xferbench::explain {

using recording::Usage;
using recording::Workers;

namespace {

/// Number of CPUs that were in use on average.
struct BusyCpus {
  double process = 0;   // by all threads of the process
  double children = 0;  // by its child processes
  std::uint32_t most_children = 0;
};

/// From the last sample before the window to the first one after it; nothing if the samples miss half of the window.
std::optional<BusyCpus> busy_cpus(const AnalysisInput& e) {
  const std::vector<Workers>& all = e.recording.workers;
  const auto after_begin = std::ranges::upper_bound(all, e.window.begin, {}, &Workers::time);
  const auto first = after_begin == all.begin() ? after_begin : std::prev(after_begin);
  auto last = std::ranges::lower_bound(first, all.end(), e.window.end, {}, &Workers::time);
  if (last == all.end() && last != first) --last;
  if (last == all.end() || last == first) return std::nullopt;
  const auto inside = static_cast<double>(std::min(last->time, e.window.end) - std::max(first->time, e.window.begin));
  if (2 * inside < static_cast<double>(e.window.end - e.window.begin)) return std::nullopt;
  const auto nanoseconds = static_cast<double>(last->time - first->time);
  const auto busy = [nanoseconds](std::uint64_t from, std::uint64_t to) {
    return to > from ? static_cast<double>(to - from) / nanoseconds : 0;
  };
  return BusyCpus{busy(first->cpu_of_process, last->cpu_of_process),
                  busy(first->cpu_of_children, last->cpu_of_children),
                  std::ranges::max_element(first, last + 1, {}, &Workers::children)->children};
}

/// Number of CPUs, from 0 to 1, that this thread used from its first to its last sampled call.
double busy_cpus_of(const AnalysisInput& e, std::uint32_t thread) {
  const Usage* first = nullptr;
  const Usage* last = nullptr;
  for (const Usage& usage : e.recording.usages) {
    if (usage.thread != thread || usage.begin < e.window.begin || usage.begin > e.window.end) continue;
    if (first == nullptr) first = &usage;
    last = &usage;
  }
  if (first == last || last->begin == first->begin) return 0;
  return static_cast<double>(last->cpu_before - std::min(last->cpu_before, first->cpu_before)) /
         static_cast<double>(last->begin - first->begin);
}

/// Those for which a thread may wait.
struct Waited {
  std::string who{};  ///< with their verb: "1 worker process keeps"
  double cpus = 0;
};

Waited waited_for(const AnalysisInput& e, const BusyCpus& busy, std::uint32_t thread) {
  const double threads = std::max(0., busy.process - busy_cpus_of(e, thread));
  if (busy.children < threads) return {"other threads of the process keep", threads};
  const bool one = busy.most_children == 1;
  return {fmt::format("{} {}", busy.most_children, one ? "worker process keeps" : "worker processes keep"),
          busy.children};
}

/// Seconds that the thread idles before each of these copies, at most as long as what it does for the copy.
double idle_before(const Program& p, Index copy) {
  double work = 0;
  for (const Index c : calls_of_work_before(p, p.operations[copy].call)) work += std::max(0., p.calls[c].gap);
  return std::min(p.calls[p.operations[copy].call].idle_before, work);
}

Candidate workers_candidate(const AnalysisInput& e, const std::vector<Index>& copies, double idle,
                            const Waited& workers) {
  Candidate candidate{finding_of_copies(e, FindingKind::slow_workers, copies), {}};
  candidate.finding.at_most = true;
  candidate.finding.what = fmt::format(
      "The GPU waits for workers: the thread that makes {} to the GPU idles for {} between them, while {} {:.1f} CPUs "
      "busy",
      copies_in_words(e.program, copies), format_seconds(idle), workers.who, workers.cpus);
  candidate.fixes.push_back(
      {"Use more workers, or make their work cheaper (PyTorch: DataLoader(num_workers=..., prefetch_factor=...))",
       "The thread waits for data from them, and CPUs are left for more of them", [copies](Program& p) {
         for (const Index i : copies) shorten_work_before(p, p.operations[i].call, idle_before(p, i));
       }});
  return candidate;
}

}  // namespace

std::vector<Candidate> slow_workers(const AnalysisInput& e) {
  constexpr std::size_t kFewest = 3;
  const std::optional<BusyCpus> busy = busy_cpus(e);
  std::vector<Candidate> found;
  if (!busy) return found;
  for (const auto& [thread, copies] : sampled_copies_by_thread(e.program)) {
    double idle = 0;
    for (const Index i : copies) idle += idle_before(e.program, i);
    const Waited workers = waited_for(e, *busy, thread);
    // Workers that idle as well have other reasons, and more of them may not help.
    if (copies.size() < kFewest || workers.cpus * e.program.seconds < idle / 2) continue;
    found.push_back(workers_candidate(e, copies, idle, workers));
  }
  return found;
}

}  // namespace xferbench::explain
