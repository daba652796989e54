// Pieces of text that explanations are made of, whatever shows them.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explain/explanation.hpp"
#include "paper/bars.hpp"
#include "paper/chart.hpp"
#include "paper/table.hpp"

namespace xferbench::explained {

/// "53.0 ms": three significant digits, as much as predictions are good for.
std::string time_text(double seconds);
/// "53.0 -> 31.2 ms", or with both units where they differ.
std::string change_text(double before, double after);
/// "58 %"; "0.4 %" of what is less than one.
std::string share_text(double share);
/// "about 1.7 times as fast", "at most 1.07 times as fast".
std::string speedup_text(double before, double after, bool at_most);

/// The shares of the wall time: as files call them, and as people do.
struct ShareKind {
  std::string_view field{};
  std::string_view what{};
  double explain::Shares::*seconds = nullptr;
  std::size_t colour = 5;  ///< of bars: quiet, unless the GPU does something
};
inline constexpr std::array<ShareKind, 8> kShareKinds{{
    {"copies", "copies alone", &explain::Shares::copies, 0},
    {"both", "kernels beside copies", &explain::Shares::both, 2},
    {"kernels", "kernels alone", &explain::Shares::kernels, 2},
    {"waiting", "GPU idle: waiting for its answer", &explain::Shares::waiting},
    {"calls", "GPU idle: inside CUDA calls", &explain::Shares::calls},
    {"loading", "GPU idle: starting, loading, allocating", &explain::Shares::loading},
    {"program", "GPU idle: the program's own work", &explain::Shares::program},
    {"watching", "profiler overhead", &explain::Shares::watching},
}};

/// In tenths of a percent, rounded such that they add up to 100 %; all 0 where there is nothing.
std::vector<int> tenths_of_percent(const std::vector<double>& parts);

/// The answer of one process in a sentence: what transfers cost it, and what mending gains.
std::string answer(const explain::ProcessExplanation& process);
/// Of all; says so kindly where nothing used a GPU.
std::string answer(const explain::Explanation& explanation);
/// What to do where no process used a GPU.
std::string advice(const explain::Explanation& explanation);

/// "python3 train.py, process 4711, on NVIDIA H200; range steps, 3 times".
std::string head(const explain::ProcessExplanation& process);
/// "limits of NVIDIA H200, ...", or what is missing without them.
std::string limits_text(const explain::Explanation& explanation);

/// What watching cost, and how well the replay does: sentences.
std::vector<std::string> watching(const explain::ProcessExplanation& process);
/// The runs of the whole program; empty where it did not run unwatched.
std::string runs_text(const explain::Explanation& explanation);

/// Shares and gains as pages draw them.
Bars bars_of_shares(const explain::Shares& shares);
Bars bars_of_gains(const explain::ProcessExplanation& process);
/// Copies over their sizes, before what one copy reaches on this machine.
Chart chart_of_copies(const explain::Explanation& explanation, const explain::ProcessExplanation& process);

/// Those that are not zero; with bars of text where `bars` is not 0, of so many columns for the whole.
Table table_of_shares(const explain::Shares& shares, std::size_t bars);
/// By direction, memory and size, with rates in GB/s: what was reached, what this machine reaches for just those sizes,
/// and what it would from and to pinned memory; `most` rows.
Table table_of_traffic(const explain::ProcessExplanation& process, std::size_t most);

/// "53.0 -> 31.2 ms, at most 1.7 times as fast"; empty where the gain is not told. A finding that gains only once those
/// before it are mended says so.
std::string gain_text(const explain::ProcessExplanation& process, std::size_t finding);
/// "cudaMemcpyAsync in range step, after kernel gemm and before kernel relu"; empty where it is not known.
std::string place_text(const explain::Place& place);
/// "main (train.cpp:12) < load < ...": the innermost first, at most so many.
std::string stack_text(const explain::Place& place, std::size_t most);
/// "Mended together: the first two 53.0 -> 26.0 ms; all three 53.0 -> 23.0 ms, about 2.3 times as fast"; empty of one.
std::string together_text(const explain::ProcessExplanation& process);
/// With just the kinds mended that were asked for; empty where none were.
std::string chosen_text(const explain::ProcessExplanation& process);
/// What was found and left out as small, and where nothing was found what the time is spent on; may be empty.
std::string rest_text(const explain::ProcessExplanation& process);

}  // namespace xferbench::explained
