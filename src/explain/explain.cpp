#include "explain/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/units.hpp"
#include "explain/candidates.hpp"
#include "explain/gains.hpp"
#include "explain/replay.hpp"
#include "explain/shares.hpp"
#include "explain/timeline.hpp"
#include "explain/traffic.hpp"

namespace xferbench::explain {

namespace {

/// Returns a sentence about how the recording ended; empty for a regular end.
std::string ending_of(const Recording& r) {
  if (!r.end) {
    return r.torn ? "The process was killed or crashed while its recording was written: this analysis covers only the "
                    "time before"
                  : "The process ended without closing its recording (killed, crashed, or left by _exit): its last "
                    "half second may be missing";
  }
  switch (r.end->reason) {
    case recording::EndReason::exit: return {};
    case recording::EndReason::max_records:
      return "Recording stopped at --max-records: this analysis covers only the time before";
    case recording::EndReason::window: return {};
    case recording::EndReason::write_failed:
      return "Writing the recording failed (is the disk full?): this analysis covers only the time before";
  }
  return {};
}

std::vector<std::string> notes_of(const Recording& r) {
  std::vector<std::string> notes = r.notes;
  if (r.dropped > 0) notes.push_back(fmt::format("{} records were lost because CUPTI's buffers were full", r.dropped));
  if (r.untimed > 0) notes.push_back(fmt::format("{} operations have no timestamps and are left out", r.untimed));
  return notes;
}

/// Returns the counters that were sampled nearest to this time, if they are near enough for a window of such length.
const recording::ProcessUsage* usage_at(const Recording& r, Time time, Time length) {
  const auto distance = [time](const recording::ProcessUsage& u) {
    return std::max(u.time, time) - std::min(u.time, time);
  };
  const auto nearest = std::ranges::min_element(r.process_usages, {}, distance);
  const Time tolerance = length / 100 + 200'000;  // ns
  return nearest == r.process_usages.end() || distance(*nearest) > tolerance ? nullptr : &*nearest;
}

/// Returns a sentence with the bytes read and the page faults of the window. Empty if the recording has no counters
/// near both ends of the window, as of a whole program, or if they explain less than 2 % of its time.
std::string usage_note(const Recording& r, const Window& window) {
  const Time length = window.end - window.begin;
  const recording::ProcessUsage* first = usage_at(r, window.begin, length);
  const recording::ProcessUsage* last = usage_at(r, window.end, length);
  if (first == nullptr || last == nullptr) return {};
  const auto since = [first, last](std::uint64_t recording::ProcessUsage::*counter) {
    return last->*counter - std::min(first->*counter, last->*counter);
  };
  const std::uint64_t read = since(&recording::ProcessUsage::read);
  const std::uint64_t from_disk = since(&recording::ProcessUsage::from_disk);
  const std::uint64_t faults = since(&recording::ProcessUsage::faults);
  // A fast host reads 10 GB/s from the page cache or a disk, and brings a page of 4 KiB in 0.1 us.
  const double seconds = static_cast<double>(read + from_disk) / 10e9 + static_cast<double>(faults) * 0.1e-6;
  if (seconds < 0.02 * static_cast<double>(length) * 1e-9) return {};
  std::vector<std::string> parts;
  if (read > 0) parts.push_back(format_size(read) + " read from files, pipes and sockets");
  if (from_disk > 0) parts.push_back(format_size(from_disk) + " delivered by disks");
  if (faults > 0) parts.push_back(fmt::format("{} page faults", faults));
  return fmt::format("In this time the process had {}", fmt::join(parts, ", "));
}

Counts counts_of(const Program& p) {
  Counts counts;
  for (const Operation& o : p.operations) {
    if (o.is_join) continue;
    ++(o.is_copy ? counts.copies : o.name != 0 ? counts.kernels : counts.fills);
    if (o.in_graph) ++counts.graph_nodes;
  }
  counts.calls = p.calls.size() - 1;  // without the last one, which marks the end of the window
  counts.waits = static_cast<std::size_t>(std::ranges::count_if(p.calls, is_wait));
  return counts;
}

/// Returns the seconds in which NCCL's kernels ran, on average of the GPUs.
double collectives_of(const Recording& r, const Program& p, std::size_t gpus) {
  const double seconds = total_of(p.operations, [&r](const Operation& o) {
    return o.name != 0 && r.name(o.name).starts_with("nccl") ? o.end - o.begin : 0;
  });
  return seconds / static_cast<double>(std::max<std::size_t>(gpus, 1));
}

/// Returns the median of the runs. Of an even number, returns the faster one of the two in the middle: a mean of two
/// would be the time of no run, and what disturbs a run makes it slower.
double typical_of(std::vector<double> runs) {
  std::ranges::sort(runs);
  return runs[(runs.size() - 1) / 2];
}

/// Returns half the difference between the slowest and fastest run, as a share of the typical one. Smaller gains are
/// noise.
double noise_of(const std::vector<double>& runs) {
  if (runs.size() < 2) return 0;
  const auto [least, most] = std::ranges::minmax(runs);
  return (most - least) / 2 / typical_of(runs);
}

/// If runs differ by more than this share, a note says so. Larger gains are reported even if an outlier differs more.
constexpr double kMuchNoise = 0.1;

/// Returns a sentence if the baseline runs differ by so much that the gains are not known well; else empty.
std::string noise_note(const std::vector<double>& baseline) {
  if (noise_of(baseline) < kMuchNoise) return {};
  const auto [least, most] = std::ranges::minmax(baseline);
  return fmt::format("The baseline runs took {} to {}: times after fixes are that uncertain, too{}",
                     format_seconds(least), format_seconds(most), baseline.size() < 5 ? " (--runs 5)" : "");
}

std::vector<std::string> gpus_of(const Recording& r, const Program& p) {
  const auto used = set_of(p.operations, &Operation::device);
  const auto those = those_of(r.devices, [&](const recording::Device& device) { return used.contains(device.id); });
  return list_of(those, [&r](const recording::Device& device) { return std::string(r.name(device.name)); });
}

/// Gains are unavailable if the replay without profiler overhead differs from the baseline run by more than this share.
constexpr double kMostVariation = 0.25;

/// Returns the program without profiler overhead; without a baseline run, returns it unchanged. Makes gains unavailable
/// if the runs vary too much.
Program unprofiled_program(ProcessExplanation& analysis, const Program& program) {
  const WindowSummary& window_summary = analysis.window_summary;
  if (!window_summary.baseline) return program;
  UnprofiledProgram unprofiled = without_profiling(program, *window_summary.replayed, *window_summary.baseline);
  const double rest = std::abs(unprofiled.seconds / *window_summary.baseline - 1);
  if (rest > kMostVariation && !analysis.ending.empty()) {
    analysis.gains_unavailable =
        fmt::format("the recording covers {} of a program that took {}", format_seconds(window_summary.seconds),
                    format_seconds(*window_summary.baseline));
  } else if (rest > kMostVariation) {
    analysis.gains_unavailable = fmt::format(
        "profiled run {}, baseline run {}, and profiler overhead explains {} of the difference: the runs vary too much "
        "(--runs 5 takes the median of five)",
        format_seconds(window_summary.seconds), format_seconds(*window_summary.baseline),
        unprofiled.per_call > 0 ? "at most " + format_seconds(window_summary.seconds - unprofiled.seconds) : "nothing");
  } else if (rest > kReplayTolerance) {
    analysis.notes.push_back(
        fmt::format("Without profiler overhead, the profiled run would have taken {}; the baseline run took {}. The "
                    "runs vary by that much. Gains are relative to the baseline",
                    format_seconds(unprofiled.seconds), format_seconds(*window_summary.baseline)));
  }
  return std::move(unprofiled.program);
}

/// Whether a replay of the unchanged program takes about the recorded time. If not, sets `gains_unavailable`.
bool can_be_replayed(ProcessExplanation& analysis, const Program& program) {
  try {
    analysis.window_summary.replayed = replay(program).seconds;
    analysis.gains_unavailable = why_gains_unavailable(analysis.window_summary);
  } catch (const InputError& error) {
    analysis.gains_unavailable = error.what();
  }
  return analysis.gains_unavailable.empty();
}

/// Adds the findings and their gains. `input` must contain the program without profiler overhead.
void add_gains(ProcessExplanation& analysis, const AnalysisInput& input, const Options& options) {
  const WindowSummary& window_summary = analysis.window_summary;
  const Program& program = input.program;
  const std::vector<Candidate> all = candidates(input);
  if (!options.fixed.empty()) {
    const Chosen chosen = chosen_fixes(program, window_summary.reference(), all, options.fixed);
    for (const FindingKind kind : options.fixed) analysis.fixed.emplace_back(to_text(kind));
    analysis.seconds_fixed = chosen.seconds;
    analysis.seconds_fixed_least = chosen.least;
    analysis.fixed_at_most = chosen.at_most;
    for (const FindingKind kind : chosen.missing) analysis.fixes_missing.emplace_back(to_text(kind));
  }
  Gains gains = gains_of(program, window_summary.reference(), all, analysis.least_share);
  analysis.findings = std::move(gains.findings);
  analysis.small_findings = gains.left_out;
}

}  // namespace

ProcessExplanation explain(const Recording& r, const Costs& costs, const std::vector<double>& baseline,
                           std::optional<double> profiled, const Options& options) {
  Window window = window_of(r, options.range);
  if (!options.range && profiled) {
    window.end = std::max(window.end, window.begin + static_cast<recording::Time>(std::max(0., *profiled) * 1e9));
  }
  const Program program = program_of(r, window, costs);
  ProcessExplanation analysis{.pid = r.process.pid, .command = std::string(r.name(r.process.command))};
  analysis.gpus = gpus_of(r, program);
  analysis.ending = ending_of(r);
  analysis.notes = notes_of(r);
  for (std::string note : {usage_note(r, window), noise_note(baseline)}) {
    if (!note.empty()) analysis.notes.push_back(std::move(note));
  }
  analysis.window_summary = {.range = options.range.value_or(""), .times = window.times, .seconds = program.seconds};
  if (!baseline.empty()) analysis.window_summary.baseline = typical_of(baseline);
  analysis.counts = counts_of(program);
  analysis.collectives = collectives_of(r, program, analysis.gpus.size());
  analysis.shares = shares_of(program, analysis.window_summary.baseline);
  analysis.traffic = traffic_of(program, costs);
  constexpr std::size_t kMostPoints = 2000;
  analysis.cloud = cloud_of(program, kMostPoints);
  constexpr std::size_t kMostSpans = 2000;
  analysis.timeline = timeline_of(r, window, kMostSpans);
  if (!can_be_replayed(analysis, program)) return analysis;
  const Program unprofiled = unprofiled_program(analysis, program);
  if (!analysis.gains_unavailable.empty()) return analysis;
  analysis.least_share = std::max(options.least_share, std::min(noise_of(baseline), kMuchNoise));
  const Replay replayed = replay(unprofiled);
  if (analysis.window_summary.baseline)
    analysis.shares = shares_unprofiled(unprofiled, replayed, program.seconds, *analysis.window_summary.baseline);
  add_gains(analysis, {r, window, unprofiled, costs, replayed}, options);
  return analysis;
}

}  // namespace xferbench::explain
