// Texts for explanations that several output formats share.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "explain/explanation.hpp"
#include "paper/bars.hpp"
#include "paper/chart.hpp"
#include "paper/table.hpp"

namespace xferbench::explain_text {

/// Returns for example "53.0 ms": three significant digits, which is the precision of predictions.
std::string time_text(double seconds);
/// Returns for example "53.0 -> 31.2 ms", with both units if they differ.
std::string change_text(double before, double after);
/// Returns for example "1.62 s -> 168 to 224 ms".
std::string change_text(double before, double least, double most);
/// Returns for example "58 %", or "0.4 %" below one percent.
std::string share_text(double share);
/// Returns for example "about 1.7 times as fast" or "at most 1.07 times as fast".
std::string speedup_text(double before, double after, bool at_most);
/// Like speedup_text() above, for a finding whose gain is known. For a range, the text says what its ends assume.
std::string speedup_text(double before, const explain::Finding& finding);

/// A share of the wall time (explain::Shares): its name in JSON files, and its name in reports.
struct ShareKind {
  std::string_view field{};
  std::string_view what{};
  double explain::Shares::*seconds = nullptr;
  std::size_t colour = 5;  ///< index of its bar's colour; a muted colour if the GPU is idle
};
inline constexpr std::array<ShareKind, 8> kShareKinds{{
    {"copies", "copies alone", &explain::Shares::copies, 0},
    {"both", "kernels and copies overlapping", &explain::Shares::both, 2},
    {"kernels", "kernels alone", &explain::Shares::kernels, 2},
    {"waiting", "GPU idle: host waiting for results", &explain::Shares::waiting},
    {"calls", "GPU idle: host in CUDA calls", &explain::Shares::calls},
    {"loading", "GPU idle: startup, loading, allocation", &explain::Shares::loading},
    {"program", "GPU idle: host code of the program", &explain::Shares::program},
    {"watching", "profiler overhead", &explain::Shares::profiling},
}};

/// Converts parts of a sum to tenths of a percent, rounded such that they add up to 100 %; all 0 if the sum is 0.
std::vector<int> tenths_of_percent(const std::vector<double>& parts);

/// Returns the answer for one process in a sentence: what its transfers cost, and what fixing them gains.
std::string answer(const explain::ProcessExplanation& process);
/// Returns the answer for all processes, also if none used a GPU.
std::string answer(const explain::Explanation& explanation);
/// Returns what to do if no process used a GPU.
std::string advice(const explain::Explanation& explanation);

/// Returns for example "python3 train.py, process 4711, on NVIDIA H200; range steps, 3 times".
std::string head(const explain::ProcessExplanation& process);
/// Returns for example "limits of NVIDIA H200, ..."; if the limits are unknown, a sentence about what is left out.
std::string limits_text(const explain::Explanation& explanation);

/// Returns sentences about the profiler overhead and the accuracy of the replay.
std::vector<std::string> profiling(const explain::ProcessExplanation& process);
/// Returns the times of the program's runs; empty if it was never run without the profiler.
std::string runs_text(const explain::Explanation& explanation);

/// Bar charts of the shares and of the gains, for HTML pages.
Bars bars_of_shares(const explain::Shares& shares);
Bars bars_of_gains(const explain::ProcessExplanation& process);
/// Returns a chart of copy rates over copy sizes, with the rate of a single copy on this machine as the limit.
Chart chart_of_copies(const explain::Explanation& explanation, const explain::ProcessExplanation& process);

/// Returns a table of the shares that are not zero. `bars`: width in columns of a text bar for the whole time; 0: none.
Table table_of_shares(const explain::Shares& shares, std::size_t bars);
/// Returns a table of copies by direction, memory and size, with up to `most` rows. Rates are in GB/s: reached,
/// reachable on this machine with the same sizes, and reachable with pinned memory.
Table table_of_traffic(const explain::ProcessExplanation& process, std::size_t most);

/// Returns for example "53.0 -> 31.2 ms, at most 1.7 times as fast"; empty if the gain is unavailable. Says so if a
/// finding gains only once the findings before it are fixed.
std::string gain_text(const explain::ProcessExplanation& process, std::size_t finding);
/// Returns for example "one cudaMemcpyBatchAsync: at most 2.1 times as fast"; empty without alternatives.
std::string alternatives_text(const explain::ProcessExplanation& process, const explain::Finding& finding);
/// Returns for example "cudaMemcpyAsync in range step, after kernel gemm and before kernel relu"; empty if unknown.
std::string place_text(const explain::Place& place);
/// Returns for example "main (train.cpp:12) < load < 2 more": up to `most` frames, the innermost first.
std::string stack_text(const explain::Place& place, std::size_t most);
/// Returns for example "One after the other, at best: now 53.0 ms; pageable 31.2 ms, no-overlap 19.1 ms": the time
/// after each fix in the order of the findings. Empty if fewer than two gain something.
std::string plan_text(const explain::ProcessExplanation& process);
/// Returns the time with only the requested kinds of findings fixed; empty if none were requested.
std::string chosen_fixes_text(const explain::ProcessExplanation& process);
/// Returns how many findings were left out as too small and, if nothing was found, where the time goes; may be empty.
std::string minor_findings_text(const explain::ProcessExplanation& process);

}  // namespace xferbench::explain_text
