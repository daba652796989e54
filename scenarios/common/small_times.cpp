#include "scenarios/common/small_times.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace xferbench {

Region in_steps(const char* name, std::vector<Region::Part> parts, std::function<void(LapTimer&)> steps) {
  return {.name = name, .clock = Clock::host, .parts = std::move(parts), .steps = std::move(steps)};
}

SamplingPolicy for_percentiles(const SamplingPolicy& wanted, std::size_t samples_per_pass) {
  constexpr std::size_t kEnough = 1000;
  const auto passes = [=](std::size_t samples) { return (samples + samples_per_pass - 1) / samples_per_pass; };
  SamplingPolicy policy = wanted;
  policy.min_samples = passes(std::min(std::max(wanted.min_samples, kEnough), wanted.max_samples));
  policy.max_samples = passes(wanted.max_samples);
  return policy;
}

Measurement main_part(const Series& series, std::string_view name) {
  Measurement m = series.part(name);
  m.auxiliary = false;
  for (const std::string& flag : series.elapsed.flags) {
    if (flag == "not-warm" || flag == "throttled") m.flags.push_back(flag);
  }
  return m;
}

}  // namespace xferbench
