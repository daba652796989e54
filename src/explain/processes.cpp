// Waits of processes for each other, as of the ranks of a training program.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "explain/explain.hpp"

namespace xferbench::explain {

void note_waits_between(std::vector<ProcessExplanation>& processes) {
  auto ranks = list_of(processes, [](ProcessExplanation& process) { return &process; });
  std::erase_if(ranks, [](const ProcessExplanation* process) { return process->collectives <= 0; });
  if (ranks.size() < 2) return;
  const auto seconds = [](const ProcessExplanation* process) { return process->collectives; };
  ProcessExplanation* const last = std::ranges::min(ranks, {}, seconds);
  double longest = 0;
  for (ProcessExplanation* const rank : ranks) {
    const double waits = rank->collectives - last->collectives;
    constexpr double kWorthASentence = 0.01;  // share of the window below which no note is made
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
