// async: whether an asynchronous copy call returns early, and how much the CPU can do during the copy. The copy is
// issued on an idle GPU, or with a kernel in flight in the same or another stream.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tuple>
#include <utility>

#include "core/units.hpp"
#include "kernels/delay.hpp"
#include "run/finding_text.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/transfer.hpp"

namespace xferbench {

namespace {

struct AsyncCase {
  std::string dir;
  std::string host;
  std::string api;
  TransferSpec transfer;                 ///< the parser does not set `seed`; the run sets it to RunContext::seed
  std::optional<double> kernel_seconds;  ///< duration in seconds of the kernel in flight; nothing: no kernel
  bool in_own_stream = false;            ///< the kernel is in the same stream as the copy
};

AsyncCase async_case(const Case& c) {
  AsyncCase a{.dir = c.word("dir"), .host = c.word("host"), .api = c.word("api"), .transfer = {}, .kernel_seconds = {}};
  a.transfer = {.direction = c.one_of<Direction>("dir", kDirections),
                .memory = host_memory(a.host),
                .api = c.one_of<CopyApi>("api", kCopyApis),
                .bytes = c.count("size")};
  if (c.has("kernel-time")) a.kernel_seconds = c.real("kernel-time") * 1e-6;
  a.in_own_stream = c.is("in-flight", "same-stream");
  return a;
}

/// CPU work that does not disturb the copy: a chain of dependent steps in registers. The chain uses no memory
/// bandwidth, so it runs as fast during a copy as alone.
class CpuWork {
 public:
  explicit CpuWork(Device& device) : device_(device) {}

  void run(std::uint64_t iterations) {
    const HostCost cost{.seconds = static_cast<double>(iterations) * kSimulatedIteration};
    device_.host().work(cost, [this, iterations] {
      std::uint64_t x = state_;
      for (std::uint64_t i = 0; i < iterations; ++i) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
      }
      state_ = x;
    });
  }

  /// Returns the shortest of ten measurements. Measures with Device::host(), which also works on a simulated host.
  double seconds_per_iteration() {
    constexpr std::uint64_t kIterations = 20'000;
    double least = 1;
    for (int i = 0; i < 10; ++i) {
      const double begun = device_.host().now();
      run(kIterations);
      least = std::min(least, device_.host().now() - begun);
    }
    return std::max(least, 1e-9) / static_cast<double>(kIterations);
  }

 private:
  static constexpr double kSimulatedIteration = 2e-9;  // seconds per iteration on a simulated host

  Device& device_;
  volatile std::uint64_t state_ = 1;  // volatile, because otherwise the compiler removes the work
};

/// The copy of one case, the kernel that is in flight when the copy is issued, and the CPU work during the copy.
class CopyInFlight {
 public:
  CopyInFlight(const AsyncCase& c, const RunContext& bench)
      : device_(bench.device),
        stream_(device_.make_stream(c.transfer.api == CopyApi::sync ? StreamKind::legacy_default
                                                                    : StreamKind::nonblocking)),
        other_stream_(device_.make_stream(StreamKind::nonblocking)),
        copied_(device_.make_event(EventKind::ordering)),
        work_(device_),
        in_own_stream_(c.in_own_stream) {
    TransferSpec spec = c.transfer;
    spec.seed = bench.seed;
    transfer_ = make_transfer(device_, spec);
    if (c.kernel_seconds) device_.preload(kernel_.emplace(*c.kernel_seconds));
  }

  void prepare() { transfer_->prepare(); }
  [[nodiscard]] std::span<const std::unique_ptr<Transfer>> transfers() const { return {&transfer_, 1}; }

  /// Times the copy without CPU work: the duration of the call, and of the wait for the copy after the call.
  Region completion() {
    return with_kernel_in_flight("completion", {{.name = "submit"}, {.name = "wait"}}, [this](LapTimer& laps) {
      transfer_->submit(stream_);
      laps.lap(0);
      stream_.synchronize();
      laps.lap(1);
    });
  }

  /// Like completion(), with CPU work from the return of the call until the copy has ended. The host polls an event
  /// after each unit of work, as a real application would. A unit counts only if the copy is still running when the
  /// unit ends. So the last unit, which overlaps the end of the copy, does not count, and none counts if the call
  /// blocks.
  Region beside_work() {
    return with_kernel_in_flight("beside-work", {{.name = "units", .unit = "units"}}, [this](LapTimer& laps) {
      transfer_->submit(stream_);
      stream_.record(copied_);
      double units = 0;
      bool under_way = !copied_.finished();
      while (under_way) {
        work_.run(unit_);
        under_way = !copied_.finished();
        if (under_way) ++units;
      }
      laps.add(0, units);
    });
  }

  /// Times one unit of CPU work alone, as the reference for beside_work(). Moves no data, so there is nothing to check.
  Region unit_alone() {
    return {.name = "unit", .clock = Clock::host, .submit = [this] { work_.run(unit_); }};
  }

  /// Chooses the number of iterations per unit. A unit takes about 2 % of the copy's time, so that the discarded last
  /// unit loses little. It takes at least 1 us, so that polling the event is short in comparison.
  void choose_unit(const RunContext& bench) {
    constexpr double kShare = 0.02;
    constexpr double kShortest = 1e-6;
    SamplingPolicy look = bench.policy;
    look.min_samples = look.max_samples = 3;
    look.budget /= 20;
    const Series s = sample(device_.machine(), {completion()}, look, bench.observe).front();
    if (s.elapsed.samples.empty()) return;  // run was interrupted
    const double seconds = std::max(kShare * s.elapsed.min, kShortest);
    unit_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(seconds / work_.seconds_per_iteration()));
  }
  [[nodiscard]] std::uint64_t iterations_per_unit() const { return unit_; }

 private:
  Region with_kernel_in_flight(const char* name, std::vector<Region::Part> parts,
                               std::function<void(LapTimer&)> steps) {
    return {.name = name,
            .clock = Clock::host,
            .reset = [this] { submit_copies(); },
            .check = [this] { transfer_->check(); },
            .parts = std::move(parts),
            .steps = std::move(steps)};
  }

  /// Launches the kernel in flight, right before the clock starts. First synchronizes, because a kernel in another
  /// stream can outlast the copy, and kernels of several passes would pile up. The launch call returns at about the
  /// time at which the kernel starts, so the copy is issued while nearly all of the kernel is still to run.
  void submit_copies() {
    device_.synchronize();
    if (kernel_) (in_own_stream_ ? stream_ : other_stream_).launch(*kernel_);
  }

  Device& device_;
  std::unique_ptr<Transfer> transfer_;
  Stream stream_;  // cudaMemcpy always uses the legacy default stream
  Stream other_stream_;
  Event copied_;
  CpuWork work_;
  bool in_own_stream_;
  std::optional<kernels::Delay> kernel_;
  std::uint64_t unit_ = 1;
};

/// One way to issue a copy. `blocked` maps each size to the call's duration divided by the time until completion.
struct Way {
  std::string dir;
  std::string host;
  std::string api;
  std::map<std::uint64_t, double> blocked{};
  std::vector<std::uint64_t> unclear{};  ///< sizes for which it is unclear whether the call blocks
  bool with_kernel = false;              ///< some copies were issued while a kernel was in flight
};

/// Removes sizes for which it is unclear whether the call blocks: for a copy of microseconds the call is a large
/// fraction of the completion time even if it does not block. Such a size is kept only if a larger copy surely returned
/// early.
void drop_unclear(Way& way) {
  constexpr double kSurelyEarly = 0.2;
  constexpr double kSurelyBlocked = 0.8;
  std::uint64_t early_up_to = 0;
  for (const auto& [size, blocked] : way.blocked) {
    if (blocked <= kSurelyEarly) early_up_to = size;
  }
  std::erase_if(way.blocked, [&](const auto& entry) {
    const auto& [size, blocked] = entry;
    const bool is_unclear = size > early_up_to && blocked > kSurelyEarly && blocked < kSurelyBlocked;
    if (is_unclear) way.unclear.push_back(size);
    return is_unclear;
  });
}

/// Returns the ways to copy, in the order of the results. If several results have the same way and size, they differ in
/// the kernel in flight, and the smallest of their blocked fractions is used. If the call returns early, a kernel ahead
/// of the copy makes the fraction small; if the call blocks, the fraction stays near 1.
std::vector<Way> ways_of(std::span<const Result* const> results) {
  std::vector<Way> ways;
  for (const Result* r : results) {
    const Metric* blocked = r->metric("host_blocked");
    if (blocked == nullptr) continue;
    const AsyncCase c = async_case(r->config);
    const auto same = [&c](const Way& w) { return std::tie(w.dir, w.host, w.api) == std::tie(c.dir, c.host, c.api); };
    auto way = std::ranges::find_if(ways, same);
    if (way == ways.end()) way = ways.insert(ways.end(), {.dir = c.dir, .host = c.host, .api = c.api});
    way->with_kernel = way->with_kernel || c.kernel_seconds;
    const auto [size, is_new] = way->blocked.try_emplace(c.transfer.bytes, blocked->value);
    if (!is_new) size->second = std::min(size->second, blocked->value);
  }
  for (Way& way : ways) {
    if (!way.with_kernel) drop_unclear(way);
  }
  return ways;
}

std::string sizes_text(const Way& way) {
  const std::uint64_t smallest = way.blocked.begin()->first;
  const std::uint64_t largest = way.blocked.rbegin()->first;
  if (smallest == largest) return fmt::format("at {}", format_size(smallest));
  if (!way.unclear.empty()) return fmt::format("from {} to {}", format_size(smallest), format_size(largest));
  return fmt::format("at every size measured ({} to {})", format_size(smallest), format_size(largest));
}

/// A call returned early if it took less than this fraction of the time until the operation had completed.
constexpr double kEarly = 0.5;

/// The sizes between which the call changes from returning early to blocking. A call that does not block for a large
/// copy does not block for a small one either, even if it takes more than half of the small copy's completion time. So
/// `early_up_to` is the largest size that returned early (nothing if none did), and `blocks_from` is the next larger
/// size (nothing if all returned early).
struct Limits {
  std::optional<std::uint64_t> early_up_to;
  std::optional<std::uint64_t> blocks_from;
};

Limits limits_of(const Way& way) {
  Limits limits;
  for (const auto& [size, blocked] : way.blocked) {
    if (blocked < kEarly) limits.early_up_to = size;
  }
  const auto next = limits.early_up_to ? way.blocked.upper_bound(*limits.early_up_to) : way.blocked.begin();
  if (next != way.blocked.end()) limits.blocks_from = next->first;
  return limits;
}

/// Returns a text that lists the sizes with unclear results, for example "; unclear at 64 KiB".
std::string unclear_text(const Way& way) {
  if (way.unclear.empty()) return {};
  return fmt::format("; unclear at {}",
                     listed(list_of(way.unclear, [](std::uint64_t size) { return format_size(size); })));
}

/// Returns for example "returns early up to 64 KiB and blocks the host from 128 KiB on".
std::string behaviour(const Way& way) {
  if (way.blocked.empty()) return "may or may not return early; to find out, add --in-flight same-stream";
  const Limits limits = limits_of(way);
  if (!limits.blocks_from) return "returns early " + sizes_text(way);
  if (!limits.early_up_to) return "blocks the host " + sizes_text(way);
  return fmt::format("returns early up to {} and blocks the host from {} on", format_size(*limits.early_up_to),
                     format_size(*limits.blocks_from));
}

const char* call_of(const Way& way) { return way.api == "sync" ? "cudaMemcpy" : "cudaMemcpyAsync"; }

Finding finding_of(const Way& way) {
  Finding finding{.kind = "blocking", .labels = {{"dir", way.dir}, {"host", way.host}, {"api", way.api}}};
  finding.text = fmt::format("{} {} {} memory: {} {}", way.dir, way.dir == "h2d" ? "from" : "to", way.host,
                             call_of(way), behaviour(way) + (way.blocked.empty() ? "" : unclear_text(way)));
  const Limits limits = limits_of(way);
  if (limits.early_up_to) finding.metrics.push_back({"early_up_to", static_cast<double>(*limits.early_up_to), "B"});
  if (limits.blocks_from) finding.metrics.push_back({"blocks_from", static_cast<double>(*limits.blocks_from), "B"});
  return finding;
}

/// Returns for example "cudaMemcpyAsync h2d from pinned and mapped, d2h to pinned; cudaMemcpy ...".
std::string calls_text(std::span<const Way* const> ways) {
  std::vector<std::string> calls;
  for (const char* api : {"async", "sync"}) {
    std::vector<std::string> parts;
    for (const char* dir : {"h2d", "d2h"}) {
      const auto those = those_of(ways, [&](const Way* way) { return way->api == api && way->dir == dir; });
      const char* towards = std::string_view(dir) == "h2d" ? "from" : "to";
      if (!those.empty()) parts.push_back(fmt::format("{} {} {}", dir, towards, listed(list_of(those, &Way::host))));
    }
    if (parts.empty()) continue;
    calls.push_back(fmt::format("{} {}", std::string_view(api) == "sync" ? "cudaMemcpy" : "cudaMemcpyAsync",
                                fmt::join(parts, ", ")));
  }
  return fmt::format("{}", fmt::join(calls, "; "));
}

/// Groups the ways to issue a copy by their behaviour, and returns one summary finding for each group. Returns none for
/// at most four ways, or if no two ways behave alike.
std::vector<Finding> summary_finding(const std::vector<Way>& ways) {
  constexpr std::size_t kFew = 4;
  const auto alike = by_name(pointers_to(ways), [](const Way* way) { return behaviour(*way); });
  if (ways.size() <= kFew || alike.size() == ways.size()) return {};
  std::vector<Finding> findings;
  for (const auto& [what, those] : alike) {
    const std::string calls = calls_text(those);
    findings.push_back({.kind = "classes", .labels = {{"calls", calls}}, .text = fmt::format("{}: {}", calls, what)});
  }
  return findings;
}

class Async final : public ScenarioOf<async_case> {
 public:
  Async()
      : ScenarioOf(
            {.name = "async",
             .summary = "whether a copy call returns early, and how much CPU time is free while the copy runs",
             .axes = make_axes(),
             .metrics = make_metrics(),
             .charts =
                 {{.x = "size", .y = "completion", .panels = {"dir", "host"}, .lines = {"api"}, .also = {"submit"}}},
             .answer = {.best = "completion",
                        .text = "complete after {completion}; {host_blocked} of that in the call; {cpu_available} free "
                                "for CPU work",
                        .findings = {"classes"},
                        .each = {"dir", "host", "api"}}}) {}

  [[nodiscard]] MemoryNeeds memory_needs(const AsyncCase& c) const override {
    return {.host = c.transfer.bytes, .device = c.transfer.bytes};
  }

  void measure(const AsyncCase& c, const RunContext& bench, Result& result) const override {
    CopyInFlight copy(c, bench);
    if (bench.needs_data()) copy.prepare();
    const Region completion = copy.completion();
    if (bench.verify) verify(copy.transfers(), bench.machine, completion, run_once);
    copy.choose_unit(bench);
    report(bench.sample(std::array{completion, copy.beside_work(), copy.unit_alone()}, bench.policy),
           copy.iterations_per_unit(), result);
    if (bench.verifies_again()) verify(copy.transfers(), bench.machine, completion, run_at_full_speed);
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override {
    const std::vector<Way> ways = ways_of(results);
    std::vector<Finding> findings = summary_finding(ways);
    const bool in_short = !findings.empty();
    for (const Way& way : ways) {
      findings.push_back(finding_of(way));
      findings.back().detail = in_short;
    }
    return findings;
  }

 private:
  static std::vector<Axis> make_axes() {
    std::vector<std::string> copied = words(kHostMemoryNames);
    std::erase(copied, to_text(HostMemory::managed));
    return {
        choice_axis("dir", {"h2d", "d2h"}, {.defaults = "h2d,d2h", .help = "direction of the copy"}),
        choice_axis("host", copied, {.defaults = "pinned,pageable", .help = "kind of host memory"}),
        choice_axis("api", {"async", "sync"},
                    {.defaults = "async,sync", .help = "API call: cudaMemcpyAsync or cudaMemcpy"}),
        choice_axis("in-flight", {"none", "same-stream", "other-stream"},
                    {.defaults = "none,same-stream",
                     .help = "whether a kernel runs when the copy is submitted, and in which stream"}),
        only_with("in-flight", {"same-stream", "other-stream"},
                  {.name = "kernel-time",
                   .kind = AxisKind::time,
                   .defaults = "500us",
                   .help = "run time of that kernel; a number without a unit is in microseconds",
                   .max = 1e5,
                   .unit = 1e-6}),
        size_axis("size", {.defaults = "4K,32K,64K,128K,1M,256M", .help = "bytes to copy"}),
    };
  }

  static std::vector<MetricDeclaration> make_metrics() {
    using namespace declaring;
    return {
        measured("completion", "host time from the copy call until the host knows that the data has arrived")
            .as_headline()
            .column("completion", {interval}),
        measured("submit", "host time in the copy call, part of the completion"),
        measured("wait", "host time in the wait after the call, part of the completion"),
        measured("beside-work", "completion of the same copy while the CPU works in short units"),
        measured("units", "units of CPU work finished before the copy ended").in("units", higher),
        measured("unit", "time of one unit of CPU work without a copy"),
        derived_time("completion", "median time to completion"),
        derived_time("submit", "host time in the copy call, part of the completion").column("submit"),
        derived_time("wait", "host time in the wait after the call, part of the completion").column("wait"),
        derived("host_blocked", "1", lower,
                "submit time over completion; near 100 %, the call is in effect synchronous")
            .column("% in call", percent),
        derived("cpu_available", "1", higher, "share of the completion time that is free for other CPU work")
            .column("CPU free", percent),
        derived("cpu_work", "iterations", higher, "iterations of a fixed CPU loop that fit into that time")
            .column("CPU work"),
    };
  }

  static void report(const std::array<Series, 3>& series, std::uint64_t iterations, Result& result) {
    const auto& [copy, beside, unit] = series;
    result.measurements = {copy.elapsed,   copy.part("submit"),  copy.part("wait"),
                           beside.elapsed, beside.part("units"), unit.elapsed};
    // No warnings about noise in the last three measurements: counting in whole units of work makes them coarse.
    for (std::size_t i = 3; i < result.measurements.size(); ++i) result.measurements[i].auxiliary = true;
    if (!all_sampled(series)) return;
    const double completion = copy.elapsed.median;
    const double units = beside.part("units").median;
    result.add("completion", completion, "s");
    result.add("submit", copy.part("submit").median, "s");
    result.add("wait", copy.part("wait").median, "s");
    result.add("host_blocked", copy.part("submit").median / completion, "1");
    result.add("cpu_work", units * static_cast<double>(iterations), "iterations");
    result.add("cpu_available", units * unit.elapsed.median / completion, "1");
  }
};

}  // namespace

const Scenario& async_scenario() { return the_only<Async>(); }

}  // namespace xferbench
