// The simulated device and small helpers around it.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "cli/command.hpp"
#include "device/open.hpp"
#include "device/sim/profile.hpp"
#include "device/sim/sim_device.hpp"
#include "kernels/elementwise.hpp"
#include "measure/pattern.hpp"
#include "run/runner.hpp"
#include "scenarios/scenarios.hpp"

namespace xferbench::test {

inline const sim::Profile& profile(std::string_view name) {
  for (const sim::Profile& p : sim::profiles()) {
    if (p.name == name) return p;
  }
  throw std::logic_error("no such profile");
}

/// A few samples are enough: simulated times repeat exactly.
inline RunContext quick_bench(Device& device) {
  SamplingPolicy policy;
  policy.min_samples = policy.max_samples = 6;
  return {device, policy, 5, true, [](const SamplingProgress&) {}};
}

using Words = std::vector<std::string>;

/// The cases of overlap for these flags.
inline std::vector<PlannedCase> overlap_cases(Words flags) {
  flags.insert(flags.begin(), "overlap");
  return cli::parse(flags, scenarios()).cases;
}

inline std::vector<Result> run_all(std::span<const PlannedCase> cases, const RunContext& bench) {
  return run_cases(cases, bench, {});
}

}  // namespace xferbench::test
