// storage: loads a file into GPU memory or saves it: from the disk or from the page cache, by calls and copies in turn,
// by threads or io_uring through page-locked slots, past the page cache, or from a mapping. All times include the
// host's work.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "core/units.hpp"
#include "device/file.hpp"
#include "model/bounds.hpp"
#include "run/finding_text.hpp"
#include "run/findings.hpp"
#include "run/scenario.hpp"
#include "scenarios/storage/case.hpp"
#include "scenarios/storage/parts.hpp"
#include "scenarios/storage/shares.hpp"
#include "scenarios/storage/transfer.hpp"

namespace xferbench {

namespace {

constexpr std::string_view kStorageLimit =
    "limit: the smaller of the link with page-locked memory and the fastest way found to read or write the file "
    "without the GPU, both measured beside each case, for several GPUs what the way to share must read and carry over "
    "links. read or write alone: the same way without the GPU. cold: not in this system's page cache; where it is a "
    "virtual machine, its host may still hold the file";

std::vector<MetricDeclaration> storage_metrics() {
  using namespace declaring;
  return {
      measured("storage",
               "time from the first call until the whole file is in GPU memory, of several GPUs in all of them; with "
               "--dir save until fdatasync says that it is on the device")
          .as_headline()
          .column("time", {interval}),
      derived("bandwidth", "GB/s", higher, "bytes of the file over that time, however many GPUs get them")
          .column("GB/s"),
      derived("limit", "GB/s", higher, "the smaller of link_bandwidth and the faster of both reads without the GPU")
          .column("limit GB/s"),
      derived("of_limit", "1", higher, "bandwidth over the limit").column("% of limit", percent),
      label(
          "bottleneck",
          "what takes the time: disk, page cache, link, the way's reads, or what keeps them from taking place at once")
          .column("bottleneck"),
      derived("read_bandwidth", "GB/s", higher, "the same way without the GPU, sampled interleaved")
          .column("read alone"),
      derived("write_bandwidth", "GB/s", higher, "the same way without the GPU, until fdatasync, sampled interleaved")
          .column("write alone"),
      derived("fastest_write", "GB/s", higher, "the threads that write the fastest without the GPU"),
      derived("fastest_read", "GB/s", higher,
              "the threads that read the fastest without the GPU, sampled interleaved; --sharing each: divided by the "
              "number of GPUs, as the file is read for each, unless one brings it into the page cache for all"),
      derived(
          "link_bandwidth", "GB/s", higher,
          "copies of as many bytes from page-locked memory; several GPUs: what each gets over its own link, at once"),
      derived("cpu_per_gb", "s", lower, "CPU time of all threads for each 10^9 bytes").column("CPU s/GB"),
      derived_time("first_bytes", "time until the first bytes are in GPU memory").column("first on GPU"),
      derived_time("written_after", "--dir save: time until the last write has returned").column("written after"),
      derived("from_device", "1", Better::neither, "bytes that the system read from the device, over the file's size")
          .column("from disk", percent),
      derived("device_request", "KiB", Better::neither,
              "mean size of the requests to the block device during a pass, of all programs")
          .column("disk request KiB"),
      derived("parts", "1", Better::neither, "header and tensors, each loaded to a place of its own"),
      label("file_place", "file system and device of the file"),
      label("cufile_path", "way cufile: which path the data took, as cuFile counts it").column("path of cuFile"),
      measured(kReadAlone, "time of the same way without the GPU"),
      measured("read-alone-threads", "tune: time in which one thread reads the file"),
      measured("read-alone-direct", "tune: the same past the page cache"),
      measured("read-alone-mmap-threads", "tune: the same from a mapping"),
      measured(kWriteAlone, "time of the same way without the GPU, until fdatasync"),
      measured(kFastestWrite, "time of the threads that write the fastest without the GPU"),
      measured(kFastestRead, "time of the threads that read the fastest without the GPU"),
      measured(kLinkOnly, "time of copies of as many bytes from page-locked memory"),
      measured("cpu", "CPU time of all threads in a pass"),
      measured("reading", "time that threads spend in reads, summed over the threads"),
      measured("writing", "time that threads spend in writes, summed over the threads"),
      measured("written", "--dir save: time until the last write has returned"),
      measured("link-wait", "time that threads wait for copies, summed over the threads"),
      measured("first-part", "time until the first bytes are in GPU memory"),
      measured("device-request", "mean size of the requests to the block device in a pass").in("B", Better::neither),
      measured("device-bytes", "bytes that the system read from the device in a pass").in("B", Better::neither),
  };
}

std::string describe_place(const FilePlace& place) {
  std::string text = place.file_system.empty() ? "unknown file system" : place.file_system;
  if (!place.device.empty()) text += " on " + place.device;
  if (!place.scheduler.empty()) text += ", scheduler " + place.scheduler;
  if (place.readahead > 0) text += ", reads " + format_size(place.readahead) + " ahead";
  if (place.virtual_machine) text += ", in a virtual machine";
  if (place.largest_request > 0) text += ", requests of at most " + format_size(place.largest_request);
  return text;
}

/// Returns warnings if the page cache was not in the state that the case requires.
std::vector<std::string> doubts_of(const StorageCase& c, const StorageTransfer& transfer, const Result& result) {
  constexpr double kLittle = 0.01;
  const Metric* const read = result.metric("from_device");
  const bool cold = c.cache == CacheState::cold;
  const bool network = transfer.place().network;
  std::vector<std::string> doubts;
  if (cold && transfer.missed_state() > kLittle) {
    doubts.push_back(
        fmt::format("partly cached: {} of the file stayed in the page cache before a pass; another process "
                    "may map it",
                    format_percent(transfer.missed_state())));
  }
  if (cold && !network && read != nullptr && read->value < 1 - kLittle) {
    doubts.push_back(
        fmt::format("only {} of the file came from the device: it was not cold", format_percent(read->value)));
  }
  if (cold && network) doubts.emplace_back("cold on this host; the server may hold the file in its cache");
  if (!cold && (transfer.missed_state() > kLittle || (read != nullptr && read->value > kLittle))) {
    doubts.push_back(
        fmt::format("not all of the file was in the page cache ({} missing before a pass): it is larger than "
                    "the memory that the system or this control group leaves for it",
                    format_percent(transfer.missed_state())));
  }
  return doubts;
}

class Storage final : public ScenarioOf<storage_case, storage_space> {
 public:
  Storage()
      : ScenarioOf(
            {.name = "storage",
             .summary = "files into GPU memory and back: calls in turn, page-locked slots, direct reads, mappings",
             .axes = storage_axes(),
             .metrics = storage_metrics(),
             .charts = {{.x = "threads", .y = "bandwidth", .panels = {"cache"}, .lines = {"way"}, .limit = "limit"},
                        {.x = "request", .y = "bandwidth", .panels = {"cache"}, .lines = {"way"}, .limit = "limit"},
                        {.x = "depth", .y = "bandwidth", .panels = {"cache"}, .lines = {"request"}, .limit = "limit"}},
             .answer = {.best = "bandwidth",
                        .text =
                            "{bandwidth}, {of_limit} of the limit; {factor} times as fast as way read, with file and "
                            "link in turn; last write after {written_after}; bottleneck: {bottleneck}",
                        .slow_axis = "way",
                        .slow_value = "read",
                        .each = {"path", "dir", "cache", "sharing"},
                        .ranks_ways = true},
             .work_axes = {"path", "dir", "size", "cache", "gpus"},
             .gpus = UsesGpus::one_or_several,
             .tune_budget = 20,
             .note = ScenarioDescriptor::Note{"of_limit", kStorageLimit}}) {}

  [[nodiscard]] std::optional<SkipReason> reason_to_skip(const StorageCase& c, const Capabilities* can) const override {
    return reason_against(c, can);
  }
  [[nodiscard]] std::vector<Case> expand(const Case& c, const GpusOfRun& gpus) const override {
    const StorageCase parsed = storage_case(c);
    const bool simulated = gpus.environment.simulated();  // a simulated machine does not use the real file
    require_path(parsed, simulated);
    static_cast<void>(part_sizes(parsed));  // refuses a file without tensors before anything is measured
    std::vector<Case> cases = cases_for_gpus(c, gpus);
    for (Case& each : cases) each = completed(each);
    return cases;
  }
  [[nodiscard]] std::optional<SkipReason> reason_against_tuning(const Case& c) const override {
    return reason_against_search(storage_case(c));
  }
  [[nodiscard]] std::vector<std::size_t> takes_part(const Case& c, const Environment& environment) const override {
    const std::vector<int> gpus = storage_case(c).gpus;
    return gpus.empty() ? std::vector<std::size_t>{0} : places_of(gpus, environment);
  }
  [[nodiscard]] MemoryNeeds memory_needs(const StorageCase& c) const override { return StorageTransfer::needs(c); }

  void measure(const StorageCase& c, const RunContext& bench, Result& result) const override {
    const FilePlace place = bench.machine.host().files().place_of(c.path);
    if (c.cache == CacheState::cold && place.in_memory) {
      throw UnavailableError(place.file_system + " has no disk behind it: cold means nothing here; use --cache warm");
    }
    StorageTransfer transfer(c, bench);
    result.labels.emplace_back("file_place", describe_place(place));
    std::vector<Region> regions{transfer.whole_way(), transfer.fastest_file(), transfer.link_only()};
    if (c.has_read_alone()) regions.push_back(transfer.file_alone());
    if (bench.verify) transfer.verify();
    const std::vector<Series> series = bench.sample(regions, policy_for(c, bench.policy));
    add_measurements(series, result);
    if (all_sampled(series)) derive(c, series.front(), result);
    if (c.layout != FileLayout::whole) result.add("parts", static_cast<double>(transfer.parts()), "1");
    std::ranges::move(doubts_of(c, transfer, result), std::back_inserter(result.warnings));
    if (c.way == StorageWay::cufile) tell_path(transfer.cufile_paths(), result);
    if (bench.verifies_again()) transfer.verify();
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override;

 private:
  /// A pass from the disk takes long and varies little by the GPU, so six samples are enough for an interval.
  static SamplingPolicy policy_for(const StorageCase& c, SamplingPolicy policy) {
    constexpr std::size_t kColdSamples = 6;
    if (c.cache == CacheState::cold) policy.min_samples = std::min(policy.min_samples, kColdSamples);
    return policy;
  }

  static void derive(const StorageCase& c, const Series& load, Result& result) {
    const double time = result.median("storage");
    const double link = result.median(kLinkOnly);
    const double fastest =
        static_cast<double>(reads_of_file(c)) * result.median(c.saves ? kFastestWrite : kFastestRead);
    const double own = c.has_read_alone() ? result.median(c.saves ? kWriteAlone : kReadAlone) : std::min(time, fastest);
    const double source = std::min(own, fastest);
    const double limit = std::max(source, link);
    const auto rate = [&](const char* name, double seconds) {
      result.add(name, gigabytes_per_second(c.size, seconds), "GB/s");
    };
    rate("bandwidth", time);
    rate("limit", limit);
    result.add("of_limit", model::share_of_limit(limit, time), "1");
    if (c.has_read_alone()) rate(c.saves ? "write_bandwidth" : "read_bandwidth", own);
    rate(c.saves ? "fastest_write" : "fastest_read", fastest);
    rate("link_bandwidth", link);
    result.add("cpu_per_gb", load.part("cpu").median / (1e-9 * static_cast<double>(c.size)), "s");
    const double first = load.part(c.saves ? "written" : "first-part").median;
    result.add(c.saves ? "written_after" : "first_bytes", first, "s");
    for (const Measurement& part : load.parts) {
      if (part.samples.empty()) continue;
      if (part.name == "device-bytes") result.add("from_device", part.median / static_cast<double>(c.size), "1");
      if (part.name == "device-request" && part.median > 0) {
        result.add("device_request", part.median / static_cast<double>(KiB), "KiB");
      }
    }
    result.labels.emplace_back("bottleneck", bottleneck(c, {time, own, source, link, first}));
  }

  static void tell_path(const std::optional<CufilePaths>& paths, Result& result) {
    result.labels.emplace_back("cufile_path", cufile_path_text(paths));
    if (std::string doubt = cufile_path_doubt(paths); !doubt.empty()) result.warnings.push_back(std::move(doubt));
  }

  /// Seconds for the whole file: of a pass, of the way's own reads or writes, of the fastest reads or writes, and of
  /// the link. `first`: until the first part has arrived or the last part is written.
  struct Times {
    double pass, own, source, link, first;
  };

  static std::string bottleneck(const StorageCase& c, const Times& t) {
    constexpr double kClose = 1.15;
    const bool cold = c.cache == CacheState::cold;
    if (t.pass <= kClose * std::max(t.source, t.link)) return t.source < t.link ? "link" : cold ? "disk" : "page cache";
    if (c.has_read_alone() && t.pass <= kClose * t.own) return c.saves ? "its writes" : "its reads";
    switch (c.way) {
      case StorageWay::read: return cold ? "disk and copies in turn" : "reads and copies in turn";
      case StorageWay::mmap: return cold ? "disk, then pageable copies" : "pageable copies";
      case StorageWay::cufile: return "cuFile's reads";
      case StorageWay::mmap_register: return cold ? "disk, then page-locking" : "page-locking before the copy";
      default:
        if (!c.saves && t.pass <= kClose * (std::max(t.own, t.link) + t.first)) return "first and last part";
        return c.share == FileShare::broadcast ? "waits for slots or other GPUs" : "waits for slots";
    }
  }
};

/// "save", or the state of the page cache.
std::string state_of(const StorageCase& c) {
  return std::string(c.saves ? "save" : kCacheStates[static_cast<std::size_t>(c.cache)]);
}

std::optional<double> fastest_time(const std::vector<const Result*>& those, StorageWay way, FileLayout layout) {
  std::optional<double> least;
  for (const Result* r : those) {
    const StorageCase c = storage_case(r->config);
    if (c.way != way || c.layout != layout) continue;
    least = std::min(least.value_or(std::numeric_limits<double>::infinity()), r->median("storage"));
  }
  return least;
}

/// Returns a finding with the ratio of each way's times: tensors one by one over the whole file.
std::optional<Finding> tensors_finding(const std::vector<const Result*>& those) {
  std::vector<std::string> ways;
  const double parts =
      most_of(those, [](const Result* r) { return r->metric("parts") == nullptr ? 0 : r->value("parts"); });
  for (std::size_t i = 0; i < kStorageWays.size(); ++i) {
    const auto way = static_cast<StorageWay>(i);
    const std::optional<double> whole = fastest_time(those, way, FileLayout::whole);
    const std::optional<double> tensors = fastest_time(those, way, FileLayout::tensors);
    if (!whole || !tensors) continue;
    ways.push_back(fmt::format("{} {}", kStorageWays[i], factor_text(*tensors / *whole)));
    if (*tensors > *whole) ways.back() += fmt::format(" ({} a tensor)", format_seconds((*tensors - *whole) / parts));
  }
  if (ways.empty()) return std::nullopt;
  return Finding{
      .kind = "tensors",
      .labels = {{"cache", state_of(storage_case(those.front()->config))}},
      .text = fmt::format("{}: {:.0f} tensors one by one, each with reads and copies of its own: time over that "
                          "of the whole file (and more for each tensor): {}",
                          state_of(storage_case(those.front()->config)), parts, fmt::join(ways, ", "))};
}

/// Names the fastest way for each file and state of the page cache.
std::vector<Finding> Storage::conclude(std::span<const Result* const> results) const {
  const std::vector<const Result*> measured = with_metric(results, "of_limit");
  for (const Result* r : measured) r->needed_measurement("storage");
  const std::vector<std::string_view>& work = descriptor().work_axes;
  const auto is_work = [&work](std::string_view axis) { return has_item(work, axis); };
  std::vector<Finding> findings;
  for (const auto& those : grouped(measured, [&](const Result& r) { return key_of(r.config, is_work); })) {
    if (those.size() < 2) continue;
    std::vector<std::string> axes = varying_axes(those);
    const ComparedResults compared = compared_results(those, axes);
    const model::Leaders front = leaders_of(those, "storage");
    const Result& best = *those[front.places.front()];
    const StorageCase c = storage_case(best.config);
    const std::string what = state_of(c);
    std::string text =
        fmt::format("{}: {}: {} GB/s, {} of the limit", what, ranking_text(front, compared.names, "is the fastest"),
                    format_significant(best.value("bandwidth")), format_percent(best.value("of_limit")));
    findings.push_back({.kind = "winner",
                        .labels = {{"path", c.path},
                                   {"cache", what},
                                   {"fastest", leaders_text(front, compared.names)},
                                   {"outcome", outcome_label(front)}},
                        .metrics = {best.needed_metric("bandwidth"), best.needed_metric("of_limit")},
                        .text = std::move(text)});
    if (auto tensors = tensors_finding(those)) findings.push_back(*std::move(tensors));
    if (auto shares = shares_finding(those)) findings.push_back(*std::move(shares));
  }
  return findings;
}

}  // namespace

const Scenario& storage_scenario() { return the_only<Storage>(); }

}  // namespace xferbench
