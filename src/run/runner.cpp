#include "run/runner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <new>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/units.hpp"
#include "device/host.hpp"
#include "measure/statistics.hpp"

namespace xferbench {

namespace {

/// Returns " on GPU 3", for example, if the run uses several GPUs; otherwise empty.
std::string on_gpu(const Device& device) {
  const Environment& environment = device.capabilities().environment;
  return environment.gpus.empty() ? "" : fmt::format(" on GPU {}", environment.number_of(device.number()));
}

/// Returns why one device has too little memory for a case; nothing if the memory suffices.
std::optional<SkipReason> memory_skip_reason(const Case& config, MemoryNeeds needs, Device& device) {
  const auto [free, total] = device.memory();
  if (needs.device > free) {
    return SkipReason::impossible(fmt::format("needs {} of device memory, {} available{}; choose a smaller --size{}",
                                              format_memory(needs.device), format_memory(free), on_gpu(device),
                                              config.has("host") ? ", or time the pinning of a larger pool with "
                                                                   "'xferbench alloc --memory register --chunk 8G'"
                                                                 : ""));
  }
  // More managed memory could evict pages from the GPU: the case would then time thrashing, and some GPUs hang. So this
  // is done only if the user asks for it.
  if (needs.oversubscribed > 0) {
    const auto most = static_cast<std::uint64_t>(needs.oversubscribed * static_cast<double>(total));
    if (needs.managed <= most) return std::nullopt;
    return SkipReason::impossible(fmt::format(
        "needs {} of managed memory, more than the {} that --oversubscribe {:.4g} allows with {} of device memory; "
        "choose a smaller --size",
        format_memory(needs.managed), format_memory(most), needs.oversubscribed, format_memory(total)));
  }
  if (needs.managed > free / 4) {
    return SkipReason::impossible(
        fmt::format("needs {} of managed memory, more than a quarter of the {} of device memory available; choose a "
                    "smaller --size, or --oversubscribe for pages that are evicted",
                    format_memory(needs.managed), format_memory(free)));
  }
  return std::nullopt;
}

/// Returns why the host has too little memory for a case that uses `devices` devices; nothing if the memory suffices.
std::optional<SkipReason> host_memory_skip_reason(MemoryNeeds needs, std::size_t devices, bool simulated, bool verify) {
  // A simulated device keeps device memory and data in flight in host memory, which it touches only in runs that verify
  // data.
  const std::uint64_t on_host =
      simulated ? (verify ? needs.host + 2 * devices * needs.device : 0) : needs.host + needs.managed;
  if (const auto available = available_host_memory(); available && on_host > *available) {
    const auto bound = available_bound_memory();
    return SkipReason::impossible(
        fmt::format("needs {} of host memory, {} available{}; choose a smaller --size{}", format_memory(on_host),
                    format_memory(*available),
                    bound && on_host > *bound ? " on the NUMA node of this run (--numa none takes all nodes)" : "",
                    simulated ? ", or simulate without data (--no-verify)" : ""));
  }
  return std::nullopt;
}

/// Returns what the user can do about a flag of measurements. Returns an empty text for harmless flags, and for flags
/// of CaseHealth, which adds its own warnings.
std::string_view advice_on(std::string_view flag) {
  static const std::map<std::string_view, std::string_view> advice{
      {"drift", "times drifted during the measurement; close other programs or raise --budget"},
      {"bimodal", "times form two clusters; check for other work on the machine and for NUMA placement"},
      {"throttled", "the GPU ran below 90 % of its highest clock; check its temperature and power limit"},
      {"gate-timeout", "the host submitted too late; these samples were taken again"},
      {"slow-first", "the first sample is slow; raise --budget for a longer warm-up"},
  };
  const auto found = advice.find(flag);
  return found == advice.end() ? std::string_view() : found->second;
}

/// Returns a warning if a confidence interval is wider than the policy's target. It names the widest interval and the
/// number of samples that would be needed.
std::optional<std::string> unsteady(const Result& result, const SamplingPolicy& policy) {
  const Measurement* widest = nullptr;
  std::size_t others = 0;
  for (const Measurement& m : result.measurements) {
    const auto width = relative_half_width(m);
    if (m.auxiliary || m.stop == Stop::ci || m.stop == Stop::interrupted || !width || *width <= policy.ci) continue;
    if (widest != nullptr) ++others;
    if (widest == nullptr || *width > *relative_half_width(*widest)) widest = &m;
  }
  if (widest == nullptr) return std::nullopt;
  const double width = *relative_half_width(*widest);
  const auto have = static_cast<double>(widest->samples.size());
  // Use two decimals if `width` and `policy.ci` would read the same with one.
  const int decimals = format_percent(width) == format_percent(policy.ci) ? 2 : 1;
  const double needed = statistics::samples_for(policy.ci, have, width);
  std::string text = fmt::format("not steady: the 95 % interval is ±{} after {:.0f} samples ({}), the target is ±{}",
                                 format_percent(width, decimals), have,
                                 others == 0 ? widest->name : fmt::format("{} and {} more", widest->name, others),
                                 format_percent(policy.ci, decimals));
  constexpr double kMost = 1e6;  // larger numbers are not shown, because such a run would take too long
  if (needed > kMost) return text;
  text += fmt::format("; the target needs about {:.0f}: --min-samples {:.0f}", needed, needed);
  if (needed > static_cast<double>(policy.max_samples)) text += fmt::format(" --max-samples {:.0f}", needed);
  return text;
}

void end(Result& result, Status status, std::string reason) {
  result.status = status;
  result.reason = std::move(reason);
}

bool has_samples(const Result& result) {
  return !result.measurements.empty() &&
         std::ranges::all_of(result.measurements, [](const Measurement& m) { return !m.samples.empty(); });
}

std::vector<Device*> devices_of(const PlannedCase& planned, const Machine& machine) {
  return list_of(planned.scenario->takes_part(planned.config, machine.device().capabilities().environment),
                 [&](std::size_t place) { return &machine.device(place); });
}

std::vector<Health> health_of(std::span<Device* const> devices) { return list_of(devices, &Device::health); }

/// Returns why a case cannot run now: the run is ending, a device is lost, or skip_reason() gives a reason.
std::optional<SkipReason> skip_reason_now(const PlannedCase& planned, const RunContext& bench) {
  if (bench.stopped()) return SkipReason::unavailable(std::string(kNotBegun));
  for (Device* device : devices_of(planned, bench.machine)) {
    if (device->usable()) continue;
    // If other ranks wait for this rank, the scenario must run despite the lost device, to tell them of the failure.
    const bool awaited = planned.scenario->descriptor().needs_ranks && bench.fleet != nullptr;
    return awaited ? std::nullopt : std::optional(SkipReason::unavailable(std::string(kDeviceLost)));
  }
  return skip_reason(planned, bench.machine, bench.verify);
}

/// Runs one turn of a case. After an exception, the result has status failed; other cases are not affected.
Result attempt(const PlannedCase& planned, const RunContext& bench) {
  Result result(planned.config);
  const Environment& environment = bench.device.capabilities().environment;
  if (!environment.gpus.empty()) {
    for (const Device* device : devices_of(planned, bench.machine)) {
      result.gpus.push_back(environment.number_of(device->number()));
    }
  }
  const std::string key = planned.config.key();
  const NvtxRange mark(bench.machine.tracer(), key.c_str());
  std::string unavailable;
  std::string failure = failure_of([&] {
    try {
      const std::vector<Device*> devices = devices_of(planned, bench.machine);
      planned.scenario->run(planned.config, devices.size() == 1 ? bench.on(*devices.front()) : bench, result);
    } catch (const UnavailableError& error) {
      unavailable = error.what();
    } catch (const FailedCheck& failed) {  // keep the samples taken so far: they help to find the cause
      add_measurements(failed.sampled, result);
      throw;
    }
  });
  if (!failure.empty()) {
    end(result, Status::failed, std::move(failure));
  } else if (!unavailable.empty()) {
    end(result, Status::skipped, std::move(unavailable));
  } else if (bench.stopped() && !has_samples(result)) {
    end(result, Status::skipped, std::string(kNoSamples));
    result.measurements.clear();
    result.metrics.clear();
  }
  return result;
}

/// Adds a warning that a later turn of a case could not run. The samples of earlier turns are still valid.
void keep_as_it_is(Result& result, const std::string& reason) {
  const std::string warning = "not all passes were run: " + reason;
  if (!has_item(result.warnings, warning)) result.warnings.push_back(warning);
}

}  // namespace

void warn(Result& result, const SamplingPolicy& policy) {
  if (auto text = unsteady(result, policy)) result.warnings.push_back(*std::move(text));
  std::map<std::string, std::vector<std::string>> flagged;
  for (const Measurement& m : result.measurements) {
    if (m.auxiliary) continue;
    for (const std::string& flag : m.flags) flagged[flag].push_back(m.name);
  }
  for (const auto& [flag, names] : flagged) {
    const std::string_view advice = advice_on(flag);
    if (advice.empty()) continue;
    result.warnings.push_back(fmt::format("{} ({}): {}", flag, fmt::join(names, ", "), advice));
  }
}

std::optional<SkipReason> skip_reason(const PlannedCase& planned, Machine& machine, bool verify) {
  const Scenario& scenario = *planned.scenario;
  // Ask the scenario first: a case that no device can run may request any amount of memory.
  if (auto reason = scenario.skip_reason(planned.config, nullptr)) return reason;
  const Capabilities& can = machine.device().capabilities();
  const std::vector<std::size_t> places = scenario.takes_part(planned.config, can.environment);
  const MemoryNeeds needs = scenario.needs(planned.config);
  for (const std::size_t place : places) {
    if (auto reason = scenario.skip_reason(planned.config, &machine.device(place).capabilities())) return reason;
    if (auto reason = memory_skip_reason(planned.config, needs, machine.device(place))) return reason;
  }
  if (auto reason = host_memory_skip_reason(needs, places.size(), can.environment.simulated(), verify)) return reason;
  return places.empty() ? scenario.skip_reason(planned.config, &can) : std::nullopt;
}

std::vector<PlannedCase> expanded(std::span<const PlannedCase> cases, const GpusOfRun& gpus) {
  std::vector<PlannedCase> all;
  std::set<std::string> keys;
  for (const PlannedCase& planned : cases) {
    for (Case& c : planned.scenario->expand(planned.config, gpus)) {
      if (keys.insert(c.key()).second) all.push_back({planned.scenario, std::move(c), planned.policy});
    }
  }
  return all;
}

void mark_unfinished(Result& result) {
  for (Measurement& m : result.measurements) m.stop = Stop::interrupted;
}

InterleavedRuns::InterleavedRuns(std::span<const PlannedCase> cases, const RunContext& bench,
                                 const RunObserver& observer, std::size_t turns)
    : cases_(cases),
      bench_(bench),
      observer_(observer),
      turns_(turns),
      histories_(cases.size()),
      health_(cases.size()),
      results_(cases.size()) {}

std::vector<Result> InterleavedRuns::run() {
  for (std::size_t turn = 0; turn < turns_; ++turn) {
    for (std::size_t i = 0; i < cases_.size(); ++i) visit(i, turn);
  }
  std::vector<Result> all;
  for (const auto& result : results_) {
    if (!observer_.keeps) all.push_back(std::move(*result));
  }
  return all;
}

void InterleavedRuns::visit(std::size_t i, std::size_t turn) {
  if (turn > 0 && (!results_[i] || results_[i]->status != Status::ok || bench_.stopped())) return;
  if (!results_[i]) results_[i] = std::make_unique<Result>(cases_[i].config);
  std::optional<SkipReason> reason;
  const std::string failure = failure_of([&] { reason = skip_reason_now(cases_[i], bench_); });
  if (!failure.empty()) {
    turn > 0 ? keep_as_it_is(*results_[i], failure) : end(*results_[i], Status::failed, failure);
  } else if (reason) {
    turn > 0 ? keep_as_it_is(*results_[i], reason->text) : end(*results_[i], Status::skipped, reason->text);
  } else if (!measure(i, turn)) {
    return;
  }
  if (observer_.done) observer_.done(i, *results_[i]);
  if (turn + 1 == turns_ || results_[i]->status != Status::ok) release_case(i);
}

void InterleavedRuns::release_case(std::size_t i) {
  histories_[i].reset();
  health_[i] = {};
  if (observer_.keeps) results_[i].reset();
}

bool InterleavedRuns::measure(std::size_t i, std::size_t turn) {
  if (observer_.begin) observer_.begin(i, turn);
  const SamplingPolicy wanted = cases_[i].policy.value_or(bench_.policy);
  const std::vector<Device*> devices = devices_of(cases_[i], bench_.machine);
  const std::vector<Health> before = health_of(devices);
  Result result = attempt(cases_[i], bench_for(i, turn, wanted));
  if (turn > 0 && result.status == Status::skipped) return false;  // the turn was interrupted before it had samples
  if (result.status != Status::skipped) {
    const std::vector<Health> after = health_of(devices);
    // The first device comes last, because a result stores only the latest record.
    for (std::size_t d = devices.size(); d-- > 0;) health_[i].note({before[d], after[d]});
    health_[i].add_to(result);
  }
  if (turn + 1 < turns_) mark_unfinished(result);
  warn(result, wanted);
  *results_[i] = std::move(result);
  return true;
}

RunContext InterleavedRuns::bench_for(std::size_t i, std::size_t turn, const SamplingPolicy& wanted) {
  RunContext bench = bench_;
  bench.policy = share_of(wanted, turns_);
  bench.trace = bench_.trace && turn + 1 == turns_;
  if (turns_ == 1) return bench;
  if (!histories_[i]) histories_[i] = std::make_shared<SampleHistory>(wanted.ci);
  histories_[i]->begin_turn();
  bench.history = histories_[i];
  return bench;
}

std::string failure_of(const std::function<void()>& body) {
  try {
    body();
    return {};
  } catch (const std::bad_alloc&) {
    return "the host ran out of memory; choose a smaller --size";
  } catch (const std::exception& error) {
    return *error.what() != '\0' ? message_of(error) : "an error without a message";
  }
}

std::vector<Result> run_cases(std::span<const PlannedCase> cases, const RunContext& bench, const RunObserver& observer,
                              std::size_t turns) {
  return InterleavedRuns(cases, bench, observer, turns).run();
}

}  // namespace xferbench
