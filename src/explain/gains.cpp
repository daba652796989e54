#include "explain/gains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/units.hpp"
#include "explain/replay.hpp"
#include "measure/statistics.hpp"

namespace xferbench::explain {

namespace {

/// Upper bound of the profiler overhead per call, in seconds (measured on the host of an H200: 0.6 to 1.5 us).
constexpr double kMostPerCall = 2e-6;

/// Subtracts the profiler overhead, but leaves at least 30 % of the time.
double less(double seconds, double profiling) {
  constexpr double kLeastLeft = 0.3;
  return seconds <= 0 ? seconds : std::max(kLeastLeft * seconds, seconds - profiling);
}

/// Subtracts `per_call` seconds of profiler overhead from each call, half as much from the delay of each operation and
/// from each wake-up after a wait, and a quarter from the program's work before each call, where CUPTI takes its time.
/// CUPTI's timestamps also take time on the device: subtracts `per_call` / 10 from the handover of each kernel
/// (measured for graph nodes: 0.17 us) and 1.25 times `per_call` from that of each copy (measured for many small copies
/// in a row on three hosts: 0.6 to 2.3 us).
Program lightened(Program program, double per_call) {
  for (HostCall& call : program.calls) {
    call.own = less(call.own, per_call);
    call.gap = less(call.gap, per_call / 4);
    call.wake = less(call.wake, per_call / 2);
  }
  for (Operation& o : program.operations) {
    o.delay = less(o.delay, per_call / 2);
    o.handover = less(o.handover, o.is_copy ? 1.25 * per_call : per_call / 10);
  }
  return program;
}

/// Searches by bisection for the overhead per call whose removal makes the replay take `baseline` seconds.
UnprofiledProgram without_costs(const Program& program, double replayed, double baseline) {
  UnprofiledProgram best{.program = program, .seconds = replayed};
  double low = 0;
  double high = kMostPerCall;
  constexpr int kSteps = 5;
  for (int step = 0; step < kSteps && replayed > baseline && low < high; ++step) {
    // Tries the maximum first: often the replay takes longer than `baseline` even without that overhead.
    const double per_call = step == 0 ? high : (low + high) / 2;
    Program lighter = lightened(program, per_call);
    const double seconds = replay(lighter).seconds;
    const bool still_over = seconds >= baseline;
    if (still_over || best.per_call == 0) best = {std::move(lighter), seconds, per_call};
    (still_over ? low : high) = per_call;
  }
  return best;
}

/// Scales the durations of copies (if `copies` is false, of kernels) that vary between runs by one factor: for copies
/// up to 4/3, as they differ between processes by a third, for kernels up to 2, or one over that. Chooses the factor
/// such that the replay takes about `baseline` seconds.
void vary_operations(UnprofiledProgram& unprofiled, double baseline, bool copies) {
  Program& program = unprofiled.program;
  const auto varies = [copies](const Operation& o) { return o.varies && o.is_copy == copies; };
  double taken = 0;
  for (const Operation& o : program.operations) taken += varies(o) ? o.work : 0;
  if (taken <= 0) return;
  const double most = copies ? 4. / 3 : 2;
  const double factor = std::clamp(1 + (baseline - unprofiled.seconds) / taken, 1 / most, most);
  for (Operation& o : program.operations) {
    if (varies(o)) o.work *= factor;
  }
  unprofiled.seconds = replay(program).seconds;
}

Program with_host_times(Program program, double factor) {
  for (HostCall& call : program.calls) {
    call.own *= factor;
    call.gap *= factor;
  }
  return program;
}

/// Scales all host times by a factor between 0.5 and 2 such that the replay takes about `baseline` seconds, because GPU
/// operations take the same time in each run.
void vary_host(UnprofiledProgram& unprofiled, double baseline) {
  constexpr double kClose = 0.002;
  if (std::abs(unprofiled.seconds / baseline - 1) <= kClose) return;
  const Program before = unprofiled.program;
  double low = unprofiled.seconds > baseline ? 0.5 : 1;
  double high = unprofiled.seconds > baseline ? 1 : 2;
  constexpr int kSteps = 6;
  for (int step = 0; step < kSteps && std::abs(unprofiled.seconds / baseline - 1) > kClose; ++step) {
    const double factor = (low + high) / 2;
    unprofiled.program = with_host_times(before, factor);
    unprofiled.seconds = replay(unprofiled.program).seconds;
    (unprofiled.seconds > baseline ? high : low) = factor;
  }
}

/// Seconds that the program takes with each alternative fix of a candidate; infinite if the fix makes it deadlock.
struct FixTrial {
  std::vector<double> times{};
  std::size_t best = 0;
  [[nodiscard]] double seconds() const { return times[best]; }
};

/// Returns the busy time of the busiest engine: a lower bound of the duration for any order of operations. Excludes
/// concurrent kernels, which share an engine.
double busiest(const Program& program) {
  std::map<std::pair<std::uint32_t, Engine>, double> busy;
  for (const Operation& o : program.operations) {
    if (o.engine != Engine::none && !o.side_by_side && o.end <= program.seconds) busy[{o.device, o.engine}] += o.work;
  }
  return most_of(busy, [](const auto& engine) { return engine.second; });
}

/// Returns the replayed seconds with the fix, but at least the busy time of an engine; infinite for a deadlock. The
/// caller multiplies by `scale` to correct the replay's error. The busy time is exact, so it is divided by `scale`.
double seconds_with(const Program& program, const Fix& fix, double scale) {
  Program changed = program;
  fix.apply(changed);
  try {
    return std::max(replay(changed).seconds, busiest(changed) / scale);
  } catch (const InputError&) {
    return std::numeric_limits<double>::infinity();
  }
}

/// `before`: seconds that the replay of `program` takes.
FixTrial tried(const Program& program, const Candidate& candidate, double before, double scale) {
  auto running = list_of(candidate.fixes, [&](const Fix& fix) {
    return std::async(seconds_with, std::cref(program), std::cref(fix), scale);
  });
  FixTrial all{.times = list_of(running, &std::future<double>::get)};
  const double least = std::ranges::min(all.times);
  const double enough = std::max(least, before - candidate.enough * (before - least));
  const auto best = std::ranges::find_if(all.times, [enough](double seconds) { return seconds <= enough; });
  all.best = static_cast<std::size_t>(best - all.times.begin());
  return all;
}

// --- Ranges ----------------------------------------------------------------------------------------------------------

/// A range whose ends differ by a smaller share is reported as one number.
constexpr double kWorthAWord = 0.02;

/// Duration of a fixed program if its own work around merged copies disappears with these copies.
struct LessWork {
  double seconds = 0;  ///< duration
  double work = 0;     ///< seconds of the work that disappears
};

/// Removes from a fixed program the own work that recurs around its merged copies, with the calls between them. Work
/// before four or more calls of one name on one thread recurs in amounts of up to three times their median; of what
/// takes longer, only the median goes, since the rest has another reason. Nothing if this gains too little.
std::optional<LessWork> remove_recurring_work(Program& fixed, double seconds, double scale) {
  constexpr double kLike = 3;
  constexpr std::size_t kFewest = 4;
  const auto is_around = [](const HostCall& call) { return call.merged || call.after_merged; };
  const auto group = [](const HostCall& call) { return std::tuple(call.thread, call.name, call.merged); };
  std::map<std::tuple<std::uint32_t, Index, bool>, std::vector<double>> gaps;
  for (const HostCall& call : fixed.calls) {
    if (is_around(call)) gaps[group(call)].push_back(call.gap);
  }
  std::map<std::tuple<std::uint32_t, Index, bool>, double> usual;
  for (auto& [key, all] : gaps) usual[key] = all.size() < kFewest ? 0 : std::max(0., statistics::median(all));
  LessWork less;
  for (HostCall& call : fixed.calls) {
    if (!is_around(call)) continue;
    const double recurring = usual[group(call)];
    const double goes = std::max(0., call.gap <= kLike * recurring ? call.gap : recurring);
    const double own = call.merged ? std::exchange(call.own, 0) : 0;
    call.gap -= goes;
    less.work += (goes + own) * scale;
  }
  if (less.work < kWorthAWord * seconds) return std::nullopt;
  less.seconds = std::max(replay(fixed).seconds * scale, busiest(fixed));
  if (less.seconds > (1 - kWorthAWord) * seconds) return std::nullopt;
  return less;
}

/// Returns the seconds of a fixed program in which the CPU takes `factor` times as long for the copies whose time was
/// taken from its rate.
double seconds_at_cpu_rate(Program fixed, double factor, double scale) {
  for (Operation& o : fixed.operations) o.work *= o.by_cpu_rate ? factor : 1;
  return std::max(replay(fixed).seconds * scale, busiest(fixed));
}

/// Range of the duration of a fixed program, in seconds.
struct Ends {
  double most = 0;
  std::optional<double> least{};
  double work = 0;  ///< seconds of own work that the lower end leaves out
};

/// `seconds`: what the fixed program takes if all own work stays and the CPU copies as fast as it was measured to.
/// `reference`: what the program takes now, which no end exceeds.
Ends ends_of(Program fixed, double seconds, double scale, double reference) {
  const bool by_cpu = std::ranges::any_of(fixed.operations, &Operation::by_cpu_rate);
  Ends ends{.most = seconds};
  if (by_cpu) ends.most = seconds_at_cpu_rate(fixed, 1 + kCpuSpread, scale);
  ends.most = std::min(ends.most, reference);
  if (const auto less = remove_recurring_work(fixed, seconds, scale)) {
    ends.least = less->seconds;
    ends.work = less->work;
  }
  if (!by_cpu) return ends;
  const double fast = seconds_at_cpu_rate(std::move(fixed), 1 - kCpuSpread, scale);
  if (ends.most - fast >= kWorthAWord * seconds) ends.least = fast;
  return ends;
}

/// Whether a fix of such a finding may give a range of times. Others are not tried, because each needs replays.
bool has_ends(FindingKind kind) {
  return kind == FindingKind::small_copies || kind == FindingKind::fresh_memory || kind == FindingKind::mapped_copy;
}

// --- The order of findings ------------------------------------------------------------------------------------------

/// Returns the fixes of the candidate that have a name, except the reported one.
std::vector<Alternative> alternatives_of(const Candidate& candidate, const FixTrial& alone, std::size_t reported,
                                         double scale) {
  std::vector<Alternative> others;
  for (std::size_t i = 0; i < candidate.fixes.size(); ++i) {
    const std::string& name = candidate.fixes[i].name;
    if (i != reported && !name.empty() && std::isfinite(alone.times[i])) {
      others.push_back({name, alone.times[i] * scale});
    }
  }
  std::ranges::stable_sort(others, {}, &Alternative::seconds_after);
  return others;
}

/// Ranks fixes by the work that they take, from a changed call to another structure of the program.
int effort(FindingKind kind) {
  switch (kind) {
    case FindingKind::fresh_memory: return 0;
    case FindingKind::needless_wait:
    case FindingKind::pageable:
    case FindingKind::blocking_copy:
    case FindingKind::setup:
    case FindingKind::default_stream:
    case FindingKind::read_twice:
    case FindingKind::slow_workers: return 1;
    case FindingKind::slow_copies:
    case FindingKind::managed: return 2;
    case FindingKind::small_copies:
    case FindingKind::result_wait:
    case FindingKind::host_copy:
    case FindingKind::mapped_copy: return 3;
    case FindingKind::launch_bound:
    case FindingKind::read_in_turn:
    case FindingKind::no_overlap: return 4;
  }
  return 4;
}

/// Returns the candidates' order: the largest gain first; of equal gains, the fix with the least effort first.
std::vector<std::size_t> best_order(const std::vector<Candidate>& candidates, const std::vector<FixTrial>& alone,
                                    double unchanged) {
  constexpr double kAlike = 0.9;
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Keeping a buffer is a one-line change without pinned memory, so it may precede fixes with larger gains.
  constexpr double kEasy = 1.5;
  const auto gain = [&](std::size_t i) {
    const bool easy = candidates[i].finding.kind == FindingKind::fresh_memory;
    return (unchanged - alone[i].seconds()) * (easy ? kEasy : 1);
  };
  std::ranges::stable_sort(order, std::ranges::greater(), gain);
  for (auto first = order.begin(); first != order.end();) {
    const auto rest = std::find_if(first, order.end(), [&](std::size_t i) { return gain(i) < kAlike * gain(*first); });
    const auto end = rest == first ? first + 1 : rest;
    std::stable_sort(first, end, [&](std::size_t a, std::size_t b) {
      return effort(candidates[a].finding.kind) < effort(candidates[b].finding.kind);
    });
    first = end;
  }
  return order;
}

/// Applies fixes one after the other, each to the program with all earlier fixes.
class Sequence {
 public:
  Sequence(const Program& program, double unchanged, double reference)
      : original_(program),
        program_(program),
        unchanged_(unchanged),
        seconds_(unchanged),
        scale_(reference / unchanged),
        reference_(reference) {}

  /// Reports the candidate if it gains at least `least_share`, alone, after the fixes before it, or at the best end of
  /// its range.
  void try_next(const Candidate& candidate, const FixTrial& alone, double least_share, Gains& gains) {
    const FixTrial here = gains.findings.empty() ? alone : tried(program_, candidate, seconds_, scale_);
    const double gain_here = seconds_ - here.seconds();
    const std::size_t fix = gain_here > 0 ? here.best : alone.best;  // index of the fix to report
    const double after = std::min(alone.times[fix], unchanged_);     // a slow-down by the fix counts as no gain
    Finding finding = candidate.finding;
    finding.seconds_after = after * scale_;
    finding.share = std::max(unchanged_ - after, gain_here) * scale_ / reference_;
    if (has_ends(finding.kind) && std::isfinite(alone.times[fix])) add_range(candidate.fixes[fix], finding);
    const double at_best = 1 - finding.seconds_after_least.value_or(reference_) / reference_;
    if (std::max(finding.share, at_best) < least_share) {
      ++gains.left_out;
      return;
    }
    if (gain_here > 0) {
      candidate.fixes[fix].apply(program_);
      seconds_ = here.seconds();
    }
    finding.fix = candidate.fixes[fix].text;
    finding.assumption = candidate.fixes[fix].assumption;
    finding.seconds_after_all = seconds_ * scale_;
    finding.way = candidate.fixes[fix].name;
    finding.alternatives = alternatives_of(candidate, alone, fix, scale_);
    gains.findings.push_back(std::move(finding));
  }

 private:
  void add_range(const Fix& fix, Finding& finding) const {
    Program fixed = original_;
    fix.apply(fixed);
    const Ends ends = ends_of(std::move(fixed), *finding.seconds_after, scale_, reference_);
    finding.seconds_after = ends.most;
    finding.seconds_after_least = ends.least;
    finding.work_around = ends.work;
  }

  const Program& original_;
  Program program_;
  double unchanged_;
  double seconds_;
  double scale_;
  double reference_;
};

}  // namespace

std::string why_gains_unavailable(const WindowSummary& window_summary) {
  if (!window_summary.replayed) return "the recording cannot be replayed";
  const double replay_error = std::abs(*window_summary.replayed - window_summary.seconds) / window_summary.seconds;
  if (replay_error > kReplayTolerance) {
    return fmt::format(
        "the unchanged replay takes {}, the program took {}: a difference of {} is above the limit of {}",
        format_seconds(*window_summary.replayed), format_seconds(window_summary.seconds), format_percent(replay_error),
        format_percent(kReplayTolerance));
  }
  return {};
}

UnprofiledProgram without_profiling(const Program& program, double replayed, double baseline) {
  UnprofiledProgram unprofiled = without_costs(program, replayed, baseline);
  const auto waits_for_pages = [](const Operation& o) { return o.varies && !o.is_copy; };
  if (std::ranges::any_of(program.operations, waits_for_pages)) {
    // CUPTI's unified memory counters slow kernels that wait for pages by up to 100 %, and host code by 25 % (H200).
    vary_operations(unprofiled, baseline, false);
    vary_host(unprofiled, baseline);
  }
  vary_operations(unprofiled, baseline, true);
  vary_host(unprofiled, baseline);
  return unprofiled;
}

Gains gains_of(const Program& program, double reference, const std::vector<Candidate>& candidates, double least_share) {
  const double unchanged = replay(program).seconds;
  const auto alone = list_of(candidates, [&](const Candidate& candidate) {
    return tried(program, candidate, unchanged, reference / unchanged);
  });
  Gains gains;
  Sequence sequence(program, unchanged, reference);
  for (const std::size_t i : best_order(candidates, alone, unchanged)) {
    sequence.try_next(candidates[i], alone[i], least_share, gains);
  }
  return gains;
}

Chosen chosen_fixes(const Program& program, double reference, const std::vector<Candidate>& candidates,
                    const std::vector<FindingKind>& kinds) {
  Chosen chosen{.missing = kinds};
  double before = replay(program).seconds;
  const double scale = reference / before;
  Program fixed = program;
  for (const Candidate& candidate : candidates) {
    const FindingKind kind = candidate.finding.kind;
    if (std::ranges::find(kinds, kind) == kinds.end()) continue;
    const FixTrial all = tried(fixed, candidate, before, scale);
    if (!std::isfinite(all.seconds())) continue;
    std::erase(chosen.missing, kind);
    chosen.at_most = chosen.at_most || candidate.finding.at_most;
    candidate.fixes[all.best].apply(fixed);
    before = all.seconds();
    chosen.seconds = before * scale;
  }
  if (!chosen.seconds) return chosen;
  const Ends ends = ends_of(std::move(fixed), *chosen.seconds, scale, reference);
  chosen.seconds = ends.most;
  chosen.least = ends.least;
  return chosen;
}

}  // namespace xferbench::explain
