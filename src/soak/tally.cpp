#include "soak/tally.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "measure/statistics.hpp"
#include "run/health.hpp"

namespace xferbench::soak {

namespace {

constexpr std::size_t kMostSentences = 8;  // maximum number of sentences about health changes for one drop

/// If a new reading lacks a counter, keeps the last known value.
template <class T>
void keep_known(std::optional<T>& now, const std::optional<T>& before) {
  if (!now) now = before;
}

/// Adds the increase of a counter between two readings. A decrease means that the driver reset it.
void add_moved(std::optional<std::uint64_t>& sum, const std::optional<std::uint64_t>& before,
               const std::optional<std::uint64_t>& now) {
  if (!before || !now) return;
  sum = sum.value_or(0) + (*now >= *before ? *now - *before : *now);
}

/// Keeps the worse of two values. An unknown value never replaces a known one.
template <class Worse>
void keep_worse(std::optional<double>& now, const std::optional<double>& before, const Worse& worse) {
  if (before && (!now || worse(*before, *now))) now = before;
}

void keep_counters(Health& now, const Health& before) {
  keep_known(now.ecc_corrected, before.ecc_corrected);
  keep_known(now.ecc_uncorrected, before.ecc_uncorrected);
  keep_known(now.pcie_replays, before.pcie_replays);
}

template <class T>
void add_once(std::vector<T>& all, const T& one, std::size_t most) {
  if (all.size() < most && std::ranges::find(all, one) == all.end()) all.push_back(one);
}

/// Merges two readings of a GPU: keeps the worse temperature, power and clocks, the later counters, and all errors.
GpuState worse_of(const GpuState& before, GpuState now) {
  keep_worse(now.health.temperature, before.health.temperature, std::greater<>());
  keep_worse(now.health.power, before.health.power, std::greater<>());
  keep_worse(now.clocks.sm, before.clocks.sm, std::less<>());
  keep_worse(now.clocks.memory, before.clocks.memory, std::less<>());
  keep_counters(now.health, before.health);
  if (before.health.xids) {
    auto xids = *before.health.xids;
    if (now.health.xids) xids.insert(xids.end(), now.health.xids->begin(), now.health.xids->end());
    now.health.xids = std::move(xids);
  }
  if (before.health.throttle) {
    auto reasons = *before.health.throttle;
    for (const std::string& reason : now.health.throttle.value_or(std::vector<std::string>())) {
      add_once(reasons, reason, SoakTotals::kMostKept);
    }
    now.health.throttle = std::move(reasons);
  }
  return now;
}

}  // namespace

double Tally::first_minutes(const SoakSettings& settings) { return std::min(300.0, settings.seconds / 10); }

Tally::Tally(const SoakSettings& settings, std::vector<GpuState> states, std::optional<SoakTotals> before)
    : settings_(settings), states_(std::move(states)) {
  if (before) totals_ = std::move(*before);
  series_.resize(totals_.loads.size());
}

std::size_t Tally::place_of(int gpu, SoakLoad load) {
  const auto is_it = [&](const SoakLoadTotals& t) { return t.gpu == gpu && t.load == load; };
  const auto known = std::ranges::find_if(totals_.loads, is_it);
  const auto place = static_cast<std::size_t>(known - totals_.loads.begin());
  if (known == totals_.loads.end()) {
    totals_.loads.push_back({.gpu = gpu, .load = load});
    series_.emplace_back();
  }
  return place;
}

void Tally::add(const GpuTurn& turn, double seconds, const Moment& now) {
  totals_.elapsed = now.elapsed;
  // The check of a round's new data counts as a turn of h2d, which is not recorded if the data are right.
  if (turn.moved == 0 && turn.verified == 0 && turn.wrong.empty()) return;
  const std::size_t place = place_of(turn.gpu, turn.load);
  SoakLoadTotals& totals = totals_.loads[place];
  totals.moved += turn.moved;
  totals.verified += turn.verified;
  totals.busy += turn.seconds;
  for (const SoakWrong& wrong : turn.wrong) {
    totals.wrong += wrong.bytes;
    add(wrong, now);
  }
  if (turn.seconds <= 0) return;
  const double rate = static_cast<double>(turn.moved) / turn.seconds;
  series_[place].rates.push_back(rate);
  judge(place, rate, seconds, now);
}

void Tally::add(SoakWrong wrong, const Moment& now) {
  totals_.wrong_bytes += wrong.bytes;
  ++totals_.wrong_buffers;
  if (totals_.wrong.size() >= SoakTotals::kMostKept) return;
  wrong.elapsed = now.elapsed;
  wrong.at = now.at;
  totals_.wrong.push_back(std::move(wrong));
}

// --- Drops ----------------------------------------------------------------------------------------------------------

void Tally::judge(std::size_t place, double rate, double seconds, const Moment& now) {
  SoakLoadTotals& totals = totals_.loads[place];
  if (!totals.baseline) return;
  totals.lowest = std::min(totals.lowest.value_or(rate), rate);
  Series& series = series_[place];
  const bool is_low = rate < settings_.floor * *totals.baseline;
  if (is_low && !series.is_low) {
    series.low_until = std::max(0.0, now.elapsed - seconds);
    begin_drop(place, rate, now);
  } else if (is_low && series.kept) {
    SoakDrop& drop = totals_.drops[*series.kept];
    drop.to = now.elapsed;
    drop.lowest = std::min(drop.lowest, rate);
    series.noted = series.kept;
  }
  if (is_low) totals_.drop_seconds += now.elapsed - std::exchange(series.low_until, now.elapsed);
  if (!is_low) series.kept.reset();
  series.is_low = is_low;
}

void Tally::begin_drop(std::size_t place, double rate, const Moment& now) {
  ++totals_.drop_count;
  if (totals_.drops.size() >= SoakTotals::kMostKept) return;
  const SoakLoadTotals& of = totals_.loads[place];
  series_[place].kept = series_[place].noted = totals_.drops.size();
  totals_.drops.push_back({.gpu = of.gpu,
                           .load = of.load,
                           .from = series_[place].low_until,
                           .to = now.elapsed,
                           .lowest = rate,
                           .at = now.at});
}

void Tally::end_first_minutes(double elapsed) {
  const bool over = elapsed >= first_minutes(settings_);
  for (std::size_t place = 0; place < series_.size(); ++place) {
    SoakLoadTotals& totals = totals_.loads[place];
    if (totals.baseline || series_[place].rates.empty()) continue;
    totals.first.push_back(statistics::median(series_[place].rates));
    if (!over) continue;
    totals.baseline = statistics::median(totals.first);
    totals.baseline_until = elapsed;
    totals.first.clear();
  }
}

// --- Intervals ------------------------------------------------------------------------------------------------------

void Tally::count(const GpuState& before, const GpuState& now) {
  const auto known = std::ranges::find(totals_.counters, now.gpu, &SoakCounters::gpu);
  SoakCounters& counters =
      known != totals_.counters.end() ? *known : totals_.counters.emplace_back(SoakCounters{.gpu = now.gpu});
  add_moved(counters.ecc_corrected, before.health.ecc_corrected, now.health.ecc_corrected);
  add_moved(counters.ecc_uncorrected, before.health.ecc_uncorrected, now.health.ecc_uncorrected);
  add_moved(counters.pcie_replays, before.health.pcie_replays, now.health.pcie_replays);
  if (now.health.xids) {
    counters.xid_count += now.health.xids->size();
    for (const std::uint64_t xid : *now.health.xids) {
      if (counters.xids.size() < SoakTotals::kMostKept) counters.xids.push_back(xid);
    }
  }
  if (now.health.throttle) {
    for (const std::string& reason : *now.health.throttle) add_once(counters.throttle, reason, SoakTotals::kMostKept);
  }
  if (now.health.temperature) {
    counters.hottest = std::max(counters.hottest.value_or(*now.health.temperature), *now.health.temperature);
  }
}

SoakGpu Tally::gpu_of(const GpuState& before, const GpuState& now) {
  SoakGpu gpu{.gpu = now.gpu, .health = now.health, .clocks = now.clocks};
  // Leave out conditions that already existed at the previous reading, because some last for hours under load.
  for (const HealthChange& change : health_changes({before.health, now.health})) {
    if (!change.lasts) gpu.changes.push_back(change.sentence);
  }
  for (std::size_t place = 0; place < series_.size(); ++place) {
    const SoakLoadTotals& totals = totals_.loads[place];
    Series& series = series_[place];
    if (totals.gpu != now.gpu) continue;
    if (const auto noted = std::exchange(series.noted, std::nullopt)) {
      for (const std::string& change : gpu.changes) add_once(totals_.drops[*noted].beside, change, kMostSentences);
    }
    if (series.rates.empty()) continue;
    const auto [lowest, highest] = std::ranges::minmax(series.rates);
    gpu.rates.push_back({totals.load, statistics::median(series.rates), lowest, highest, series.rates.size()});
    series.rates.clear();
  }
  return gpu;
}

SoakInterval Tally::close(const Moment& now, const std::vector<GpuState>& states) {
  totals_.elapsed = now.elapsed;
  end_first_minutes(now.elapsed);
  SoakInterval interval{.at = now.at, .elapsed = now.elapsed};
  for (const GpuState& state : states) {
    const auto known = std::ranges::find(states_, state.gpu, &GpuState::gpu);
    if (known == states_.end()) continue;
    count(*known, state);
    interval.gpus.push_back(gpu_of(*known, state));
    const Health before = std::exchange(known->health, state.health);
    keep_counters(known->health, before);
  }
  interval.so_far = totals_;
  return interval;
}

void Tally::record_loss(const Moment& now, const std::string& reason) { add_loss(totals_, now.at, reason); }

void add_loss(SoakTotals& totals, const std::string& at, const std::string& reason) {
  ++totals.lost_count;
  add_once(totals.lost, at + ": " + reason, SoakTotals::kMostKept);
}

void add_health(std::vector<GpuState>& interval, const std::vector<GpuState>& now) {
  for (const GpuState& state : now) {
    const auto known = std::ranges::find(interval, state.gpu, &GpuState::gpu);
    if (known == interval.end()) {
      interval.push_back(state);
    } else {
      *known = worse_of(*known, state);
    }
  }
}

bool is_healthy(const SoakTotals& totals) {
  const auto is_sound = [](const SoakCounters& c) { return c.ecc_uncorrected.value_or(0) == 0 && c.xid_count == 0; };
  return totals.wrong_buffers == 0 && totals.lost_count == 0 && totals.drop_count == 0 &&
         std::ranges::all_of(totals.counters, is_sound);
}

}  // namespace xferbench::soak
