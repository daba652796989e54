#include "measure/history.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "measure/statistics.hpp"

namespace xferbench {

namespace {

/// Returns the stop reason of a measurement whose samples of all turns together miss the target. `before`: reason of
/// the earlier turns; `now`: of the latest turn. If the two differ, or both are Stop::ci, returns Stop::budget, unless
/// the latest turn was interrupted.
Stop short_of_target(Stop before, Stop now) {
  if (now == Stop::interrupted) return Stop::interrupted;
  return before == now && now != Stop::ci ? now : Stop::budget;
}

void append(Measurement& before, const Measurement& now, double ci) {
  if (before.name != now.name) {
    throw std::logic_error("two passes over a case sampled different measurements: " + before.name + " and " +
                           now.name);
  }
  statistics::append(before, now);
  before.stop = statistics::stop_of(before.samples, ci, short_of_target(before.stop, now.stop));
}

void append(Series& before, const Series& now, double ci) {
  append(before.elapsed, now.elapsed, ci);
  append(before.submit, now.submit, ci);
  if (before.parts.size() != now.parts.size()) throw std::logic_error("two passes over a case have different parts");
  for (std::size_t i = 0; i < now.parts.size(); ++i) append(before.parts[i], now.parts[i], ci);
  std::ranges::copy(now.stream_times, std::back_inserter(before.stream_times));
  before.checking += now.checking;
  before.ended = short_of_target(before.ended, now.ended);
  before.ci = ci;
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

void SampleHistory::repeat_as_before(std::span<Region> regions) const {
  if (next_ >= calls_.size()) return;
  const std::vector<Series>& before = calls_[next_];
  for (std::size_t i = 0; i < std::min(regions.size(), before.size()); ++i) regions[i].batch = before[i].elapsed.batch;
}

std::vector<Series> SampleHistory::continued(std::vector<Series> now) {
  const std::size_t call = next_++;
  if (call == calls_.size()) {
    calls_.push_back(std::move(now));
    return calls_.back();
  }
  std::vector<Series>& before = calls_[call];
  if (before.size() != now.size())
    throw std::logic_error("two passes over a case sampled different numbers of regions");
  for (std::size_t i = 0; i < now.size(); ++i) append(before[i], now[i], ci_);
  return before;
}

}  // namespace xferbench
