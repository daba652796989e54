#include "explain/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.hpp"
#include "core/units.hpp"
#include "explain/candidates.hpp"
#include "explain/gains.hpp"
#include "explain/replay.hpp"
#include "explain/shares.hpp"
#include "explain/timeline.hpp"
#include "explain/traffic.hpp"
#include "measure/statistics.hpp"

namespace xferbench::explain {

namespace {

/// A sentence on how the recording ended; empty for a regular end.
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

/// Half the spread of the runs, as a share of their median. Smaller gains are indistinguishable from noise.
double noise_of(const std::vector<double>& runs) {
  if (runs.size() < 2) return 0;
  const auto [least, most] = std::ranges::minmax(runs);
  return (most - least) / 2 / statistics::median(runs);
}

std::vector<std::string> gpus_of(const Recording& r, const Program& p) {
  std::set<std::uint32_t> used;
  for (const Operation& o : p.operations) used.insert(o.device);
  std::vector<std::string> names;
  for (const recording::Device& device : r.devices) {
    if (used.contains(device.id)) names.emplace_back(r.name(device.name));
  }
  return names;
}

/// Runs that differ by more than this share after the profiler overhead is removed cannot be compared.
constexpr double kMostVariation = 0.25;

/// The program without profiler overhead, if there is a baseline run. Disables gains if the runs differ too much.
Program unwatched_program(ProcessExplanation& told, const Program& program) {
  const Stretch& stretch = told.stretch;
  if (!stretch.bare) return program;
  Unwatched unwatched = without_watching(program, *stretch.replayed, *stretch.bare);
  const double rest = std::abs(unwatched.seconds / *stretch.bare - 1);
  if (rest > kMostVariation) {
    told.withheld = fmt::format(
        "profiled run {}, baseline run {}, and profiler overhead explains {} of the difference: the runs vary too much "
        "(--runs 5 takes the median of five)",
        format_seconds(stretch.seconds), format_seconds(*stretch.bare),
        unwatched.per_call > 0 ? "at most " + format_seconds(stretch.seconds - unwatched.seconds) : "nothing");
  } else if (rest > kReplayTolerance) {
    told.notes.push_back(
        fmt::format("Without profiler overhead, the profiled run would have taken {}; the baseline run took {}. The "
                    "runs vary by that much. Gains are relative to the baseline",
                    format_seconds(unwatched.seconds), format_seconds(*stretch.bare)));
  }
  return std::move(unwatched.program);
}

/// Whether the replay reproduces the recorded time; if not, `withheld` gets the reason.
bool can_be_replayed(ProcessExplanation& told, const Program& program) {
  try {
    told.stretch.replayed = replay(program).seconds;
    told.withheld = reason_to_withhold(told.stretch);
  } catch (const InputError& error) {
    told.withheld = error.what();
  }
  return told.withheld.empty();
}

/// `evidence` has the program without profiler overhead.
void tell_gains(ProcessExplanation& told, const Evidence& evidence, const Options& options) {
  const Stretch& stretch = told.stretch;
  const Program& program = evidence.program;
  const std::vector<Candidate> all = candidates(evidence);
  if (!options.mended.empty()) {
    const Chosen chosen = chosen_mended(program, stretch.reference(), all, options.mended);
    for (const FindingKind kind : options.mended) told.mended.emplace_back(to_text(kind));
    told.seconds_mended = chosen.seconds;
    told.mended_at_most = chosen.at_most;
    for (const FindingKind kind : chosen.missing) told.mended_missing.emplace_back(to_text(kind));
  }
  Gains gains = gains_of(program, stretch.reference(), all, told.least_share);
  told.findings = std::move(gains.findings);
  told.together = std::move(gains.together);
  told.small_findings = gains.left_out;
}

}  // namespace

ProcessExplanation explain(const Recording& r, const Costs& costs, const std::vector<double>& bare,
                           std::optional<double> watched, const Options& options) {
  Window window = window_of(r, options.range);
  if (!options.range && watched) {
    window.end = std::max(window.end, window.begin + static_cast<recording::Time>(std::max(0., *watched) * 1e9));
  }
  const Program program = program_of(r, window, costs);
  ProcessExplanation told{.pid = r.process.pid, .command = std::string(r.name(r.process.command))};
  told.gpus = gpus_of(r, program);
  told.ending = ending_of(r);
  told.notes = notes_of(r);
  told.stretch = {.range = options.range.value_or(""), .times = window.times, .seconds = program.seconds};
  if (!bare.empty()) told.stretch.bare = statistics::median(bare);
  told.counts = counts_of(program);
  told.shares = shares_of(program, told.stretch.bare);
  told.traffic = traffic_of(program, costs);
  constexpr std::size_t kMostPoints = 2000;
  told.cloud = cloud_of(program, kMostPoints);
  constexpr std::size_t kMostSpans = 2000;
  told.timeline = timeline_of(r, window, kMostSpans);
  if (!can_be_replayed(told, program)) return told;
  const Program unwatched = unwatched_program(told, program);
  if (!told.withheld.empty()) return told;
  told.least_share = std::max(options.least_share, noise_of(bare));
  const Replay replayed = replay(unwatched);
  if (told.stretch.bare) told.shares = shares_unwatched(unwatched, replayed, program.seconds, *told.stretch.bare);
  tell_gains(told, {r, window, unwatched, costs, replayed}, options);
  return told;
}

}  // namespace xferbench::explain
