#include "measure/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>

#include "core/interrupt.hpp"
#include "measure/pattern.hpp"
#include "measure/statistics.hpp"

namespace xferbench {

bool warm(std::span<const double> times) {
  constexpr std::size_t kWindow = 8;
  if (times.size() < 2 * kWindow) return false;
  const double last = statistics::median(times.last(kWindow));
  const double before = statistics::median(times.last(2 * kWindow).first(kWindow));
  return std::abs(last - before) <= 0.01 * before;
}

bool PassChecks::chosen(std::size_t region, std::size_t pass) const {
  const std::size_t hundred = (pass - 1) / kOneIn;
  const std::uint64_t index = (std::uint64_t{region} << 32) + hundred;
  return wanted && (pass - 1) % kOneIn == pattern::noise(seed, index) % kOneIn;
}

const Measurement& Series::part(std::string_view name, std::optional<int> gpu) const {
  const auto same = [=](const Measurement& m) { return m.name == name && (!gpu || m.gpu == gpu); };
  const auto found = std::ranges::find_if(parts, same);
  if (found == parts.end()) throw std::logic_error("region " + elapsed.name + " has no part " + std::string(name));
  return *found;
}

Measurement Series::main_part(std::string_view name) const {
  Measurement m = part(name);
  m.auxiliary = false;
  for (const std::string& flag : elapsed.flags) {
    if (flag == "not-warm" || flag == "throttled") m.flags.push_back(flag);
  }
  return m;
}

Measurement series_of_same_passes(const Series& series, std::string name, std::vector<double> samples) {
  Measurement m = series.elapsed;
  m.name = std::move(name);
  m.samples = std::move(samples);
  m.stop = statistics::stop_of(m.samples, series.ci, series.ended);
  m.flags.clear();
  statistics::summarise(m);
  return m;
}

double skew_of(const Series& series) {
  std::vector<double> skews;
  for (std::size_t sample = 0; sample < series.elapsed.samples.size(); ++sample) {
    double first = std::numeric_limits<double>::infinity();
    double last = 0;
    for (const Measurement& part : series.parts) {
      if (part.name != kGpuEnd) continue;
      first = std::min(first, part.samples[sample]);
      last = std::max(last, part.samples[sample]);
    }
    skews.push_back(last - first);
  }
  return statistics::median(skews);
}

namespace {

constexpr double kWarmupShare = 0.2;       // maximum fraction of the budget for the warm-up
constexpr double kThrottled = 0.9;         // fraction of the maximum SM clock below which a GPU counts as throttled
constexpr std::size_t kEnoughToTell = 20;  // fewer samples do not show whether the target can be reached

class Loop {
 public:
  Loop(Machine& machine, std::vector<Region> regions, const SamplingPolicy& policy, const SamplingObserver& observe,
       const PassChecks& checks, Lockstep* lockstep)
      : machine_(machine),
        policy_(policy),
        observe_(observe),
        checks_(checks),
        lockstep_(lockstep),
        begun_(machine.host().now()) {
    given_ = regions.size();
    timers_.reserve(given_);
    for (Region& region : regions) timers_.emplace_back(machine, std::move(region));
    // Set fixed batches now, so that samples have the batch of earlier turns even if Ctrl-C interrupts the warm-up.
    for (RegionTimer& timer : timers_) {
      if (timer.region().batch > 0) timer.set_batch(timer.region().batch);
    }
    series_.resize(given_);
    lengths_.resize(given_);
  }

  std::vector<Series> run() {
    warm_up();
    for (std::size_t i = 0; i < timers_.size(); ++i) describe(i);
    take_samples();
    summarise(is_throttled());
    return std::move(series_);
  }

 private:
  /// Seconds of the budget used so far, not counting checks.
  [[nodiscard]] double spent() const { return machine_.host().now() - begun_ - checking_; }

  // Collective operations: with a Lockstep, all processes must call these at the same places. Each returns the same
  // value on all processes.
  [[nodiscard]] bool stopped() const { return lockstep_ != nullptr ? lockstep_->interrupted() : interrupted() != 0; }
  [[nodiscard]] bool any(bool mine) const { return lockstep_ != nullptr ? lockstep_->any(mine) : mine; }

  void summarise(bool throttled) {
    for (std::size_t i = 0; i < series_.size(); ++i) {
      Series& s = series_[i];
      statistics::summarise(s.elapsed);
      statistics::summarise(s.submit);
      for (Measurement& part : s.parts) statistics::summarise(part);
      s.elapsed.gate_timeouts = timers_[i].gate_timeouts();
      if (!s.elapsed.warmup_converged) s.elapsed.flags.emplace_back("not-warm");
      if (throttled) s.elapsed.flags.emplace_back("throttled");
      if (s.elapsed.gate_timeouts > 0) s.elapsed.flags.emplace_back("gate-timeout");
    }
  }

  /// Adds a copy of each same_batch region whose batch differs from that of the first such region. Copies are added at
  /// the end, so that the other regions keep their indices. Copies have no check, because the originals are checked.
  void add_alike() {
    const auto alike = [](const RegionTimer& timer) { return timer.region().same_batch; };
    const auto first = std::ranges::find_if(timers_, alike);
    if (first == timers_.end()) return;
    const unsigned batch = first->batch();
    for (std::size_t i = 0; i < given_; ++i) {
      if (!alike(timers_[i]) || timers_[i].batch() == batch) continue;
      Region again = timers_[i].region();
      again.name += kAlikeSuffix;
      again.check = nullptr;
      timers_.emplace_back(machine_, std::move(again)).set_batch(batch);
    }
    series_.resize(timers_.size());
    lengths_.resize(timers_.size());
  }

  /// Returns the number of ungated passes per region before the batch is chosen: 2, or 0 if all regions were warmed up
  /// by others, because choosing the batch takes one pass anyway.
  [[nodiscard]] std::size_t ungated_passes() const {
    const bool all_warm =
        std::ranges::all_of(timers_, [](const RegionTimer& timer) { return timer.region().warmed_by_another; });
    return all_warm ? 0 : 2;
  }

  void warm_up() {
    const NvtxRange mark(machine_.tracer(), "warm-up");
    const std::size_t ungated = ungated_passes();
    for (RegionTimer& timer : timers_) {
      if (stopped()) break;
      for (std::size_t i = 0; i < ungated; ++i) timer.run_ungated();
      timer.choose_batch(lockstep_ != nullptr ? lockstep_->shortest_pass() : 0);
      if (lockstep_ != nullptr) timer.set_batch(static_cast<unsigned>(lockstep_->largest(timer.batch())));
    }
    add_alike();
    std::vector<std::vector<double>> times(timers_.size());
    std::vector<std::size_t> own;  // indices of the regions that no other region warms up
    for (std::size_t i = 0; i < timers_.size(); ++i) {
      if (!timers_[i].region().warmed_by_another) own.push_back(i);
    }
    const auto all_warm = [&] { return std::ranges::all_of(own, [&](std::size_t i) { return warm(times[i]); }); };
    while (any(!all_warm() && spent() < kWarmupShare * policy_.budget) && !stopped()) {
      for (const std::size_t i : own) times[i].push_back(time_or_throw(i).elapsed);
      observe_({});
    }
    if (!own.empty()) warm_up_others(own);
    const bool converged = all_warm();
    for (std::size_t i = 0; i < timers_.size(); ++i) {
      series_[i].elapsed.warmup_runs = (i < given_ ? ungated : 0) + times[i].size();
      series_[i].elapsed.warmup_converged = timers_[i].region().warmed_by_another ? converged : warm(times[i]);
    }
  }

  /// Runs one pass of each region that is not in `warmed` and discards its time. Another region has warmed up the same
  /// work, but the region's own first pass is still slow (lazy loading).
  void warm_up_others(const std::vector<std::size_t>& warmed) {
    for (std::size_t i = 0; i < timers_.size(); ++i) {
      if (!std::ranges::binary_search(warmed, i) && !stopped()) time_or_throw(i);
    }
  }

  void describe(std::size_t i) {
    Measurement& elapsed = series_[i].elapsed;
    elapsed.name = timers_[i].region().name;
    elapsed.clock = timers_[i].region().clock;
    elapsed.batch = timers_[i].batch();
    elapsed.gpu = timers_[i].region().gpu;
    elapsed.auxiliary = i >= given_;
    if (can_check(i)) elapsed.checked = 0;
    Measurement& submit = series_[i].submit;
    submit = elapsed;
    submit.name += "-submit";
    submit.clock = Clock::host;
    submit.auxiliary = true;
    for (const Region::Part& part : timers_[i].region().parts) {
      Measurement& m = series_[i].parts.emplace_back(submit);
      m.name = part.name;
      m.clock = part.clock;
      m.unit = part.unit;
      m.gpu = part.gpu;
    }
  }

  void take_samples() {
    sampling_begun_ = spent();
    const auto looks = statistics::check_points(policy_.min_samples, policy_.max_samples);
    for (std::size_t n = 1;; ++n) {
      const Round round = n == looks.back() ? Round::checked : Round::usual;
      if (!take_round(n, round)) return stop(Stop::interrupted);
      const bool look = std::ranges::binary_search(looks, n);
      if (look) observe_({n, widest_half_width()});
      std::optional<Stop> reason = reason_to_stop(n, look);
      if (reason && round == Round::usual && checks_anything()) {
        // Only now is it known that sampling ends, and later passes of this round may have overwritten the results of
        // earlier ones. So one more round follows, in which every pass is checked. Its samples count, so the stopping
        // rule is evaluated again.
        if (!take_round(++n, Round::checked)) return stop(Stop::interrupted);
        reason = reason_to_stop(n, look);
      }
      if (reason) return stop(*reason);
    }
  }

  /// Returns why sampling ends after `n` rounds (samples of each region); nothing if it continues. `look`: whether the
  /// intervals may be evaluated after this round.
  [[nodiscard]] std::optional<Stop> reason_to_stop(std::size_t n, bool look) const {
    if (look && !any(!all_settled())) return Stop::ci;
    if (n >= policy_.max_samples) return Stop::max_samples;
    if (n >= policy_.min_samples && !any(spent() < policy_.budget)) return Stop::budget;
    if (look && n >= kEnoughToTell && any(cannot_reach_target(n))) return Stop::out_of_reach;
    return std::nullopt;
  }

  /// Whether the target cannot be reached within the budget: the widest interval would still be too wide when the
  /// budget ends, or the first sample is an outlier, which remains in the series.
  [[nodiscard]] bool cannot_reach_target(std::size_t n) const {
    const auto width = widest_half_width();
    if (policy_.ci <= 0 || !width) return false;
    const auto slow = [](const Measurement* m) { return statistics::slow_first(m->samples); };
    if (*width <= policy_.ci) return std::ranges::any_of(deciding(), slow);
    const auto have = static_cast<double>(n);
    const double round = (spent() - sampling_begun_) / have;
    return statistics::samples_for(policy_.ci, have, *width) * round > policy_.budget - sampling_begun_;
  }

  enum class Round { usual, checked };

  /// Takes one sample of every region, in reverse order in every second round. Returns false if Ctrl-C ended the round.
  bool take_round(std::size_t n, Round round) {
    for (std::size_t i = 0; i < timers_.size(); ++i) {
      if (stopped()) return false;
      const std::size_t turn = n % 2 == 1 ? i : timers_.size() - 1 - i;
      recover_from_check();
      keep(time_or_throw(turn), series_[turn]);
      if (lockstep_ != nullptr) series_[turn].moments.push_back(lockstep_->last_pass());
      if (can_check(turn) && (round == Round::checked || checks_.chosen(turn, n))) check(turn, n);
    }
    return true;
  }

  static void keep(const Timing& timing, Series& series) {
    series.elapsed.samples.push_back(timing.elapsed);
    series.submit.samples.push_back(timing.submit);
    if (!timing.stream_times.empty()) series.stream_times.push_back(timing.stream_times);
    for (std::size_t part = 0; part < timing.parts.size(); ++part) {
      series.parts[part].samples.append(timing.parts[part]);
    }
  }

  [[nodiscard]] bool can_check(std::size_t i) const { return checks_.wanted && timers_[i].region().check; }
  [[nodiscard]] bool checks_anything() const {
    for (std::size_t i = 0; i < timers_.size(); ++i) {
      if (can_check(i)) return true;
    }
    return false;
  }

  /// Checks the result of a region's last pass. Does nothing after Ctrl-C, because checking gigabytes takes long.
  void check(std::size_t i, std::size_t pass) {
    if (stopped()) return;
    Series& series = series_[i];
    const double begun = machine_.host().now();
    try {
      const NvtxRange mark(machine_.tracer(), "check");
      timers_[i].region().check();
    } catch (const VerificationError& error) {
      const std::string text = fmt::format("timed pass {} of {}: {}", pass, series.elapsed.name, error.what());
      stop(Stop::interrupted);
      summarise(false);
      throw FailedCheck(text, i, std::move(series_));
    }
    ++*series.elapsed.checked;
    ++*series.submit.checked;
    for (Measurement& part : series.parts) ++*part.checked;
    just_checked_ = i;
    add_checking(i, machine_.host().now() - begun);
  }

  /// Runs one untimed pass after a check, because a check leaves caches and GPU in another state than a pass.
  void recover_from_check() {
    if (!just_checked_) return;
    const std::size_t i = *std::exchange(just_checked_, std::nullopt);
    const double begun = machine_.host().now();
    time_or_throw(i);
    add_checking(i, machine_.host().now() - begun);
  }

  void add_checking(std::size_t i, double seconds) {
    series_[i].checking += seconds;
    checking_ += seconds;
  }

  Timing time_or_throw(std::size_t i) {
    return retry_gate_timeouts("timing " + timers_[i].region().name, [&] {
      const NvtxRange mark(machine_.tracer(), "sample");
      return lockstep_ != nullptr ? time_in_step(i) : timers_[i].time();
    });
  }

  /// Times a pass that starts in all processes at the same time. Repeats the pass if it failed in another process.
  /// Returns nothing if this process's own gate timed out.
  std::optional<Timing> time_in_step(std::size_t i) {
    for (;;) {
      lockstep_->agree_on_start(timers_[i].preparation(), lengths_[i]);
      std::optional<Timing> timing = timers_[i].time([this] { lockstep_->wait_for_start(); });
      const bool counts = lockstep_->agree_on_pass(timing.has_value());
      lengths_[i] = lockstep_->last_pass().end - lockstep_->last_pass().begin;
      if (counts || !timing) return timing;
    }
  }

  /// Returns the measurements whose intervals decide when sampling stops.
  [[nodiscard]] std::vector<const Measurement*> deciding() const {
    std::vector<const Measurement*> all;
    for (std::size_t i = 0; i < series_.size(); ++i) {
      all.push_back(&series_[i].elapsed);
      for (std::size_t part = 0; part < series_[i].parts.size(); ++part) {
        if (timers_[i].region().parts[part].decides) all.push_back(&series_[i].parts[part]);
      }
    }
    return all;
  }

  [[nodiscard]] std::optional<double> widest_half_width() const {
    std::optional<double> widest;
    for (const Measurement* m : deciding()) widest = std::max(widest, statistics::half_width(m->samples));
    return widest;
  }

  [[nodiscard]] bool all_settled() const {
    return std::ranges::all_of(deciding(),
                               [this](const Measurement* m) { return statistics::settled(m->samples, policy_.ci); });
  }

  /// Sets the stop reason of each measurement: Stop::ci if it reached its target, otherwise the reason why sampling
  /// ended.
  void stop(Stop reason) {
    const auto settle = [&](Measurement& m) { m.stop = statistics::stop_of(m.samples, policy_.ci, reason); };
    for (Series& s : series_) {
      s.ended = reason;
      s.ci = policy_.ci;
      settle(s.elapsed);
      settle(s.submit);
      std::ranges::for_each(s.parts, settle);
    }
  }

  /// Returns the devices that the regions use. Other devices may be lost, so they must not be queried.
  [[nodiscard]] std::set<Device*> devices_at_work() const {
    std::set<Device*> devices;
    for (const RegionTimer& timer : timers_) {
      for (const StreamView stream : timer.region().streams) devices.insert(&stream.device());
    }
    if (devices.empty()) devices.insert(&machine_.device());
    return devices;
  }

  bool is_throttled() {
    return std::ranges::any_of(devices_at_work(), [](Device* device) {
      const double highest = device->capabilities().environment.gpu.max_sm_clock_hz;
      const auto now = device->sm_clock_hz();
      return now && *now < kThrottled * highest;
    });
  }

  Machine& machine_;
  SamplingPolicy policy_;
  const SamplingObserver& observe_;
  PassChecks checks_;
  Lockstep* lockstep_;
  double begun_;
  double checking_ = 0;                      // seconds spent on checks
  double sampling_begun_ = 0;                // seconds of the budget that were used when sampling began
  std::optional<std::size_t> just_checked_;  // index of the region checked after the latest pass, if any
  std::size_t given_ = 0;  // number of regions passed to sample(); further timers are copies made by add_alike()
  std::vector<RegionTimer> timers_;
  std::vector<double> lengths_;  // duration of each region's last pass, in seconds; used only with a Lockstep
  std::vector<Series> series_;
};

}  // namespace

std::vector<Series> sample(Machine& machine, std::vector<Region> regions, const SamplingPolicy& policy,
                           const SamplingObserver& observe, const PassChecks& checks, Lockstep* lockstep) {
  const OnExit timed = timed_passes(machine);
  return Loop(machine, std::move(regions), policy, observe, checks, lockstep).run();
}

}  // namespace xferbench
