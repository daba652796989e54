#include "results/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <tuple>

#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/standard_error.hpp"
#include "results/journal.hpp"
#include "results/json_codec.hpp"
#include "results/stored_file.hpp"

namespace xferbench {

namespace {

using namespace json;

constexpr std::string_view kVersion1 = "xferbench/1";
constexpr std::size_t kMostResults = 1'000'000;  // limit against damaged files; all scenarios together plan fewer

using enum Rule;

// --- The tool and the machine ---------------------------------------------------------------------------------------

constexpr std::array kBuildFields{
    field<&Tool::compiler>("compiler", "Name and version of the C++ compiler."),
    field<&Tool::cuda>("cuda", omit_empty, "Version of the CUDA Toolkit; absent in a build without CUDA."),
    field<&Tool::type>("type", omit_empty, "CMake's build type: Release, Debug, ..."),
};
constexpr Codec kBuild = record(kBuildFields);

constexpr std::array kToolFields{
    field<&Tool::version>("version", "Its version: 0.1.0."),
    field<&Tool::git>("git", omit_empty, "Commit of the build; absent outside a git checkout."),
    part("build", kBuild),
};
constexpr Codec kTool = record(kToolFields, "The program that measured.");

using Pcie = Environment::Pcie;
constexpr std::array kPcieFields{
    field<&Pcie::generation>("generation"),
    field<&Pcie::width>("width", "Number of lanes."),
    field<&Pcie::source>("source", "Source of these numbers: nvml, sysfs or profile."),
    field<&Pcie::max_generation>("max_generation", omit_empty, "Highest generation that the GPU supports."),
    field<&Pcie::max_width>("max_width", omit_empty, "Largest number of lanes that the GPU supports."),
    field<&Pcie::under_load>(
        "under_load", optional,
        "True: generation and width were read during copies. False: they are the maximum that both ends support."),
    field<&Pcie::max_payload>(
        "max_payload", omit_empty,
        "Largest payload of a packet, in bytes. Absent if it could not be read: limits then assume 256."),
    field<&Pcie::max_read_request>(
        "max_read_request", omit_empty,
        "Largest read request of the GPU, in bytes. Absent if it could not be read: limits then assume 256."),
};
constexpr Codec kPcie = record(kPcieFields, "PCI Express link between GPU and host.");

using Gpu = Environment::Gpu;
constexpr Codec kArchitecture = like(kWord, R"(^[0-9]+\.[0-9]+$)");
constexpr std::array kGpuFields{
    field<&Gpu::name>("name"),
    field<&Gpu::index>("index", omit_empty, "Number of the GPU in CUDA's order."),
    field<&Gpu::uuid>("uuid", omit_empty, "Unique identifier of the GPU."),
    field<&Gpu::pci_bus_id>("pci_bus_id", omit_empty, "PCI address: domain:bus:device.function."),
    field<&Gpu::compute_capability, kArchitecture>("compute_capability", omit_empty,
                                                   "Compute capability, such as 9.0."),
    field<&Gpu::multiprocessors>("multiprocessors", omit_empty, "Number of streaming multiprocessors."),
    field<&Gpu::memory_bytes>("memory_bytes", omit_empty),
    field<&Gpu::l2_bytes>("l2_bytes", omit_empty, "Size of the L2 cache, in bytes."),
    field<&Gpu::copy_engines>("copy_engines", omit_empty, "Number of copy engines."),
    field<&Gpu::max_sm_clock_hz>("max_sm_clock_hz", omit_empty, "Highest clock rate of the multiprocessors, in Hz."),
    field<&Gpu::memory_bandwidth>(
        "memory_bandwidth", omit_empty,
        "Theoretical memory bandwidth from clock rate and bus width: bytes read plus written per second."),
    field<&Gpu::ecc>("ecc", omit_empty, "Whether memory error correction (ECC) is on."),
    field<&Gpu::pcie, kPcie>("pcie", omit_empty),
    field<&Gpu::numa_node>("numa_node", omit_empty, "NUMA node that the GPU is attached to."),
    field<&Gpu::bridges>("bridges", omit_empty, "PCI bridges from the GPU to the CPU, the nearest first."),
    field<&Gpu::nvlinks>("nvlinks", omit_empty, "Number of active NVLinks."),
    field<&Gpu::nvlink_bandwidth>("nvlink_bandwidth", omit_empty,
                                  "Bytes per second of all NVLinks together, in each direction."),
    field<&Gpu::mig>("mig", omit_empty,
                     "The device is a MIG instance: it shares links and memory with other instances."),
    field<&Gpu::confidential>("confidential", omit_empty,
                              "Confidential computing is on: driver and GPU encrypt what crosses the link."),
};
constexpr Codec kGpu = named("gpu", record(kGpuFields, "The GPU, or the modelled GPU of a simulated run."));

using PeerLink = Environment::PeerLink;
constexpr std::array kPeerLinkFields{
    field<&PeerLink::from>("from", "Number of the first GPU in CUDA's order."),
    field<&PeerLink::to>("to", "Number of the peer GPU."),
    field<&PeerLink::access>("access", "Whether the first GPU can access the peer's memory directly."),
    field<&PeerLink::atomics>("atomics", "Whether it supports atomic operations on the peer's memory."),
    field<&PeerLink::nvlinks>("nvlinks", omit_empty,
                              "Number of NVLinks to the peer, also through switches. Absent: the path is PCIe."),
    field<&PeerLink::bandwidth>("nvlink_bandwidth", omit_empty, "Bytes per second of these NVLinks together."),
};
constexpr Codec kPeerLink = record(kPeerLinkFields, "Path from one GPU to another. The reverse path may differ.");

using Host = Environment::Host;
constexpr std::array kHostFields{
    field<&Host::cpu>("cpu", omit_empty, "Model of the CPU."),
    field<&Host::logical_cpus>("logical_cpus", omit_empty, "Number of logical processors."),
    field<&Host::memory_bytes>("memory_bytes", omit_empty, "Size of host memory, in bytes."),
    field<&Host::kernel>("kernel", omit_empty),
    field<&Host::numa_node>("numa_node", omit_empty, "NUMA node that the process ran on, if there was only one."),
    field<&Host::gpu_numa_node>("gpu_numa_node", omit_empty, "NUMA node that the GPU, or all GPUs, are attached to."),
    field<&Host::numa_policy>("numa_policy", omit_empty,
                              "Policy of --numa: local, node, none or all. Absent in simulated runs."),
    field<&Host::numa_note>("numa_note", omit_empty, "Why the process or its memory was not bound as requested."),
    field<&Host::numa_nodes, kListOf<int, kWhole<int>>>("numa_nodes", omit_empty,
                                                        "NUMA nodes of the machine. Absent if it has only one."),
};
constexpr Codec kHost = record(kHostFields, "The host.");

using Label = Labels::value_type;
constexpr Codec kLabel{.expected = "a text",
                       .take = [](Reader& in, void* into) { as<Label>(into).second = in.as_text(); },
                       .give = [](const void* from) -> Single { return as<Label>(from).second; },
                       .types = {"string"}};
constexpr const Codec& kVariables = kEntriesOf<Label, &Label::first, kLabel>;
constexpr Codec kLabels = like(kVariables, kNamePattern);

constexpr std::array<std::string_view, 2> kBackends{"cuda", "simulated"};
constexpr Codec kBackend{
    .expected = "a text",
    .take = [](Reader& in, void* into) { as<std::string>(into) = kBackends[in.as_one_of(kBackends)]; },
    .give = give_as<std::string>,
    .words = words_of<kBackends>};

using ProfileChange = Environment::ProfileChange;
constexpr Codec kProfileChange{.expected = "a number or a text",
                               .take =
                                   [](Reader& in, void* into) {
                                     auto& value = as<ProfileChange>(into).value;
                                     if (in.is_text()) {
                                       value = in.as_text();
                                     } else {
                                       value = in.as_number();
                                     }
                                   },
                               .give = [](const void* from) -> Single {
                                 const auto& value = as<ProfileChange>(from).value;
                                 if (const auto* number = std::get_if<double>(&value)) return *number;
                                 return std::string_view(std::get<std::string>(value));
                               },
                               .types = {"number", "string"}};
constexpr const Codec& kProfileChanges = kEntriesOf<ProfileChange, &ProfileChange::name, kProfileChange>;

constexpr std::array kEnvironmentFields{
    field<&Environment::backend, kBackend>("backend",
                                           "cuda or simulated. Times of a simulated GPU are not measurements."),
    field<&Environment::profile>("profile", omit_empty,
                                 "Profile of the simulated GPU; only with the simulated backend."),
    field<&Environment::profile_base>(
        "profile_base", omit_empty, "Built-in profile that the profile file modifies; absent for a built-in profile."),
    field<&Environment::profile_changes, kProfileChanges>(
        "profile_changes", omit_empty, "Values in the profile file, by field name, such as scale.link."),
    field<&Environment::gpu, kGpu>("gpu", "The GPU, or the first of several."),
    field<&Environment::gpus, kListOf<Gpu, kGpu>>("gpus", omit_empty,
                                                  "All GPUs of a run with several, in the requested order."),
    field<&Environment::links, kListOf<PeerLink, kPeerLink>>(
        "links", omit_empty, "Paths between each pair of several GPUs, in both directions."),
    field<&Environment::driver>("driver", omit_empty, "Version of the GPU driver."),
    field<&Environment::runtime>("runtime", omit_empty, "Version of the CUDA runtime."),
    field<&Environment::host, kHost>("host"),
    field<&Environment::variables, kVariables>("variables", "Environment variables that affect CUDA."),
};
constexpr std::array kEnvironmentTies{Tie{.field = "backend",
                                          .word = "simulated",
                                          .filled = {"profile"},
                                          .else_empty = {"profile", "profile_base", "profile_changes"}}};
constexpr Codec kEnvironment = named("environment", tied(record(kEnvironmentFields), kEnvironmentTies));

// --- Measurements ---------------------------------------------------------------------------------------------------

constexpr std::array kWarmupFields{
    field<&Measurement::warmup_runs>("runs", "Number of runs that were not timed or were discarded."),
    field<&Measurement::warmup_converged>("converged", "Whether the times of these runs became stable within 1 %."),
};
constexpr Codec kWarmup = record(kWarmupFields, "Warm-up before the first sample.");

constexpr std::array kOutliersFields{
    field<&Measurement::outliers_mild>(
        "mild", "Samples more than 1.5 interquartile ranges outside the quartiles, but not severe."),
    field<&Measurement::outliers_severe>("severe", "Samples more than 3 interquartile ranges outside the quartiles."),
};
constexpr Codec kOutliers =
    record(kOutliersFields, "Number of outliers by Tukey's fences. Outliers stay in the samples.");

/// The shape of the number of samples, which is stored next to them to detect files that were cut by hand.
constexpr Codec kSampleCount{
    .expected = "a whole number of 0 or more",
    .take = [](Reader& in, void*) { in.note(in.as_whole(0, std::numeric_limits<std::uint64_t>::max())); },
    .give = [](const void* measurement) -> Single { return as<Measurement>(measurement).samples.size(); },
    .types = {"integer"},
    .least = 0};

constexpr const Codec& kSamples = kListOf<double, kAmount, std::numeric_limits<std::size_t>::max()>;

/// Describes the field for the samples, which Samples::held() provides.
constexpr Field samples_field(std::string_view name, std::string_view help) {
  return {name,
          required,
          &kSamples,
          [](void* m) -> void* { return &as<Measurement>(m).samples.held(); },
          [](const void* m, bool) -> const void* { return &as<Measurement>(m).samples.held(); },
          help};
}

/// Describes the field for a statistic of the samples, which is absent if there are no samples.
template <double Measurement::*member>
constexpr Field summary(std::string_view name) {
  Field summary = field<member>(name, optional);
  summary.from = [](const void* measurement, bool) -> const void* {
    const auto& m = as<Measurement>(measurement);
    return m.samples.empty() ? nullptr : &(m.*member);
  };
  return summary;
}

void check_measurement(Reader& in, void* measurement) {
  const auto& m = as<Measurement>(measurement);
  if (in.noted() != m.samples.size()) {
    in.fail(fmt::format("n is {}, but there are {} samples", in.noted(), m.samples.size()));
  }
  if (m.samples.empty()) return;
  if (!in.has("min") || !in.has("median") || !in.has("max")) in.fail("has samples, but not min, median and max");
  if (m.min > m.median || m.median > m.max) in.fail("its median does not lie between its min and max");
}

constexpr Codec kName = like(kWord, kNamePattern);
constexpr Codec kFlag = like(kText, kNamePattern);
constexpr const Codec& kFlagsOfSamples = kListOf<std::string, kFlag>;
constexpr std::array kMeasurementTies{
    Tie{.field = "n",
        .least = 1,
        .filled = {"samples", "min", "median", "max"},
        .else_empty = {"samples", "min", "median", "max"}},
    Tie{.field = "n", .least = 6, .filled = {"ci95"}, .else_empty = {"ci95"}},
    Tie{.field = "n", .least = 10, .else_empty = {"p90"}},
    Tie{.field = "n", .least = 100, .else_empty = {"p99"}},
};

constexpr std::array kMeasurementFields{
    field<&Measurement::name>("name", "Name of the measurement; name and gpu together are unique within a result."),
    field<&Measurement::gpu>("gpu", omit_empty,
                             "Index of the measured GPU. Absent if the measurement belongs to the whole case."),
    field<&Measurement::clock>(
        "clock",
        "Clock that timed it. event: GPU events. event-gated: GPU events, with all work queued before the GPU starts. "
        "host: the host's steady clock. cpu: CPU time of the calling thread. device: counters of the GPU."),
    field<&Measurement::unit>("unit", "Unit of the numbers, such as s for seconds."),
    samples_field("samples", "All samples in the order taken, in the measurement's unit. No sample is removed."),
    part("n", kSampleCount),
    summary<&Measurement::min>("min"),
    summary<&Measurement::median>("median"),
    summary<&Measurement::max>("max"),
    field<&Measurement::ci95, kInterval>("ci95", omit_empty,
                                         "95 % confidence interval of the median; absent below 6 samples."),
    field<&Measurement::p90>("p90", omit_empty, "90th percentile; absent below 10 samples."),
    field<&Measurement::p99>("p99", omit_empty, "99th percentile; absent below 100 samples."),
    field<&Measurement::stop>(
        "stop",
        "Why sampling ended. ci: the confidence interval was narrow enough. interrupted: by Ctrl-C or wrong output "
        "data. others: the intervals that decide were narrow enough, this one was not (older files say ci)."),
    field<&Measurement::batch, kWhole<unsigned, 1>>("batch",
                                                    "Number of repetitions in one sample. The sample is their mean."),
    part("warmup", kWarmup),
    part("outliers", kOutliers),
    field<&Measurement::gate_timeouts>("gate_timeouts", omit_empty,
                                       "Number of samples repeated because the host submitted work too slowly."),
    field<&Measurement::checked>(
        "checked", omit_empty,
        "Number of timed passes whose output was verified directly afterwards; absent if none is verified this way."),
    field<&Measurement::flags, kFlagsOfSamples>("flags", "Flags of unusual samples: drift, throttled, ..."),
};
constexpr Codec kMeasurement =
    tied(on_one_line(record(kMeasurementFields, "Samples of one quantity, with their statistics.", check_measurement)),
         kMeasurementTies);

/// The fields of a measurement for sending it between processes; they include `auxiliary`, which files lack.
constexpr auto kSentMeasurementFields =
    with(kMeasurementFields, field<&Measurement::auxiliary>("auxiliary", omit_empty));
constexpr Codec kSentMeasurement = on_one_line(record(kSentMeasurementFields, {}, check_measurement));

/// Checks that names are unique among the entries of the case, and among the entries of each GPU.
template <class T>
void check_names(Reader& in, std::vector<T>& all) {
  std::vector<std::string_view> of_case;
  std::vector<std::string> of_gpus;
  for (const T& one : all) {
    if (one.gpu) {
      of_gpus.push_back(fmt::format("{} of GPU {}", one.name, *one.gpu));
    } else {
      of_case.push_back(one.name);
    }
  }
  in.refuse_twice(std::move(of_case));
  in.refuse_twice({of_gpus.begin(), of_gpus.end()});
}
template <const Codec& measurement>
constexpr const Codec& kMeasurementsAs = kListOf<Measurement, measurement, kMostEntries, check_names<Measurement>>;

// --- Results --------------------------------------------------------------------------------------------------------

constexpr std::array kMetricFields{
    field<&Metric::value, kNumber>("value"),
    field<&Metric::unit>(
        "unit",
        "GB/s: 10^9 bytes of payload per second. 1: a ratio. s: seconds. B: bytes. Other units name what is counted."),
};
constexpr Codec kMetric = named("metric", record(kMetricFields));
bool is_number(const Metric& metric) { return std::isfinite(metric.value); }
constexpr Codec kMetrics = like(kEntriesOf<Metric, &Metric::name, kMetric, is_number>, kNamePattern);

bool is_of_gpu(const Metric& metric) { return metric.gpu && is_number(metric); }
bool is_of_case(const Metric& metric) { return !metric.gpu && is_number(metric); }
void check_metrics(Reader& in, void* metrics) {
  in.give_back_spare(as<std::vector<Metric>>(metrics));
  check_names(in, as<std::vector<Metric>>(metrics));
}

/// Returns the shape of the metrics of a whole case, keyed by their names.
constexpr Codec of_case(Codec metrics) {
  metrics.end = check_metrics;
  return metrics;
}
constexpr Codec kMetricsOfCase = of_case(like(kEntriesOf<Metric, &Metric::name, kMetric, is_of_case>, kNamePattern));

/// The metrics of single GPUs: a list, since all GPUs use the same names. Result::metrics holds both kinds.
constexpr std::array kGpuMetricFields{
    field<&Metric::name, kName>("name"),
    field<&Metric::gpu>("gpu", "Index of the GPU."),
    field<&Metric::value, kNumber>("value"),
    field<&Metric::unit>("unit"),
};
constexpr Codec kGpuMetric = on_one_line(record(kGpuMetricFields, "A metric of one GPU among several."));
constexpr Codec kGpuMetrics{.expected = "a list",
                            .item = kListOf<Metric, kGpuMetric>.item,
                            .end = check_metrics,
                            .each =
                                [](const void* metrics, const Visit& visit) {
                                  for (const Metric& metric : as<std::vector<Metric>>(metrics)) {
                                    if (is_of_gpu(metric)) visit({}, kGpuMetric, &metric);
                                  }
                                },
                            .values = &kGpuMetric};

/// Describes the field for the metrics of single GPUs; absent if no GPU has metrics.
constexpr Field metrics_of_gpus(std::string_view name, std::string_view help) {
  Field metrics = field<&Result::metrics, kGpuMetrics>(name, omit_empty, help);
  metrics.from = [](const void* result, bool) -> const void* {
    const std::vector<Metric>& all = as<Result>(result).metrics;
    return std::ranges::any_of(all, is_of_gpu) ? &all : nullptr;
  };
  return metrics;
}

using Param = Case::Param;
constexpr Codec kParam{.expected = "a number or a text",
                       .take =
                           [](Reader& in, void* into) {
                             auto& [name, kind, value] = as<Param>(into);
                             if (in.is_whole()) {
                               value = in.as_whole(0, std::numeric_limits<std::uint64_t>::max());
                             } else if (in.is_text()) {
                               kind = AxisKind::choice;
                               value = in.as_text();
                             } else {
                               kind = AxisKind::real;
                               value = in.as_number();
                             }
                           },
                       .give =
                           [](const void* param) {
                             return std::visit([](const auto& value) -> Single { return value; },
                                               as<Param>(param).value);
                           },
                       .types = {"number", "string"}};

constexpr const Codec& kXids = kListOf<std::uint64_t, kWhole<std::uint64_t>>;
constexpr std::array kHealthFields{
    field<&Health::ecc_corrected>("ecc_corrected", omit_empty, "Corrected memory errors since the driver was loaded."),
    field<&Health::ecc_uncorrected>("ecc_uncorrected", omit_empty, "Uncorrected memory errors: data was lost."),
    field<&Health::pcie_replays>("pcie_replays", omit_empty, "Packets that the link had to resend."),
    field<&Health::link_generation>("link_generation", omit_empty,
                                    "Generation at that moment. An idle link drops to a lower generation."),
    field<&Health::link_width>("link_width", omit_empty),
    field<&Health::throttle>("throttle", omit_empty, "Throttle reasons: idle, power-cap, ..."),
    field<&Health::power>("power", omit_empty, "Power draw of the GPU in watts, averaged by its sensor."),
    field<&Health::temperature>("temperature", omit_empty, "Temperature of the chip, in degrees Celsius."),
    field<&Health::temperature_limit>("temperature_limit", omit_empty, "Temperature at which the chip throttles."),
    field<&Health::xids, kXids>("xids", omit_empty,
                                "Critical errors (Xid) that the driver reported since the previous reading."),
};
constexpr Codec kHealth =
    named("health",
          on_one_line(record(kHealthFields, "Counters and states of a GPU at one moment. Unknown values are absent.")));
constexpr std::array kHealthRecordFields{
    field<&HealthRecord::before, kHealth>("before"),
    field<&HealthRecord::after, kHealth>("after"),
};
constexpr Codec kHealthRecord = record(kHealthRecordFields);

/// Describes a field of a result that is stored in the result's Case.
template <auto to_read, auto to_write, const Codec& shape>
constexpr Field case_field(std::string_view name, std::string_view help = {}) {
  return {name,
          required,
          &shape,
          [](void* result) -> void* { return &to_read(as<Result>(result).config); },
          [](const void* result, bool) -> const void* { return &(as<Result>(result).config.*to_write)(); },
          help};
}

constexpr Codec kKey = like(kWord, "^[^/]+(/[^/=]+=[^/]+)*$");

/// The shape of InFleet::begins and InFleet::ends. Times may be slightly negative, because clocks are not exact.
constexpr const Codec& kMoments = kListOf<double, kNumber, std::numeric_limits<std::size_t>::max()>;

constexpr std::array kInFleetFields{
    field<&InFleet::rank>("rank"),
    field<&InFleet::pace>("pace", "Ranks that measured at the same time: all, those of one node, or one."),
    field<&InFleet::round, kWhole<unsigned, 1>>(
        "round", "1: first measurement. 2: repeated by suspected ranks and as many others."),
    field<&InFleet::path>("path",
                          "Hardware that the speed depends on. link: the path to the host. gpu: the GPU alone. mixed: "
                          "both (link in older files)."),
    field<&InFleet::clock_uncertainty>("clocks_off_by", "Uncertainty of the ranks' common clock, in seconds."),
    field<&InFleet::passes>("passes", omit_empty,
                            "Number of synchronised passes, warm-up included; absent if unknown."),
    field<&InFleet::void_passes>("void_passes", "Number of these passes that were repeated because a rank was late."),
    field<&InFleet::late_passes>("late_passes", "Number of these passes in which this rank was late."),
    field<&InFleet::begins, kMoments>(
        "begins", omit_empty,
        "Start times of the passes of the first measurement, relative to the agreed start of each pass."),
    field<&InFleet::ends, kMoments>("ends", omit_empty),
};
constexpr Codec kInFleet =
    record(kInFleetFields, "Rank that measured. Key, pace, rank and round identify a result of a fleet.");

/// The fields of a result. `measurement`: the shape of its measurements, either in files or sent between processes.
template <const Codec& measurement>
constexpr std::array kResultFieldsWith{
    case_field<&StoredCase::scenario, &Case::scenario, kWord>("scenario"),
    case_field<&StoredCase::key, &Case::key, kKey>(
        "key", "Identifier of the case. The same case has the same key in every run on every machine."),
    case_field<&StoredCase::params, &Case::params, kEntriesOf<Param, &Param::name, kParam>>(
        "params", "Value of each axis of the case; sizes in bytes."),
    field<&Result::in_fleet, kInFleet>("fleet", omit_empty),
    field<&Result::gpus, kListOf<int, kWhole<int>>>("gpus", omit_empty,
                                                    "Indices of the GPUs used, if there are several."),
    field<&Result::status>("status",
                           "failed: a wrong byte or an error, so no number can be trusted. skipped: not run."),
    field<&Result::reason, kText>("reason", "Why the case failed or was skipped; otherwise empty."),
    field<&Result::warnings>("warnings",
                             "Warnings about the numbers, each a sentence that says what is wrong and what to do."),
    field<&Result::measurements, kMeasurementsAs<measurement>>(
        "measurements", "All measurements. The first is the main one. A failed case keeps those it had."),
    field<&Result::metrics, kMetricsOfCase>("metrics", "Numbers derived from the measurements, by name."),
    metrics_of_gpus(
        "gpu_metrics",
        "Metrics of single GPUs, if there are several; each GPU has the same names. Absent if there are none."),
    field<&Result::labels, kLabels>(
        "labels", optional,
        "Results that are words. limited_by: link or kernel. limit_set_by: kernel, or the arrangement of both copies "
        "that sets the limit (absent in older files: whole). suggestion: flags that should make the case faster."),
    field<&Result::health, kHealthRecord>(
        "health", omit_empty, "State of the GPU before and after the case, or its last pass; absent if unknown."),
};
constexpr std::array kResultTies{
    Tie{.field = "status", .word = "ok", .empty = {"reason"}, .else_filled = {"reason"}},
    Tie{.field = "status", .word = "skipped", .empty = {"measurements", "metrics", "gpu_metrics"}},
};
constexpr Codec kResult =
    tied(record(kResultFieldsWith<kMeasurement>, "Result of one case: its parameters, status and measurements."),
         kResultTies);

constexpr std::array kFindingFields{
    field<&Finding::scenario>("scenario"),
    field<&Finding::kind, kName>(
        "kind",
        "What the finding says. docs/findings.md explains the kinds of today: asymmetry, at-once, best, blocking, "
        "both-ways, bottleneck, break-even, choice, classes, crossover, diagnosis, exchange, fastest, "
        "fastest-to-result, fit, "
        "gpus, helpers, launch, memory, multipath, near-best, numa, odd-pair, one-gpu, per-child, "
        "per-node, serial, shares, slow-peer, slow-pinned, sort, stages, suggestion, tensors, threshold, to-result, "
        "tune, waiting, winner. Later versions may add some: pass over those that you do not know."),
    field<&Finding::labels, kLabels>("labels",
                                     "Axis values that the finding applies to, and words that its kind defines."),
    field<&Finding::metrics, kMetrics>("metrics", "Numbers of the finding, by name."),
    field<&Finding::text>("text", omit_empty, "The finding as a sentence; absent if the numbers say it all."),
    field<&Finding::detail>("detail", omit_empty,
                            "A detail, summed up by other findings. Reports show it with --all-findings."),
};
constexpr Codec kFinding =
    record(kFindingFields, "A conclusion from several results of one scenario, such as a fit over sizes.");

// --- Declarations ---------------------------------------------------------------------------------------------------

using Declaration = MetricDeclaration;
constexpr std::array kDeclarationFields{
    field<&Declaration::name>("name"),
    field<&Declaration::kind>("kind", "measurement: samples. metric: a number derived from samples. label: a word."),
    field<&Declaration::unit>("unit", omit_empty, "Absent for a label."),
    field<&Declaration::better>("better"),
    field<&Declaration::headline>("headline",
                                  "Whether this is the headline of a case. Of several, the first that has samples."),
    field<&Declaration::heading, kText>("heading", "Heading of the column in tables; empty: no column."),
    field<&Declaration::format>("format", "Format of the column's cells."),
    field<&Declaration::help, kText>("help"),
    field<&Declaration::companion, kListOf<Declaration::Companion, kOneOf<Declaration::Companion>>>(
        "beside", omit_empty,
        "Additional columns. interval: half-width of the confidence interval; for a metric, from the metrics NAME_low "
        "and NAME_high."),
};
constexpr Codec kDeclaration = on_one_line(record(
    kDeclarationFields,
    "Declaration of a measurement, metric or label of a scenario. A measurement and a metric may share a name."));
constexpr const Codec& kDeclarations = kListOf<Declaration, kDeclaration>;

/// The shape of the declared metrics: an object keyed by the names of scenarios.
constexpr Codec kMetricsDeclared{.expected = "an object",
                                 .is_object = true,
                                 .entry = [](Reader& in, void* declared, std::string_view scenario) -> Target {
                                   auto& all = as<MetricsDeclared>(declared);
                                   in.refuse_more_than(kMostEntries, all.size());
                                   constexpr std::size_t kNode = 128;  // approximate size of a map's node, bytes
                                   in.account_for(kNode);
                                   const auto [entry, is_new] = all.try_emplace(in.kept(std::string(scenario)));
                                   if (!is_new) in.refuse_twice({scenario, scenario});
                                   return {&kDeclarations, &entry->second};
                                 },
                                 .each =
                                     [](const void* declared, const Visit& visit) {
                                       for (const auto& [scenario, metrics] : as<MetricsDeclared>(declared))
                                         visit(scenario, kDeclarations, &metrics);
                                     },
                                 .pattern = kNamePattern,
                                 .values = &kDeclarations};

// --- Fleets ---------------------------------------------------------------------------------------------------------

constexpr std::array kRankFields{
    field<&RankPlace::rank>("rank"),
    field<&RankPlace::node>("node", "Number of the node, in the order of the lowest rank of each."),
    field<&RankPlace::local_rank>("local_rank", "Local rank on its node."),
    field<&RankPlace::host>("host"),
    field<&RankPlace::tool>("tool", omit_empty, "Version and commit of xferbench."),
    field<&RankPlace::environment, kEnvironment>("environment"),
};
constexpr Codec kRank = record(kRankFields, "One rank: its host and hardware.");

constexpr std::size_t kMostRanks = 1'000'000;
constexpr const Codec& kRankNumbers = kListOf<int, kWhole<int>, kMostRanks>;

constexpr std::array kFlaggedFields{
    field<&Flagged::what>("what", "Kind of the slow part. rank: the rank is missing."),
    field<&Flagged::ranks, kRankNumbers>("ranks", "Affected ranks; of a pair, the sender and the receiver."),
    field<&Flagged::name>("name", "Readable name of the part."),
    field<&Flagged::text>("text", "Description, as a sentence without a full stop."),
    field<&Flagged::shortfall>("shortfall", omit_empty,
                               "Largest shortfall from the median of its peer group, as a share."),
    field<&Flagged::tests>("tests", omit_empty, "Cases, with their concurrency, in which the part is slow."),
};
constexpr Codec kFlagged = record(kFlaggedFields, "A part that is slower than its peers, or a rank that is missing.");

/// Checks that ranks are sorted, because they are found by binary search.
void check_ranks(Reader& in, std::vector<RankPlace>& ranks) {
  const auto wrong = std::ranges::adjacent_find(ranks, std::ranges::greater_equal{}, &RankPlace::rank);
  if (wrong == ranks.end()) return;
  in.fail(fmt::format("rank {} comes before rank {}, expected each rank once, in ascending order", wrong->rank,
                      std::next(wrong)->rank));
}

constexpr std::array kJudgementFields{
    field<&FleetJudgement::tests>("tests", "Number of tests that could find a slow part."),
    field<&FleetJudgement::judged>("judged", "Number of these with exact enough clocks and peers to compare."),
    field<&FleetJudgement::unresolved>("unresolved", "Number of suspicions that the second round did not decide."),
};
constexpr Codec kJudgement = record(kJudgementFields,
                                    "Summary of the comparison of ranks. A test is one case at one concurrency; "
                                    "transfers with all partners count as one. Absent without tests.");

constexpr std::array kFleetFields{
    field<&Fleet::mpi>("mpi", "Name and version of the MPI library."),
    field<&Fleet::clock_uncertainty>("clocks_off_by", "Largest clock uncertainty of all ranks and cases, in seconds."),
    field<&Fleet::missing, kRankNumbers>("missing", "Ranks that stopped answering."),
    field<&Fleet::flagged, kListOf<Flagged, kFlagged, kMostRanks>>(
        "flagged", "Parts that are slower than their peers, and missing ranks."),
    field<&Fleet::differences>("differences", Rule::optional,
                               "Differences between ranks, such as drivers. Absent in older files."),
    field<&Fleet::notes>("notes", "Limitations of the comparison."),
    field<&Fleet::judgement, kJudgement>("judgement", omit_empty),
    field<&Fleet::ranks, kListOf<RankPlace, kRank, kMostRanks, check_ranks>>("ranks"),
};
constexpr Codec kFleet =
    record(kFleetFields, "Ranks of a run under mpirun or srun, and findings about them; absent for a single process.");

// --- The file -------------------------------------------------------------------------------------------------------

/// Checks that no two results have the same identity; otherwise the file would contradict itself.
void check_identities(Reader& in, const std::vector<Result>& results) {
  const auto identities = list_of(results, &Result::identity);
  std::vector<std::size_t> order(results.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(
      order, [&](std::size_t a, std::size_t b) { return std::tie(identities[a], a) < std::tie(identities[b], b); });
  const auto identity = [&](std::size_t i) -> const std::string& { return identities[i]; };
  const auto twice = std::ranges::adjacent_find(order, {}, identity);
  if (twice == order.end()) return;
  in.fail(fmt::format("results[{}] and results[{}] have the same key {}, expected one result for each case", *twice,
                      *(twice + 1), in_quotes(identity(*twice))));
}

void check_report(Reader& in, void* whole) {
  const auto& report = as<Report>(whole);
  check_identities(in, report.results);
  const auto differs = std::ranges::find_if(
      report.results, [&](const Result& result) { return result.in_fleet.has_value() != report.fleet.has_value(); });
  if (differs == report.results.end()) return;
  const auto index = differs - report.results.begin();
  in.fail(report.fleet
              ? fmt::format("results[{}] has no 'fleet', expected the rank that measured it", index)
              : fmt::format("results[{}] belongs to a rank, but the file has no 'fleet' that lists ranks", index));
}

constexpr Codec kResults = named("results", kListOf<Result, kResult, kMostResults>);

constexpr const Codec& kTimes = kListOf<std::string, kTimeOrNone>;
constexpr std::array kFurtherFields{
    field<&FurtherProcess::started_at, kTime>("started_at"),
    field<&FurtherProcess::results, kResults>("results"),
};
constexpr Codec kFurther = record(kFurtherFields);
constexpr std::size_t kMostProcesses = 100;

constexpr std::array kReportFields{
    part("schema", kSchema<kVersion1>),
    field<&Report::complete>("complete", "Whether every case finished; false during the run."),
    field<&Report::verified>("verified", optional,
                             "False if all or a part of the run used --no-verify. Absent in older files."),
    field<&Report::started_at, kTime>("started_at", "Start of the run: ISO 8601, UTC."),
    field<&Report::tool, kTool>("tool"),
    field<&Report::command, kRawTexts>("command", "The command line: xferbench and its arguments as given."),
    field<&Report::environment, kEnvironment>("environment"),
    field<&Report::metrics_declared, kMetricsDeclared>("metrics_declared", optional,
                                                       "Declarations of measurements, metrics and labels, by scenario, "
                                                       "in the order of columns; absent in older files."),
    field<&Report::results, kResults>(
        "results", "One result per case; for a fleet, one per case, rank, pace and round. In the order of execution."),
    field<&Report::fleet, kFleet>("fleet", omit_empty),
    field<&Report::findings, kListOf<Finding, kFinding, kMostResults>>(
        "findings", optional, "Findings from all results; empty during the run."),
    field<&Report::resumed_at, kTimes>("resumed_at", omit_empty, "Times at which a stopped run was resumed."),
    field<&Report::further_processes, kListOf<FurtherProcess, kFurther, kMostProcesses>>(
        "further_processes", omit_empty,
        "Results of all processes but the first, for a suite that uses several processes. compare takes each as a "
        "separate file. All other fields belong to the first process."),
};
constexpr Codec kReport =
    expecting(record(kReportFields,
                     "Results file that xferbench --json writes, version 1. Fields are added, never renamed, removed "
                     "or given another meaning. Unknown values are absent, never 0, null or a text. measurement.md and "
                     "the pages in scenarios/ explain how each number is measured.",
                     check_report),
              "a results file of xferbench --json");

/// The shape of a journal. A journal may have several results with the same identity, because a case that gets more
/// samples is appended again.
constexpr Codec kJournal = expecting(record(kReportFields), "a journal of xferbench");

// --- Machine facts without results (xferbench-info) ----------------------------------------------------------------

constexpr std::string_view kInfoVersion1 = "xferbench-info/1";
constexpr std::array kFactsFields{
    part("schema", kSchema<kInfoVersion1>),
    field<&MachineFacts::tool, kTool>("tool"),
    field<&MachineFacts::environment, kEnvironment>("environment", omit_empty),
    field<&MachineFacts::no_gpu>("no_gpu", omit_empty),
    field<&MachineFacts::host, kHost>("host", omit_empty),
    field<&MachineFacts::limits, kMetrics>("limits", omit_empty),
    field<&MachineFacts::profiles, kLabels>("profiles"),
};
constexpr Codec kFacts = record(kFactsFields);

Report empty_report() {
  Report report;
  report.tool = {};
  return report;
}

/// Reads the first `bytes` bytes of the journal. Stops at the first error in the text and describes it in `damage`.
Report read_journal(const AdjacentJournal& journal, std::uint64_t bytes, std::string& damage) {
  Report report = empty_report();
  try {
    read_beginning(journal.file(), journal.path(), bytes, kEndOfUnfinished, {&kJournal, &report});
  } catch (const InputError& error) {
    damage = error.what();
    if (!report.results.empty()) report.results.pop_back();  // the last result was read only in part
  }
  return report;
}

}  // namespace

void write_json(const Report& report, const Sink& sink) { write(kReport, &report, sink); }

void write_json(const Report& report, const Sink& sink, const TextOfResult& text_of) {
  write(kReport, &report, sink, [&](const Codec& shape, const void* value) -> std::optional<std::string> {
    return &shape == &kResult ? text_of(as<Result>(value)) : std::nullopt;
  });
}

std::string beginning_of_json(const Report& report) {
  std::string text;
  const auto without_results = [](const Codec& shape, const void*) {
    return &shape == &kResults ? std::optional<std::string>("[") : std::nullopt;
  };
  write(
      kReport, &report, [&](std::string_view piece) { text += piece; }, without_results);
  constexpr std::string_view kList = "\n \"results\": [";  // occurs only once: JSON strings contain no line feed
  return text.substr(0, text.find(kList) + kList.size());
}

std::string text_in_file(const Result& result) {
  constexpr std::size_t kLevel = 2;
  return text_within(kResult, &result, kLevel);
}

Result parse_result_in_file(std::string_view text, std::string_view name) {
  return record_from_text<Result>(text, name, kResult);
}

std::string to_json(const Report& report) { return text_of(kReport, &report); }

std::string results_schema() { return schema_of(kReport); }

std::string to_json(const Result& result) { return text_of(json::kSentResult, &result); }

std::string to_json(const MachineFacts& facts) { return text_of(kFacts, &facts); }

// Shapes that are written on one line, for files with one record in each line.
constexpr Codec json::kToolLine = on_one_line(kTool);
constexpr Codec json::kEnvironmentLine = on_one_line(kEnvironment);
constexpr Codec json::kHealthLine = kHealth;

constexpr Codec json::kSentResult = record(kResultFieldsWith<kSentMeasurement>);
constexpr Codec json::kSentRank = kRank;
constexpr Codec json::kSentNumbers = kRankNumbers;
constexpr Codec json::kSentTexts = kVariables;

constexpr Codec json::kInterval{
    .expected = "two numbers, low and high",
    .item = [](Reader& in, void* interval, std::size_t index) -> Target {
      in.refuse_more_than(2, index);
      return {&kNumber, index == 0 ? &as<Interval>(interval).low : &as<Interval>(interval).high};
    },
    .end =
        [](Reader& in, void* interval) {
          if (in.items() != 2) in.fail("expected two numbers, low and high");
          if (as<Interval>(interval).low > as<Interval>(interval).high) in.fail("found low above high");
        },
    .each =
        [](const void* interval, const Visit& visit) {
          visit({}, kNumber, &as<Interval>(interval).low);
          visit({}, kNumber, &as<Interval>(interval).high);
        },
    .least = 2,
    .most = 2,
    .values = &kNumber};

StoredReport read_stored(const std::string& path) {
  if (path == "-") return {.report = record_from_file(path, kReport, empty_report())};
  const AdjacentJournal journal(path);  // opened first: the journal is removed once the results file is complete
  StoredReport stored{.report = record_from_file(path, kReport, empty_report())};
  const std::optional<ValidPrefix> part = journal.valid_prefix();
  if (!part) return stored;
  if (part->beginning == 0) {  // the journal lacks even the text before the results
    stored.damage = fmt::format("{}: it has no results", journal.path());
    return stored;
  }
  if (part->whole == part->beginning) return stored;
  const Report begun = read_journal(journal, part->beginning, stored.damage);
  stored.journal_is_of_another_run = stored.damage.empty() && !is_same_run(stored.report, begun);
  const bool says_more = !stored.report.complete && !stored.report.fleet;
  if (!says_more || !stored.damage.empty() || stored.journal_is_of_another_run) return stored;
  apply_entry(stored.report, std::move(read_journal(journal, part->whole, stored.damage).results));
  return stored;
}

Report read_report(const std::string& path) {
  if (const Descriptor text = unpacked(path)) {
    Report report = empty_report();
    read_beginning(text.number(), path, std::numeric_limits<std::uint64_t>::max(), {}, {&kReport, &report});
    return report;
  }
  StoredReport stored = read_stored(path);
  if (!stored.damage.empty() && !stored.report.complete && !stored.report.fleet) {
    tell(fmt::format(
        "{}; the journal is damaged there, and later results that {} lacks are lost: --resume {} measures them again",
        stored.damage, path, path));
  }
  return std::move(stored.report);
}

Report parse_report(std::string_view text, std::string_view name) {
  return record_from_text(text, name, kReport, empty_report());
}

Result parse_result(std::string_view text, std::string_view name) {
  return record_from_text<Result>(text, name, kSentResult);
}

}  // namespace xferbench
