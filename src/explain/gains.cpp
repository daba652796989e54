#include "explain/gains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <limits>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "core/units.hpp"
#include "explain/replay.hpp"

namespace xferbench::explain {

namespace {

/// No recorded call was seen to cost more (an H200's host: 0.6 to 1.5 us).
constexpr double kMostPerCall = 2e-6;

/// A time without that, of which some is always left.
double less(double seconds, double watching) {
  constexpr double kLeastLeft = 0.3;
  return seconds <= 0 ? seconds : std::max(kLeastLeft * seconds, seconds - watching);
}

/// Half of a call's cost comes before what it enqueues, and half after what it waits for. On the device CUPTI's stamps
/// come between operations: after a kernel they cost a tenth of it (nodes of graphs: 0.17 us), after a copy half (of
/// many small ones in a row: 0.6 us).
Program lightened(Program program, double per_call) {
  for (HostCall& call : program.calls) {
    call.own = less(call.own, per_call);
    call.wake = less(call.wake, per_call / 2);
  }
  for (Operation& o : program.operations) {
    o.delay = less(o.delay, per_call / 2);
    o.handover = less(o.handover, o.is_copy ? per_call / 2 : per_call / 10);
  }
  return program;
}

/// What calls and operations take without being watched.
Unwatched without_costs(const Program& program, double replayed, double bare) {
  Unwatched best{.program = program, .seconds = replayed};
  double low = 0;
  double high = kMostPerCall;
  constexpr int kSteps = 5;
  for (int step = 0; step < kSteps && replayed > bare && low < high; ++step) {
    const double per_call = step == 0 ? high : (low + high) / 2;  // most often, all of it is not enough
    Program lighter = lightened(program, per_call);
    const double seconds = replay(lighter).seconds;
    const bool still_over = seconds >= bare;
    if (still_over || best.per_call == 0) best = {std::move(lighter), seconds, per_call};
    (still_over ? low : high) = per_call;
  }
  return best;
}

/// The rest of the difference on what varies most: half to twice of what it took.
void vary_operations(Unwatched& unwatched, double bare) {
  Program& program = unwatched.program;
  double taken = 0;
  for (const Operation& o : program.operations) taken += o.varies ? o.work : 0;
  if (taken <= 0) return;
  const double factor = std::clamp(1 + (bare - unwatched.seconds) / taken, 0.5, 2.);
  for (Operation& o : program.operations) {
    if (o.varies) o.work *= factor;
  }
  unwatched.seconds = replay(program).seconds;
}

Program with_host_times(Program program, double factor) {
  for (HostCall& call : program.calls) {
    call.own *= factor;
    call.gap *= factor;
  }
  return program;
}

/// What is still left on what the host does, from half to twice as long: operations on the GPU take the same from run
/// to run.
void vary_host(Unwatched& unwatched, double bare) {
  constexpr double kClose = 0.002;
  if (std::abs(unwatched.seconds / bare - 1) <= kClose) return;
  const Program before = unwatched.program;
  double low = unwatched.seconds > bare ? 0.5 : 1;
  double high = unwatched.seconds > bare ? 1 : 2;
  constexpr int kSteps = 6;
  for (int step = 0; step < kSteps && std::abs(unwatched.seconds / bare - 1) > kClose; ++step) {
    const double factor = (low + high) / 2;
    unwatched.program = with_host_times(before, factor);
    unwatched.seconds = replay(unwatched.program).seconds;
    (unwatched.seconds > bare ? high : low) = factor;
  }
}

struct Tried {
  double seconds = 0;
  std::size_t mend = 0;  // the best of the candidate's
};

/// What the program takes when it is mended so. A change that leaves something waiting for ever cannot be made there.
double seconds_with(const Program& program, const Mend& mend) {
  Program changed = program;
  mend.apply(changed);
  try {
    return replay(changed).seconds;
  } catch (const InputError&) {
    return std::numeric_limits<double>::infinity();
  }
}

/// The best way to mend it in that program.
Tried best_of(const Program& program, const Candidate& candidate) {
  std::vector<std::future<double>> times;
  for (const Mend& mend : candidate.mends) {
    times.push_back(std::async(std::launch::async, seconds_with, std::cref(program), std::cref(mend)));
  }
  Tried best{.seconds = times.front().get()};
  for (std::size_t i = 1; i < times.size(); ++i) {
    const double seconds = times[i].get();
    if (seconds < best.seconds) best = {seconds, i};
  }
  return best;
}

void describe(Finding& finding, const Candidate& candidate, std::size_t mend) {
  finding.mend = candidate.mends[mend].text;
  finding.assumption = candidate.mends[mend].assumption;
}

/// Mends one after the other, each in what those before have left.
class Sequence {
 public:
  Sequence(Program program, double unchanged, double reference)
      : program_(std::move(program)), seconds_(unchanged), scale_(reference / unchanged), reference_(reference) {}

  /// Takes the candidate up if it gains so much, alone or here.
  void try_next(const Candidate& candidate, const Tried& alone, double least_share, Gains& gains) {
    const Tried here = gains.findings.empty() ? alone : best_of(program_, candidate);
    const double gain_alone = 1 - alone.seconds * scale_ / reference_;
    const double gain_here = (seconds_ - here.seconds) * scale_ / reference_;
    if (std::max(gain_alone, gain_here) < least_share) {
      ++gains.left_out;
      return;
    }
    Finding finding = candidate.finding;
    finding.seconds_after = alone.seconds * scale_;
    finding.share = std::max(gain_alone, gain_here);
    if (here.seconds < seconds_) {
      candidate.mends[here.mend].apply(program_);
      seconds_ = here.seconds;
    }
    describe(finding, candidate, gain_here >= gain_alone ? here.mend : alone.mend);
    finding.seconds_after_all = seconds_ * scale_;
    gains.findings.push_back(std::move(finding));
    if (gains.findings.size() > 1) gains.together.push_back(seconds_ * scale_);
  }

 private:
  Program program_;
  double seconds_;
  double scale_;
  double reference_;
};

}  // namespace

std::string reason_to_withhold(const Stretch& stretch) {
  if (!stretch.replayed) return "the recording cannot be replayed";
  const double replay_error = std::abs(*stretch.replayed - stretch.seconds) / stretch.seconds;
  if (replay_error > kReplayTolerance) {
    return fmt::format(
        "replayed unchanged, the recording takes {} where the program took {}: {} apart, and more than "
        "{} would make gains guesses",
        format_seconds(*stretch.replayed), format_seconds(stretch.seconds), format_percent(replay_error),
        format_percent(kReplayTolerance));
  }
  return {};
}

Unwatched without_watching(const Program& program, double replayed, double bare) {
  Unwatched unwatched = without_costs(program, replayed, bare);
  vary_operations(unwatched, bare);
  vary_host(unwatched, bare);
  return unwatched;
}

Gains gains_of(const Program& program, double reference, const std::vector<Candidate>& candidates, double least_share) {
  const double unchanged = replay(program).seconds;
  std::vector<Tried> alone;
  for (const Candidate& candidate : candidates) {
    alone.push_back(best_of(program, candidate));
    if (!std::isfinite(alone.back().seconds)) alone.back().seconds = unchanged;  // it cannot be mended by itself
  }
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&alone](std::size_t i) { return alone[i].seconds; });
  Gains gains;
  Sequence sequence(program, unchanged, reference);
  for (const std::size_t i : order) sequence.try_next(candidates[i], alone[i], least_share, gains);
  return gains;
}

double seconds_mended(const Program& program, double reference, const std::vector<Candidate>& candidates,
                      const std::vector<FindingKind>& kinds) {
  Program mended = program;
  for (const Candidate& candidate : candidates) {
    if (std::ranges::find(kinds, candidate.finding.kind) == kinds.end()) continue;
    const Tried best = best_of(mended, candidate);
    if (std::isfinite(best.seconds)) candidate.mends[best.mend].apply(mended);
  }
  return replay(mended).seconds * reference / replay(program).seconds;
}

}  // namespace xferbench::explain
