#include "scenarios/common/small_times.hpp"

#include <string>
#include <utility>

namespace xferbench {

Region in_steps(const char* name, std::vector<Region::Part> parts, std::function<void(LapTimer&)> steps) {
  return {.name = name, .clock = Clock::host, .parts = std::move(parts), .steps = std::move(steps)};
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
