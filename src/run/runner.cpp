#include "run/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/units.hpp"
#include "device/host.hpp"

namespace xferbench {

namespace {

std::optional<std::string> memory_refusal(MemoryNeeds needs, Device& device, bool verify) {
  const bool simulated = device.capabilities().environment.simulated();
  const std::uint64_t free = device.memory().free_bytes;
  if (needs.device > free) {
    return fmt::format("needs {} of device memory, {} available; choose a smaller --size", format_size(needs.device),
                       format_size(free));
  }
  // More would push other memory out of the GPU, and what is timed then is thrashing.
  if (needs.managed > free / 4) {
    return fmt::format(
        "needs {} of managed memory, more than a quarter of the {} of device memory available; choose a "
        "smaller --size",
        format_size(needs.managed), format_size(free));
  }
  // The simulated device keeps its memory and what is in flight in the host's, and touches all that only when it
  // carries data.
  const std::uint64_t on_host = simulated ? (verify ? needs.host + 2 * needs.device : 0) : needs.host + needs.managed;
  if (const auto available = available_host_memory(); available && on_host > *available) {
    return fmt::format("needs {} of host memory, {} available; choose a smaller --size{}", format_size(on_host),
                       format_size(*available), simulated ? ", or simulate without data by --no-verify" : "");
  }
  return std::nullopt;
}

/// Runs one case into `result`. Whatever is thrown, only this case fails.
void run_case(const PlannedCase& planned, const Bench& bench, Result& result) {
  const auto fail = [&result](const std::string& reason) {
    result.status = Status::failed;
    result.reason = reason;
  };
  const std::string key = planned.config.key();
  const Range mark(bench.device, key.c_str());
  try {
    planned.scenario->run(planned.config, bench, result);
  } catch (const std::bad_alloc&) {
    fail("the host ran out of memory; choose a smaller --size");
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

const char* advice(const std::string& flag) {
  if (flag == "drift") return "the machine was not steady; close other programs or raise --budget";
  if (flag == "bimodal") return "two speeds alternate; look for other work on the machine and for NUMA placement";
  if (flag == "throttled")
    return "the GPU ran below 90 % of its highest clock; look at its temperature and power limit";
  if (flag == "gate-timeout") return "the host was too busy to submit in time; those samples were taken again";
  if (flag == "slow-first") return "the first sample is slow: raise --budget for a longer warm-up";
  return nullptr;
}

}  // namespace

void warn(Result& result, const SamplingPolicy& policy) {
  std::vector<std::string> told;
  for (const Measurement& m : result.measurements) {
    if (m.auxiliary) continue;
    for (const std::string& flag : m.flags) {
      const char* text = advice(flag);
      if (text == nullptr || std::ranges::find(told, flag) != told.end()) continue;
      told.push_back(flag);
      result.warnings.push_back(fmt::format("{} ({}): {}", flag, m.name, text));
    }
    const auto width = relative_half_width(m);
    if (m.stop != Stop::ci && m.stop != Stop::interrupted && width && *width > policy.ci) {
      result.warnings.push_back(
          fmt::format("the interval of {} is +-{}, wider than the {} asked for: raise --budget, --max-samples or --ci",
                      m.name, format_percent(*width), format_percent(policy.ci)));
    }
  }
}

namespace {

bool has_samples(const Result& result) {
  return !result.measurements.empty() &&
         std::ranges::all_of(result.measurements, [](const Measurement& m) { return !m.samples.empty(); });
}

}  // namespace

std::optional<std::string> refusal(const PlannedCase& planned, Device& device, bool verify) {
  if (auto reason = planned.scenario->objection(planned.config)) return reason;
  return memory_refusal(planned.scenario->needs(planned.config), device, verify);
}

std::vector<Result> run_cases(std::span<const PlannedCase> cases, const Bench& bench, const CaseAnnouncer& announce,
                              const CaseObserver& observe) {
  std::vector<Result> results;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Result result(cases[i].config);
    const auto skip = [&result](const std::string& reason) {
      result.status = Status::skipped;
      result.reason = reason;
    };
    if (interrupted() != 0) {
      skip(std::string(kNotBegun));
    } else if (!bench.device.usable()) {
      skip("an earlier error destroyed the GPU's context; run this case again in a new process");
    } else if (auto refused = refusal(cases[i], bench.device, bench.verify)) {
      skip(*refused);
    } else if (auto lacking = cases[i].scenario->unsupported(cases[i].config, bench.device.capabilities())) {
      skip(*lacking);
    } else {
      announce(i, cases[i].config);
      run_case(cases[i], bench, result);
      if (interrupted() != 0 && result.status == Status::ok && !has_samples(result)) {
        skip("interrupted before its first samples");
        result.measurements.clear();
        result.metrics.clear();
      }
      warn(result, bench.policy);
    }
    observe(result);
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace xferbench
