#include "results/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <tuple>

#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "core/standard_error.hpp"
#include "results/journal.hpp"
#include "results/json_shape.hpp"
#include "results/stored_file.hpp"

namespace xferbench {

namespace {

using namespace json;

constexpr std::string_view kVersion1 = "xferbench/1";
constexpr std::size_t kMostResults = 1'000'000;  // more than all scenarios can plan together

using enum Rule;

// --- The tool and the machine ---------------------------------------------------------------------------------------

constexpr std::array kBuildFields{
    field<&Tool::compiler>("compiler", "C++ compiler and its version."),
    field<&Tool::cuda>("cuda", if_known, "Version of the CUDA toolkit; absent in a build without CUDA."),
    field<&Tool::type>("type", if_known, "CMake's build type: Release, Debug, ..."),
};
constexpr Shape kBuild = record(kBuildFields);

constexpr std::array kToolFields{
    field<&Tool::version>("version", "Its version: 0.1.0."),
    field<&Tool::git>("git", if_known, "The commit it was built from; absent outside a git checkout."),
    part("build", kBuild),
};
constexpr Shape kTool = record(kToolFields, "The program that measured.");

using Pcie = Environment::Pcie;
constexpr std::array kPcieFields{
    field<&Pcie::generation>("generation"),
    field<&Pcie::width>("width", "Number of lanes."),
    field<&Pcie::source>("source", "Where they were read: nvml, sysfs or profile."),
    field<&Pcie::max_generation>("max_generation", if_known, "The highest generation that the GPU can do."),
    field<&Pcie::max_width>("max_width", if_known, "The largest number of lanes that the GPU can use."),
    field<&Pcie::under_load>("under_load", optional,
                             "Read while copies were in flight; else they are the largest that both ends can do."),
    field<&Pcie::max_payload>("max_payload", if_known,
                              "Bytes of payload in one packet. Absent where it could not be read: limits assume 256."),
    field<&Pcie::max_read_request>("max_read_request", if_known,
                                   "Bytes that the GPU may ask for at once. Absent: limits assume 256."),
};
constexpr Shape kPcie = record(kPcieFields, "The PCI Express link to the host.");

using Gpu = Environment::Gpu;
constexpr Shape kArchitecture = like(kWord, R"(^[0-9]+\.[0-9]+$)");
constexpr std::array kGpuFields{
    field<&Gpu::name>("name"),
    field<&Gpu::index>("index", if_known, "Its number as CUDA counts GPUs."),
    field<&Gpu::uuid>("uuid", if_known, "The one GPU in the world."),
    field<&Gpu::pci_bus_id>("pci_bus_id", if_known, "Where it is: domain:bus:device.function."),
    field<&Gpu::compute_capability, kArchitecture>("compute_capability", if_known, "Its architecture's version: 9.0."),
    field<&Gpu::multiprocessors>("multiprocessors", if_known, "Number of streaming multiprocessors."),
    field<&Gpu::memory_bytes>("memory_bytes", if_known),
    field<&Gpu::l2_bytes>("l2_bytes", if_known, "Size of its L2 cache, in bytes."),
    field<&Gpu::copy_engines>("copy_engines", if_known, "Number of engines that copy beside kernels."),
    field<&Gpu::max_sm_clock_hz>("max_sm_clock_hz", if_known, "Highest clock rate of its multiprocessors, in Hz."),
    field<&Gpu::memory_bandwidth>("memory_bandwidth", if_known,
                                  "Bytes per second, read plus written, by clock and width."),
    field<&Gpu::ecc>("ecc", if_known, "Whether error correction of its memory is on."),
    field<&Gpu::pcie, kPcie>("pcie", if_known),
    field<&Gpu::numa_node>("numa_node", if_known, "The NUMA node that it is attached to."),
    field<&Gpu::bridges>("bridges", if_known, "PCI addresses on its way to the processor, the nearest first."),
    field<&Gpu::nvlinks>("nvlinks", if_known, "Number of its NVLinks that are up."),
    field<&Gpu::nvlink_bandwidth>("nvlink_bandwidth", if_known, "Bytes per second of all together, each way."),
    field<&Gpu::mig>("mig", if_known, "It is a part of a divided GPU (MIG), and shares links and memory with others."),
};
constexpr Shape kGpu = named("gpu", record(kGpuFields, "The GPU, or the one that is modelled."));

using PeerLink = Environment::PeerLink;
constexpr std::array kPeerLinkFields{
    field<&PeerLink::from>("from", "Number of the GPU as CUDA counts them."),
    field<&PeerLink::to>("to", "Number of the other."),
    field<&PeerLink::access>("access", "Whether the GPU can reach the other's memory directly."),
    field<&PeerLink::atomics>("atomics", "Whether it can do atomic operations there, too."),
    field<&PeerLink::nvlinks>("nvlinks", if_known,
                              "That lead there, through switches too. Absent: the way is the PCI bus."),
    field<&PeerLink::bandwidth>("nvlink_bandwidth", if_known, "Bytes per second that those carry together."),
};
constexpr Shape kPeerLink =
    record(kPeerLinkFields, "The way from one GPU to another, which may differ from the way back.");

using Host = Environment::Host;
constexpr std::array kHostFields{
    field<&Host::cpu>("cpu", if_known, "Model of the processor."),
    field<&Host::logical_cpus>("logical_cpus", if_known, "Number of logical processors."),
    field<&Host::memory_bytes>("memory_bytes", if_known, "Size of the host's memory, in bytes."),
    field<&Host::kernel>("kernel", if_known),
    field<&Host::numa_node>("numa_node", if_known, "That the process ran on, if it was a single one."),
    field<&Host::gpu_numa_node>("gpu_numa_node", if_known, "That the GPU is attached to, or all of several."),
    field<&Host::numa_policy>("numa_policy", if_known,
                              "What --numa asked for: local, node, none. Absent in simulated runs."),
    field<&Host::numa_note>("numa_note", if_known, "Why the process was not bound as asked, or not its memory."),
};
constexpr Shape kHost = record(kHostFields, "The machine around the GPU.");

using Label = Labels::value_type;
constexpr Shape kLabel{.expected = "a text",
                       .take = [](Reader& in, void* into) { as<Label>(into).second = in.as_text(); },
                       .give = [](const void* from) -> Single { return as<Label>(from).second; },
                       .types = {"string"}};
constexpr const Shape& kVariables = kEntriesOf<Label, &Label::first, kLabel>;
constexpr Shape kLabels = like(kVariables, kNamePattern);

constexpr std::array<std::string_view, 2> kBackends{"cuda", "simulated"};
constexpr Shape kBackend{
    .expected = "a text",
    .take = [](Reader& in, void* into) { as<std::string>(into) = kBackends[in.as_one_of(kBackends)]; },
    .give = give_as<std::string>,
    .words = words_of<kBackends>};

using ProfileChange = Environment::ProfileChange;
constexpr Shape kProfileChange{.expected = "a number or a text",
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
constexpr const Shape& kProfileChanges = kEntriesOf<ProfileChange, &ProfileChange::name, kProfileChange>;

constexpr std::array kEnvironmentFields{
    field<&Environment::backend, kBackend>("backend", "Times of a simulated GPU are no measurements."),
    field<&Environment::profile>("profile", if_known, "The simulated GPU's profile; only with the simulated backend."),
    field<&Environment::profile_base>("profile_base", if_known,
                                      "That a profile file changes; absent where the profile is built in."),
    field<&Environment::profile_changes, kProfileChanges>(
        "profile_changes", if_known, "By the names of the profile file's fields, such as scale.link."),
    field<&Environment::gpu, kGpu>("gpu", "The GPU, or the first of several."),
    field<&Environment::gpus, kListOf<Gpu, kGpu>>("gpus", if_known, "Of a run on several, in the order asked for."),
    field<&Environment::links, kListOf<PeerLink, kPeerLink>>("links", if_known,
                                                             "Between every two of several GPUs, each way."),
    field<&Environment::driver>("driver", if_known, "Version of the GPU driver."),
    field<&Environment::runtime>("runtime", if_known, "Version of the CUDA runtime."),
    field<&Environment::host, kHost>("host"),
    field<&Environment::variables, kVariables>("variables", "Of the environment, that change what CUDA does."),
};
constexpr std::array kEnvironmentTies{Tie{.field = "backend",
                                          .word = "simulated",
                                          .filled = {"profile"},
                                          .else_empty = {"profile", "profile_base", "profile_changes"}}};
constexpr Shape kEnvironment = named("environment", tied(record(kEnvironmentFields), kEnvironmentTies));

// --- Measurements ---------------------------------------------------------------------------------------------------

constexpr std::array kWarmupFields{
    field<&Measurement::warmup_runs>("runs", "Number of untimed or discarded runs."),
    field<&Measurement::warmup_converged>("converged", "Whether their times had settled within 1 %."),
};
constexpr Shape kWarmup = record(kWarmupFields, "What ran before the first sample.");

constexpr std::array kOutliersFields{
    field<&Measurement::outliers_mild>("mild", "Beyond 1.5 interquartile ranges, not severe."),
    field<&Measurement::outliers_severe>("severe", "Beyond 3 interquartile ranges."),
};
constexpr Shape kOutliers = record(kOutliersFields, "Samples beyond Tukey's fences; they are counted and kept.");

/// The number of samples, stored next to them to detect files that were cut by hand.
constexpr Shape kSampleCount{
    .expected = "a whole number of 0 or more",
    .take = [](Reader& in, void*) { in.note(in.as_whole(0, std::numeric_limits<std::uint64_t>::max())); },
    .give = [](const void* measurement) -> Single { return as<Measurement>(measurement).samples.size(); },
    .types = {"integer"},
    .least = 0};

constexpr const Shape& kSamples = kListOf<double, kAmount, std::numeric_limits<std::size_t>::max()>;

/// A field for the samples, which Samples::held() provides.
constexpr Field samples_field(std::string_view name, std::string_view help) {
  return {name,
          required,
          &kSamples,
          [](void* m) -> void* { return &as<Measurement>(m).samples.held(); },
          [](const void* m, bool) -> const void* { return &as<Measurement>(m).samples.held(); },
          help};
}

/// A statistic of the samples; absent without samples.
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

constexpr Shape kName = like(kWord, kNamePattern);
constexpr Shape kFlag = like(kText, kNamePattern);
constexpr const Shape& kFlagsOfSamples = kListOf<std::string, kFlag>;
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
    field<&Measurement::name>("name", "What was timed; name and gpu are unique within a result."),
    field<&Measurement::gpu>("gpu", if_known, "Index of the one GPU that it is of. Absent where it is of the case."),
    field<&Measurement::clock>("clock",
                               "What timed it: GPU events, gated: with all work queued beforehand; the host's steady "
                               "clock; the calling thread's CPU time; the GPU's own counters."),
    field<&Measurement::unit>("unit", "Unit of all its numbers: s is seconds."),
    samples_field("samples", "Every sample in the order taken, in the measurement's unit. None is ever removed."),
    part("n", kSampleCount),
    summary<&Measurement::min>("min"),
    summary<&Measurement::median>("median"),
    summary<&Measurement::max>("max"),
    field<&Measurement::ci95, kInterval>("ci95", if_known, "Of the median; absent below six samples."),
    field<&Measurement::p90>("p90", if_known, "Absent below 10 samples."),
    field<&Measurement::p99>("p99", if_known, "Absent below 100 samples."),
    field<&Measurement::stop>(
        "stop",
        "Why sampling ended. ci: the interval was narrow enough. interrupted: by Ctrl-C or a wrong output. others: all "
        "that sampling goes on for was narrow enough, and this was not; older files say ci."),
    field<&Measurement::batch, kWhole<unsigned, 1>>("batch", "Repetitions in one sample, which is their mean."),
    part("warmup", kWarmup),
    part("outliers", kOutliers),
    field<&Measurement::gate_timeouts>("gate_timeouts", if_known,
                                       "Samples taken again as the host submitted too slowly."),
    field<&Measurement::checked>(
        "checked", if_known, "Timed passes whose output was checked right behind them; absent where none is to be."),
    field<&Measurement::flags, kFlagsOfSamples>("flags", "What is remarkable about the samples: drift, throttled, ..."),
};
constexpr Shape kMeasurement =
    tied(on_one_line(record(kMeasurementFields, "Samples of one thing, and what the statistics say of them.",
                            check_measurement)),
         kMeasurementTies);

/// For sending between processes: includes what files leave out.
constexpr auto kSentMeasurementFields = with(kMeasurementFields, field<&Measurement::auxiliary>("auxiliary", if_known));
constexpr Shape kSentMeasurement = on_one_line(record(kSentMeasurementFields, {}, check_measurement));

/// Names must be unique: among those of the case, and among those of each GPU.
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
template <const Shape& measurement>
constexpr const Shape& kMeasurementsAs = kListOf<Measurement, measurement, kMostEntries, check_names<Measurement>>;

// --- Results --------------------------------------------------------------------------------------------------------

constexpr std::array kMetricFields{
    field<&Metric::value, kNumber>("value"),
    field<&Metric::unit>(
        "unit", "GB/s is 10^9 bytes of payload per second, 1 a ratio, s seconds, B bytes; else what is counted."),
};
constexpr Shape kMetric = named("metric", record(kMetricFields));
bool is_number(const Metric& metric) { return std::isfinite(metric.value); }
constexpr Shape kMetrics = like(kEntriesOf<Metric, &Metric::name, kMetric, is_number>, kNamePattern);

bool is_of_gpu(const Metric& metric) { return metric.gpu && is_number(metric); }
bool is_of_case(const Metric& metric) { return !metric.gpu && is_number(metric); }
void check_metrics(Reader& in, void* metrics) {
  in.give_back_spare(as<std::vector<Metric>>(metrics));
  check_names(in, as<std::vector<Metric>>(metrics));
}

/// The metrics of the case, by name.
constexpr Shape of_case(Shape metrics) {
  metrics.end = check_metrics;
  return metrics;
}
constexpr Shape kMetricsOfCase = of_case(like(kEntriesOf<Metric, &Metric::name, kMetric, is_of_case>, kNamePattern));

/// The metrics of single GPUs: a list, since all GPUs use the same names. Result::metrics holds both kinds.
constexpr std::array kGpuMetricFields{
    field<&Metric::name, kName>("name"),
    field<&Metric::gpu>("gpu", "Its index."),
    field<&Metric::value, kNumber>("value"),
    field<&Metric::unit>("unit"),
};
constexpr Shape kGpuMetric = on_one_line(record(kGpuMetricFields, "A metric of one GPU among several."));
constexpr Shape kGpuMetrics{.expected = "a list",
                            .item = kListOf<Metric, kGpuMetric>.item,
                            .end = check_metrics,
                            .each =
                                [](const void* metrics, const Visit& visit) {
                                  for (const Metric& metric : as<std::vector<Metric>>(metrics)) {
                                    if (is_of_gpu(metric)) visit({}, kGpuMetric, &metric);
                                  }
                                },
                            .values = &kGpuMetric};

/// Absent if no GPU has metrics.
constexpr Field metrics_of_gpus(std::string_view name, std::string_view help) {
  Field metrics = field<&Result::metrics, kGpuMetrics>(name, if_known, help);
  metrics.from = [](const void* result, bool) -> const void* {
    const std::vector<Metric>& all = as<Result>(result).metrics;
    return std::ranges::any_of(all, is_of_gpu) ? &all : nullptr;
  };
  return metrics;
}

using Param = Case::Param;
constexpr Shape kParam{.expected = "a number or a text",
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

constexpr const Shape& kXids = kListOf<std::uint64_t, kWhole<std::uint64_t>>;
constexpr std::array kHealthFields{
    field<&Health::ecc_corrected>("ecc_corrected", if_known, "Errors of memory since the driver was loaded."),
    field<&Health::ecc_uncorrected>("ecc_uncorrected", if_known, "Those that could not be corrected: data was lost."),
    field<&Health::pcie_replays>("pcie_replays", if_known, "Packets that the link had to send again."),
    field<&Health::link_generation>("link_generation", if_known, "At that moment: an idle link trains down."),
    field<&Health::link_width>("link_width", if_known),
    field<&Health::throttle>("throttle", if_known, "Why clocks are below what they could be: idle, power-cap, ..."),
    field<&Health::power>("power", if_known, "Watts that the GPU takes, as its sensor averages them."),
    field<&Health::temperature>("temperature", if_known, "Of the chip, in degrees Celsius."),
    field<&Health::temperature_limit>("temperature_limit", if_known, "At which the chip slows itself down."),
    field<&Health::xids, kXids>("xids", if_known, "Critical errors that the driver told of since the look before."),
};
constexpr Shape kHealth = named(
    "health",
    on_one_line(record(kHealthFields, "Counters and states of a GPU at one moment. What is not known is absent.")));
constexpr std::array kHealthRecordFields{
    field<&HealthRecord::before, kHealth>("before"),
    field<&HealthRecord::after, kHealth>("after"),
};
constexpr Shape kHealthRecord = record(kHealthRecordFields);

/// A field that is stored in the result's case.
template <auto to_read, auto to_write, const Shape& shape>
constexpr Field case_field(std::string_view name, std::string_view help = {}) {
  return {name,
          required,
          &shape,
          [](void* result) -> void* { return &to_read(as<Result>(result).config); },
          [](const void* result, bool) -> const void* { return &(as<Result>(result).config.*to_write)(); },
          help};
}

constexpr Shape kKey = like(kWord, "^[^/]+(/[^/=]+=[^/]+)*$");

/// Moments may lie slightly before the start that they count from, since clocks are not exact.
constexpr const Shape& kMoments = kListOf<double, kNumber, std::numeric_limits<std::size_t>::max()>;

constexpr std::array kInFleetFields{
    field<&InFleet::rank>("rank"),
    field<&InFleet::pace>("pace", "Who measured at once: all ranks, those of one node, or one rank."),
    field<&InFleet::round, kWhole<unsigned, 1>>("round", "2: again, by those suspected and as many good ones."),
    field<&InFleet::path>("path",
                          "What its speed is that of: copies to and from the host, what stays on the GPU, both. "
                          "Earlier versions wrote link for mixed."),
    field<&InFleet::clock_uncertainty>("clocks_off_by", "How far their common clock was off, in seconds."),
    field<&InFleet::passes>("passes", if_known, "All in step, with the warm-up; absent where it is not known."),
    field<&InFleet::void_passes>("void_passes", "Those of them that were repeated because a rank was late."),
    field<&InFleet::late_passes>("late_passes", "Those of them in which this rank was."),
    field<&InFleet::begins, kMoments>("begins", if_known,
                                      "Passes of the first number, from the moment agreed for each."),
    field<&InFleet::ends, kMoments>("ends", if_known),
};
constexpr Shape kInFleet = record(kInFleetFields, "Key, pace, rank and round tell results of a fleet apart.");

/// The fields of a result, with one of the two shapes of measurements.
template <const Shape& measurement>
constexpr std::array kResultFieldsWith{
    case_field<&StoredCase::scenario, &Case::scenario, kWord>("scenario"),
    case_field<&StoredCase::key, &Case::key, kKey>("key", "The same for the same case in every run on every machine."),
    case_field<&StoredCase::params, &Case::params, kEntriesOf<Param, &Param::name, kParam>>(
        "params", "Of each axis that applies; sizes in bytes."),
    field<&Result::in_fleet, kInFleet>("fleet", if_known),
    field<&Result::gpus, kListOf<int, kWhole<int>>>("gpus", if_known, "Indices of those that took part, of several."),
    field<&Result::status>("status", "failed: a wrong byte or an error: no number may be trusted. skipped: not run."),
    field<&Result::reason, kText>("reason", "Why it failed or was skipped; empty where all is well."),
    field<&Result::warnings>("warnings", "Sentences for people: what is doubtful about the numbers and what to do."),
    field<&Result::measurements, kMeasurementsAs<measurement>>(
        "measurements", "The first is what the case is about. A failed case keeps what it had."),
    field<&Result::metrics, kMetricsOfCase>("metrics", "Numbers derived from the measurements, by name."),
    metrics_of_gpus("gpu_metrics",
                    "Of single GPUs among several; each has the same names. Absent where there are none."),
    field<&Result::labels, kLabels>(
        "labels", optional,
        "Findings that are words. limited_by: link, kernel. limit_set_by: kernel, or the arrangement of both copies "
        "that is the limit (absent in older files: whole). suggestion: flags that should make it faster."),
    field<&Result::health, kHealthRecord>("health", if_known,
                                          "Around the case, or its last turn; absent where nothing is known."),
};
constexpr std::array kResultTies{
    Tie{.field = "status", .word = "ok", .empty = {"reason"}, .else_filled = {"reason"}},
    Tie{.field = "status", .word = "skipped", .empty = {"measurements", "metrics", "gpu_metrics"}},
};
constexpr Shape kResult =
    tied(record(kResultFieldsWith<kMeasurement>, "One case: what was asked, what came of it and what was measured."),
         kResultTies);

constexpr std::array kFindingFields{
    field<&Finding::scenario>("scenario"),
    field<&Finding::kind, kName>("kind", "What is said: fit, crossover, winner, ..."),
    field<&Finding::labels, kLabels>("labels", "What it is said of: values of axes, and words of its kind."),
    field<&Finding::metrics, kMetrics>("metrics", "Its numbers, by name."),
    field<&Finding::text>("text", if_known, "For people; absent where the numbers are all."),
    field<&Finding::detail>("detail", if_known, "Others sum it up; reports show it where all are asked for."),
};
constexpr Shape kFinding =
    record(kFindingFields, "What several results of one scenario say together, such as a fit over sizes.");

// --- Declarations ---------------------------------------------------------------------------------------------------

using Declaration = MetricDeclaration;
constexpr std::array kDeclarationFields{
    field<&Declaration::name>("name"),
    field<&Declaration::kind>("kind", "Samples, a number made of samples, or a word."),
    field<&Declaration::unit>("unit", if_known, "Absent for a label."),
    field<&Declaration::better>("better"),
    field<&Declaration::headline>("headline",
                                  "Whether a case is about it: of several the first that it has samples of."),
    field<&Declaration::heading, kText>("heading", "Of its column in tables; empty: it has none."),
    field<&Declaration::format>("format", "Of that column's cells."),
    field<&Declaration::help, kText>("help"),
    field<&Declaration::beside, kListOf<Declaration::Beside, kOneOf<Declaration::Beside>>>(
        "beside", if_known,
        "Further columns. interval: half its width; a metric's ends are the metrics NAME_low and NAME_high."),
};
constexpr Shape kDeclaration = on_one_line(
    record(kDeclarationFields, "What results of a scenario may have. A measurement and a metric may share a name."));
constexpr const Shape& kDeclarations = kListOf<Declaration, kDeclaration>;

/// An object keyed by the names of scenarios.
constexpr Shape kMetricsDeclared{.expected = "an object",
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
    field<&RankPlace::node>("node", "Counted in the order of their lowest ranks."),
    field<&RankPlace::local_rank>("local_rank", "Its number among those of its node."),
    field<&RankPlace::host>("host"),
    field<&RankPlace::tool>("tool", if_known, "The program's version and commit."),
    field<&RankPlace::environment, kEnvironment>("environment"),
};
constexpr Shape kRank = record(kRankFields, "One process of a fleet: where it ran and on what.");

constexpr std::size_t kMostRanks = 1'000'000;
constexpr const Shape& kRankNumbers = kListOf<int, kWhole<int>, kMostRanks>;

constexpr std::array kFlaggedFields{
    field<&Flagged::what>("what", "What is slow; rank: it is gone."),
    field<&Flagged::ranks, kRankNumbers>("ranks", "On which it shows; of a pair, who sends and who receives."),
    field<&Flagged::name>("name", "Which it is, for people."),
    field<&Flagged::text>("text", "What is known of it: a sentence without its full stop."),
    field<&Flagged::shortfall>("shortfall", if_known, "The largest share by which it is below its group's middle."),
    field<&Flagged::tests>("tests", if_known, "Cases with their paces in which it shows."),
};
constexpr Shape kFlagged = record(kFlaggedFields, "A part that is slower than its peers, or a rank that is missing.");

/// Ranks must be sorted, because they are found by binary search.
void check_ranks(Reader& in, std::vector<RankPlace>& ranks) {
  const auto wrong = std::ranges::adjacent_find(ranks, std::ranges::greater_equal{}, &RankPlace::rank);
  if (wrong == ranks.end()) return;
  in.fail(fmt::format("rank {} comes before rank {}, expected each rank once, in their order", wrong->rank,
                      std::next(wrong)->rank));
}

constexpr std::array kJudgementFields{
    field<&FleetJudgement::tests>("tests", "Tests that could say something."),
    field<&FleetJudgement::judged>("judged", "Of these, those with sure clocks and ranks to compare."),
    field<&FleetJudgement::unresolved>("unresolved", "Suspicions that no second round decided."),
};
constexpr Shape kJudgement = record(
    kJudgementFields, "Tests are cases at a pace, transfers with all partners together. Absent where none was made.");

constexpr std::array kFleetFields{
    field<&Fleet::mpi>("mpi", "The MPI library and its version."),
    field<&Fleet::clock_uncertainty>("clocks_off_by", "The largest of all ranks and cases, in seconds."),
    field<&Fleet::missing, kRankNumbers>("missing", "Ranks that did not answer any more."),
    field<&Fleet::flagged, kListOf<Flagged, kFlagged, kMostRanks>>(
        "flagged", "Parts that are slower than their peers, and missing ranks."),
    field<&Fleet::differences>("differences", Rule::optional,
                               "In what ranks differ, such as drivers. Absent in older files."),
    field<&Fleet::notes>("notes", "What limits the judgement."),
    field<&Fleet::judgement, kJudgement>("judgement", if_known),
    field<&Fleet::ranks, kListOf<RankPlace, kRank, kMostRanks, check_ranks>>("ranks"),
};
constexpr Shape kFleet = record(
    kFleetFields, "The ranks of a run under mpirun or srun, and what is judged of them; absent of a single process.");

// --- The file -------------------------------------------------------------------------------------------------------

/// Each identity may occur only once; otherwise the file would contradict itself.
void check_identities(Reader& in, const std::vector<Result>& results) {
  std::vector<std::string> identities;
  identities.reserve(results.size());
  std::ranges::transform(results, std::back_inserter(identities), &Result::identity);
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
  in.fail(report.fleet ? fmt::format("results[{}] has no 'fleet', expected the rank that measured it", index)
                       : fmt::format("results[{}] is of a rank, but the file has no 'fleet' that says which", index));
}

constexpr Shape kResults = named("results", kListOf<Result, kResult, kMostResults>);

constexpr const Shape& kTimes = kListOf<std::string, kTimeOrNone>;
constexpr std::array kFurtherFields{
    field<&FurtherProcess::started_at, kTime>("started_at"),
    field<&FurtherProcess::results, kResults>("results"),
};
constexpr Shape kFurther = record(kFurtherFields);
constexpr std::size_t kMostProcesses = 100;

constexpr std::array kReportFields{
    part("schema", kSchema<kVersion1>),
    field<&Report::complete>("complete", "Whether every case ran to its end; false while the run goes on."),
    field<&Report::verified>("verified", optional,
                             "False where --no-verify was given, for a part of it or all. Absent in older files."),
    field<&Report::started_at, kTime>("started_at", "When the run began: ISO 8601, UTC."),
    field<&Report::tool, kTool>("tool"),
    field<&Report::command, kRawTexts>("command", "The command line: xferbench and its arguments as given."),
    field<&Report::environment, kEnvironment>("environment"),
    field<&Report::metrics_declared, kMetricsDeclared>(
        "metrics_declared", optional,
        "What results may have, by scenario, in the order of columns; absent in older files."),
    field<&Report::results, kResults>(
        "results",
        "One for each case, of a fleet for each case, rank, pace and round, in the order in which they ran."),
    field<&Report::fleet, kFleet>("fleet", if_known),
    field<&Report::findings, kListOf<Finding, kFinding, kMostResults>>(
        "findings", optional, "What results say together; empty while the run goes on."),
    field<&Report::resumed_at, kTimes>("resumed_at", if_known, "When a run that had been stopped went on, each time."),
    field<&Report::further_processes, kListOf<FurtherProcess, kFurther, kMostProcesses>>(
        "further_processes", if_known,
        "Of a suite that takes several processes: what all but the first measured. compare takes each as a file of its "
        "own; all else in this file is of the first."),
};
constexpr Shape kReport = expecting(
    record(
        kReportFields,
        "What xferbench --json writes, version 1: fields are added, never renamed, removed or given another meaning. "
        "What is unknown is absent: never 0, null or a text. measurement.md and the pages in scenarios/ say how every "
        "number is made.",
        check_report),
    "a results file, as xferbench --json writes it");

/// In a journal, identities may occur several times: a case is appended again when more is known about it.
constexpr Shape kJournal = expecting(record(kReportFields), "a journal of xferbench");

// --- The machine alone ----------------------------------------------------------------------------------------------

constexpr std::string_view kInfoVersion1 = "xferbench-info/1";
constexpr std::array kFactsFields{
    part("schema", kSchema<kInfoVersion1>),
    field<&MachineFacts::tool, kTool>("tool"),
    field<&MachineFacts::environment, kEnvironment>("environment", if_known),
    field<&MachineFacts::no_gpu>("no_gpu", if_known),
    field<&MachineFacts::host, kHost>("host", if_known),
    field<&MachineFacts::limits, kMetrics>("limits", if_known),
    field<&MachineFacts::profiles, kLabels>("profiles"),
};
constexpr Shape kFacts = record(kFactsFields);

Report empty_report() {
  Report report;
  report.tool = {};
  return report;
}

}  // namespace

void write_json(const Report& report, const Sink& sink) { write(kReport, &report, sink); }

void write_json(const Report& report, const Sink& sink, const TextOfResult& text_of) {
  write(kReport, &report, sink, [&](const Shape& shape, const void* value) -> std::optional<std::string> {
    return &shape == &kResult ? text_of(as<Result>(value)) : std::nullopt;
  });
}

std::string beginning_of_json(const Report& report) {
  std::string text;
  const auto without_results = [](const Shape& shape, const void*) {
    return &shape == &kResults ? std::optional<std::string>("[") : std::nullopt;
  };
  write(
      kReport, &report, [&](std::string_view piece) { text += piece; }, without_results);
  constexpr std::string_view kList = "\n \"results\": [";  // no text contains a line feed
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

std::string to_json(const RankPlace& rank) { return text_of(kRank, &rank); }

std::string to_json(const MachineFacts& facts) { return text_of(kFacts, &facts); }

// On one line, for files with a record in each line.
constexpr Shape json::kToolLine = on_one_line(kTool);
constexpr Shape json::kEnvironmentLine = on_one_line(kEnvironment);
constexpr Shape json::kHealthLine = kHealth;

constexpr Shape json::kSentResult = record(kResultFieldsWith<kSentMeasurement>);
constexpr Shape json::kSentRank = kRank;
constexpr Shape json::kSentNumbers = kRankNumbers;
constexpr Shape json::kSentTexts = kVariables;

constexpr Shape json::kInterval{
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

namespace {

/// Reads the journal up to its first damage, if any, which is described in `damage`.
Report read_journal(const JournalBeside& journal, std::uint64_t bytes, std::string& damage) {
  Report report = empty_report();
  try {
    read_beginning(journal.file(), journal.path(), bytes, kEndOfUnfinished, {&kJournal, &report});
  } catch (const InputError& error) {
    damage = error.what();
    if (!report.results.empty()) report.results.pop_back();  // it was read only in part
  }
  return report;
}

}  // namespace

StoredReport read_stored(const std::string& path) {
  if (path == "-") return {.report = record_from_file(path, kReport, empty_report())};
  const JournalBeside journal(path);  // open it before the file, which may become complete in between
  StoredReport stored{.report = record_from_file(path, kReport, empty_report())};
  const std::optional<WholePart> part = journal.whole_part();
  if (!part) return stored;
  if (part->beginning == 0) {  // every journal begins with this part
    stored.damage = fmt::format("{}: it has no results", journal.path());
    return stored;
  }
  if (part->whole == part->beginning) return stored;
  const Report begun = read_journal(journal, part->beginning, stored.damage);
  stored.journal_is_of_another_run = stored.damage.empty() && !is_same_run(stored.report, begun);
  const bool says_more = !stored.report.complete && !stored.report.fleet;
  if (!says_more || !stored.damage.empty() || stored.journal_is_of_another_run) return stored;
  take_in(stored.report, std::move(read_journal(journal, part->whole, stored.damage).results));
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
    tell(
        fmt::format("{}; the journal is damaged there, and its results behind that are lost where {} does not have "
                    "them: --resume {} measures those again",
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

RankPlace parse_rank(std::string_view text, std::string_view name) {
  return record_from_text<RankPlace>(text, name, kRank);
}

}  // namespace xferbench
