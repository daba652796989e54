#include "measure/history.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include "measure/statistics.hpp"

namespace xferbench {

namespace {

/// Flags that samples alone do not show; they stay once a turn had them.
constexpr std::array<std::string_view, 3> kOfATurn{"not-warm", "throttled", "gate-timeout"};

std::vector<std::string> flags_of_turns(const Measurement& before, const Measurement& now) {
  std::vector<std::string> flags;
  for (const std::string_view flag : kOfATurn) {
    const auto has = [flag](const Measurement& m) { return std::ranges::find(m.flags, flag) != m.flags.end(); };
    if (has(before) || has(now)) flags.emplace_back(flag);
  }
  return flags;
}

/// Why sampling ended, all turns together. Each may have reached its own target, and they differ: then the turns that
/// were planned are spent.
Stop reason(const Measurement& before, const Measurement& now, const Measurement& all, double ci) {
  if (now.stop == Stop::interrupted) return Stop::interrupted;
  const auto width = relative_half_width(all);
  if (width && *width <= ci) return Stop::ci;
  const bool all_taken = before.stop == Stop::max_samples && now.stop == Stop::max_samples;
  return all_taken ? Stop::max_samples : Stop::budget;
}

void append(Measurement& before, const Measurement& now, double ci) {
  if (before.name != now.name) {
    throw std::logic_error("two turns of a case sampled different things: " + before.name + " and " + now.name);
  }
  std::ranges::copy(now.samples, std::back_inserter(before.samples));
  before.batch = now.batch;
  before.warmup_runs += now.warmup_runs;
  before.warmup_converged = before.warmup_converged && now.warmup_converged;
  before.gate_timeouts += now.gate_timeouts;
  std::vector<std::string> flags = flags_of_turns(before, now);
  before.flags.clear();
  statistics::summarise(before);
  std::ranges::move(flags, std::back_inserter(before.flags));
  before.stop = reason(before, now, before, ci);
}

void append(Series& before, const Series& now, double ci) {
  append(before.elapsed, now.elapsed, ci);
  append(before.submit, now.submit, ci);
  if (before.parts.size() != now.parts.size()) throw std::logic_error("two turns of a case have different parts");
  for (std::size_t i = 0; i < now.parts.size(); ++i) append(before.parts[i], now.parts[i], ci);
  std::ranges::copy(now.stream_times, std::back_inserter(before.stream_times));
}

}  // namespace

SamplingPolicy share_of(const SamplingPolicy& wanted, std::size_t turns) {
  if (turns <= 1) return wanted;
  constexpr std::size_t kForAnInterval = 6;
  SamplingPolicy share = wanted;
  share.ci *= std::sqrt(static_cast<double>(turns));
  share.budget /= static_cast<double>(turns);
  const auto part = [turns](std::size_t n) { return (n + turns - 1) / turns; };
  share.max_samples = part(wanted.max_samples);
  share.min_samples = std::min(std::max(part(wanted.min_samples), kForAnInterval), share.max_samples);
  return share;
}

std::vector<Series> SampleHistory::continued(std::vector<Series> now) {
  const std::size_t call = next_++;
  if (call == calls_.size()) {
    calls_.push_back(std::move(now));
    return calls_.back();
  }
  std::vector<Series>& before = calls_[call];
  if (before.size() != now.size()) throw std::logic_error("two turns of a case sampled different numbers of regions");
  for (std::size_t i = 0; i < now.size(); ++i) append(before[i], now[i], ci_);
  return before;
}

}  // namespace xferbench
