// Waits of processes for each other, as of the ranks of a training program.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/units.hpp"
#include "explain/explain.hpp"

namespace xferbench::explain {

void note_waits_between(std::vector<ProcessExplanation>& processes) {
  std::vector<ProcessExplanation*> ranks;
  for (ProcessExplanation& process : processes) {
    if (process.collectives > 0) ranks.push_back(&process);
  }
  if (ranks.size() < 2) return;
  const auto seconds = [](const ProcessExplanation* process) { return process->collectives; };
  ProcessExplanation* const last = std::ranges::min(ranks, {}, seconds);
  double longest = 0;
  for (ProcessExplanation* const rank : ranks) {
    const double waits = rank->collectives - last->collectives;
    constexpr double kWorthASentence = 0.01;  // of the window
    if (waits < kWorthASentence * rank->window_summary.seconds) continue;
    longest = std::max(longest, waits);
    rank->notes.push_back(fmt::format(
        "NCCL's kernels run for {} here and for {} in process {}: this one waits about {} for that one, which counts "
        "as kernels",
        format_seconds(rank->collectives), format_seconds(last->collectives), last->pid, format_seconds(waits)));
  }
  if (longest == 0) return;
  last->notes.push_back(fmt::format("Other processes wait for this one in NCCL's kernels, up to {}: it comes last",
                                    format_seconds(longest)));
}

}  // namespace xferbench::explain
