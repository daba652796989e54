#include "results/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <tuple>

#include "core/error.hpp"
#include "core/standard_error.hpp"
#include "results/journal.hpp"
#include "results/json_shape.hpp"

namespace xferbench {

namespace {

using namespace json;

constexpr std::string_view kVersion1 = "xferbench/1";
constexpr std::size_t kMostResults = 1'000'000;  // more than all scenarios can plan together

using enum Rule;

// --- The tool and the machine ---------------------------------------------------------------------------------------

constexpr std::array kBuildFields{
    field<&Tool::compiler>("compiler"),
    field<&Tool::cuda>("cuda", if_known),
    field<&Tool::type>("type", if_known),
};
constexpr Shape kBuild = record(kBuildFields);

constexpr std::array kToolFields{
    field<&Tool::version>("version"),
    field<&Tool::git>("git", if_known),
    part("build", kBuild),
};
constexpr Shape kTool = record(kToolFields);

using Pcie = Environment::Pcie;
constexpr std::array kPcieFields{
    field<&Pcie::generation>("generation"),
    field<&Pcie::width>("width"),
    field<&Pcie::source>("source"),
    field<&Pcie::max_generation>("max_generation", if_known),
    field<&Pcie::max_width>("max_width", if_known),
    field<&Pcie::under_load>("under_load", optional),
    field<&Pcie::max_payload>("max_payload", if_known),
    field<&Pcie::max_read_request>("max_read_request", if_known),
};
constexpr Shape kPcie = record(kPcieFields);

using Gpu = Environment::Gpu;
constexpr std::array kGpuFields{
    field<&Gpu::name>("name"),
    field<&Gpu::index>("index", if_known),
    field<&Gpu::uuid>("uuid", if_known),
    field<&Gpu::pci_bus_id>("pci_bus_id", if_known),
    field<&Gpu::compute_capability>("compute_capability", if_known),
    field<&Gpu::multiprocessors>("multiprocessors", if_known),
    field<&Gpu::memory_bytes>("memory_bytes", if_known),
    field<&Gpu::l2_bytes>("l2_bytes", if_known),
    field<&Gpu::copy_engines>("copy_engines", if_known),
    field<&Gpu::max_sm_clock_hz>("max_sm_clock_hz", if_known),
    field<&Gpu::memory_bandwidth>("memory_bandwidth", if_known),
    field<&Gpu::ecc>("ecc", if_known),
    field<&Gpu::pcie, kPcie>("pcie", if_known),
    field<&Gpu::numa_node>("numa_node", if_known),
    field<&Gpu::bridges>("bridges", if_known),
    field<&Gpu::nvlinks>("nvlinks", if_known),
    field<&Gpu::nvlink_bandwidth>("nvlink_bandwidth", if_known),
    field<&Gpu::mig>("mig", if_known),
};
constexpr Shape kGpu = record(kGpuFields);

using PeerLink = Environment::PeerLink;
constexpr std::array kPeerLinkFields{
    field<&PeerLink::from>("from"),
    field<&PeerLink::to>("to"),
    field<&PeerLink::access>("access"),
    field<&PeerLink::atomics>("atomics"),
    field<&PeerLink::nvlinks>("nvlinks", if_known),
    field<&PeerLink::bandwidth>("nvlink_bandwidth", if_known),
};
constexpr Shape kPeerLink = record(kPeerLinkFields);

using Host = Environment::Host;
constexpr std::array kHostFields{
    field<&Host::cpu>("cpu", if_known),
    field<&Host::logical_cpus>("logical_cpus", if_known),
    field<&Host::memory_bytes>("memory_bytes", if_known),
    field<&Host::kernel>("kernel", if_known),
    field<&Host::numa_node>("numa_node", if_known),
    field<&Host::gpu_numa_node>("gpu_numa_node", if_known),
    field<&Host::numa_policy>("numa_policy", if_known),
    field<&Host::numa_note>("numa_note", if_known),
};
constexpr Shape kHost = record(kHostFields);

using Label = Labels::value_type;
constexpr Shape kLabel{.expected = "a text",
                       .take = [](Reader& in, void* into) { as<Label>(into).second = in.as_text(); },
                       .give = [](const void* from) -> Single { return as<Label>(from).second; }};
constexpr const Shape& kLabels = kEntriesOf<Label, &Label::first, kLabel>;

constexpr Shape kBackend{.expected = "a text",
                         .take =
                             [](Reader& in, void* into) {
                               constexpr std::array<std::string_view, 2> kBackends{"cuda", "simulated"};
                               as<std::string>(into) = kBackends[in.as_one_of(kBackends)];
                             },
                         .give = [](const void* from) -> Single { return as<std::string>(from); }};

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
                               }};
constexpr const Shape& kProfileChanges = kEntriesOf<ProfileChange, &ProfileChange::name, kProfileChange>;

constexpr std::array kEnvironmentFields{
    field<&Environment::backend, kBackend>("backend"),
    field<&Environment::profile>("profile", if_known),
    field<&Environment::profile_base>("profile_base", if_known),
    field<&Environment::profile_changes, kProfileChanges>("profile_changes", if_known),
    field<&Environment::gpu, kGpu>("gpu"),
    field<&Environment::gpus, kListOf<Gpu, kGpu>>("gpus", if_known),
    field<&Environment::links, kListOf<PeerLink, kPeerLink>>("links", if_known),
    field<&Environment::driver>("driver", if_known),
    field<&Environment::runtime>("runtime", if_known),
    field<&Environment::host, kHost>("host"),
    field<&Environment::variables, kLabels>("variables"),
};
constexpr Shape kEnvironment = record(kEnvironmentFields);

// --- Measurements ---------------------------------------------------------------------------------------------------

constexpr std::array kWarmupFields{
    field<&Measurement::warmup_runs>("runs"),
    field<&Measurement::warmup_converged>("converged"),
};
constexpr Shape kWarmup = record(kWarmupFields);

constexpr std::array kOutliersFields{
    field<&Measurement::outliers_mild>("mild"),
    field<&Measurement::outliers_severe>("severe"),
};
constexpr Shape kOutliers = record(kOutliersFields);

/// How many samples there are: said beside them, so that a file that was cut by hand is noticed.
constexpr Shape kSampleCount{
    .expected = "a whole number of 0 or more",
    .take = [](Reader& in, void*) { in.note(in.as_whole(0, std::numeric_limits<std::uint64_t>::max())); },
    .give = [](const void* measurement) -> Single { return as<Measurement>(measurement).samples.size(); }};

constexpr const Shape& kSamples = kListOf<double, kAmount, std::numeric_limits<std::size_t>::max()>;

/// A field that is a vector of samples, wherever these are.
constexpr Field samples_field(std::string_view name) {
  return {name, required, &kSamples, [](void* m) -> void* { return &as<Measurement>(m).samples.held(); },
          [](const void* m, bool) -> const void* { return &as<Measurement>(m).samples.held(); }};
}

/// What the statistics say of samples: of none, nothing.
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

constexpr std::array kMeasurementFields{
    field<&Measurement::name>("name"),
    field<&Measurement::gpu>("gpu", if_known),
    field<&Measurement::clock>("clock"),
    field<&Measurement::unit>("unit"),
    samples_field("samples"),
    part("n", kSampleCount),
    summary<&Measurement::min>("min"),
    summary<&Measurement::median>("median"),
    summary<&Measurement::max>("max"),
    field<&Measurement::ci95, kInterval>("ci95", if_known),
    field<&Measurement::p90>("p90", if_known),
    field<&Measurement::p99>("p99", if_known),
    field<&Measurement::stop>("stop"),
    field<&Measurement::batch, kWhole<unsigned, 1>>("batch"),
    part("warmup", kWarmup),
    part("outliers", kOutliers),
    field<&Measurement::gate_timeouts>("gate_timeouts", if_known),
    field<&Measurement::checked>("checked", if_known),
    field<&Measurement::flags>("flags"),
};
constexpr Shape kMeasurement = on_one_line(record(kMeasurementFields, check_measurement));

/// As it goes from process to process, which says what files leave out.
constexpr auto kSentMeasurementFields = with(kMeasurementFields, field<&Measurement::auxiliary>("auxiliary", if_known));
constexpr Shape kSentMeasurement = on_one_line(record(kSentMeasurementFields, check_measurement));

/// What one result has of a name: one of the case, and one of each GPU.
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
    field<&Metric::unit>("unit"),
};
constexpr Shape kMetric = record(kMetricFields);
bool is_number(const Metric& metric) { return std::isfinite(metric.value); }
constexpr const Shape& kMetrics = kEntriesOf<Metric, &Metric::name, kMetric, is_number>;

bool is_of_gpu(const Metric& metric) { return metric.gpu && is_number(metric); }
bool is_of_case(const Metric& metric) { return !metric.gpu && is_number(metric); }
void check_metrics(Reader& in, void* metrics) {
  in.give_back_spare(as<std::vector<Metric>>(metrics));
  check_names(in, as<std::vector<Metric>>(metrics));
}

/// Those of the case, by name.
constexpr Shape of_case(Shape metrics) {
  metrics.end = check_metrics;
  return metrics;
}
constexpr Shape kMetricsOfCase = of_case(kEntriesOf<Metric, &Metric::name, kMetric, is_of_case>);

/// Those of single GPUs: a list, since each has the same names. Both are kept in one.
constexpr std::array kGpuMetricFields{
    field<&Metric::name>("name"),
    field<&Metric::gpu>("gpu"),
    field<&Metric::value, kNumber>("value"),
    field<&Metric::unit>("unit"),
};
constexpr Shape kGpuMetric = on_one_line(record(kGpuMetricFields));
constexpr Shape kGpuMetrics{.expected = "a list",
                            .item = kListOf<Metric, kGpuMetric>.item,
                            .end = check_metrics,
                            .each = [](const void* metrics, const Visit& visit) {
                              for (const Metric& metric : as<std::vector<Metric>>(metrics)) {
                                if (is_of_gpu(metric)) visit({}, kGpuMetric, &metric);
                              }
                            }};

/// Absent where no GPU has any.
constexpr Field metrics_of_gpus(std::string_view name) {
  Field metrics = field<&Result::metrics, kGpuMetrics>(name, if_known);
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
                           }};

constexpr const Shape& kXids = kListOf<std::uint64_t, kWhole<std::uint64_t>>;
constexpr std::array kHealthFields{
    field<&Health::ecc_corrected>("ecc_corrected", if_known),
    field<&Health::ecc_uncorrected>("ecc_uncorrected", if_known),
    field<&Health::pcie_replays>("pcie_replays", if_known),
    field<&Health::link_generation>("link_generation", if_known),
    field<&Health::link_width>("link_width", if_known),
    field<&Health::throttle>("throttle", if_known),
    field<&Health::power>("power", if_known),
    field<&Health::temperature>("temperature", if_known),
    field<&Health::temperature_limit>("temperature_limit", if_known),
    field<&Health::xids, kXids>("xids", if_known),
};
constexpr Shape kHealth = on_one_line(record(kHealthFields));
constexpr std::array kHealthRecordFields{
    field<&HealthRecord::before, kHealth>("before"),
    field<&HealthRecord::after, kHealth>("after"),
};
constexpr Shape kHealthRecord = record(kHealthRecordFields);

/// A field that is kept in the result's case.
template <auto to_read, auto to_write, const Shape& shape>
constexpr Field case_field(std::string_view name) {
  return {name, required, &shape, [](void* result) -> void* { return &to_read(as<Result>(result).config); },
          [](const void* result, bool) -> const void* { return &(as<Result>(result).config.*to_write)(); }};
}

/// Which may lie before the moment that they count from, since clocks are not exact.
constexpr const Shape& kMoments = kListOf<double, kNumber, std::numeric_limits<std::size_t>::max()>;

constexpr std::array kInFleetFields{
    field<&InFleet::rank>("rank"),
    field<&InFleet::pace>("pace"),
    field<&InFleet::round, kWhole<unsigned, 1>>("round"),
    field<&InFleet::path>("path"),
    field<&InFleet::clock_uncertainty>("clocks_off_by"),
    field<&InFleet::passes>("passes", if_known),
    field<&InFleet::void_passes>("void_passes"),
    field<&InFleet::late_passes>("late_passes"),
    field<&InFleet::begins, kMoments>("begins", if_known),
    field<&InFleet::ends, kMoments>("ends", if_known),
};
constexpr Shape kInFleet = record(kInFleetFields);

/// A result with its measurements in one of their shapes.
template <const Shape& measurement>
constexpr std::array kResultFieldsWith{
    case_field<&StoredCase::scenario, &Case::scenario, kWord>("scenario"),
    case_field<&StoredCase::key, &Case::key, kWord>("key"),
    case_field<&StoredCase::params, &Case::params, kEntriesOf<Param, &Param::name, kParam>>("params"),
    field<&Result::in_fleet, kInFleet>("fleet", if_known),
    field<&Result::gpus, kListOf<int, kWhole<int>>>("gpus", if_known),
    field<&Result::status>("status"),
    field<&Result::reason, kText>("reason"),
    field<&Result::warnings>("warnings"),
    field<&Result::measurements, kMeasurementsAs<measurement>>("measurements"),
    field<&Result::metrics, kMetricsOfCase>("metrics"),
    metrics_of_gpus("gpu_metrics"),
    field<&Result::labels, kLabels>("labels", optional),
    field<&Result::health, kHealthRecord>("health", if_known),
};
constexpr Shape kResult = record(kResultFieldsWith<kMeasurement>);
constexpr Shape kSentResult = record(kResultFieldsWith<kSentMeasurement>);

constexpr std::array kFindingFields{
    field<&Finding::scenario>("scenario"),      field<&Finding::kind>("kind"),
    field<&Finding::labels, kLabels>("labels"), field<&Finding::metrics, kMetrics>("metrics"),
    field<&Finding::text>("text", if_known),    field<&Finding::detail>("detail", if_known),
};
constexpr Shape kFinding = record(kFindingFields);

// --- Declarations ---------------------------------------------------------------------------------------------------

using Declaration = MetricDeclaration;
constexpr std::array kDeclarationFields{
    field<&Declaration::name>("name"),
    field<&Declaration::kind>("kind"),
    field<&Declaration::unit>("unit", if_known),
    field<&Declaration::better>("better"),
    field<&Declaration::headline>("headline"),
    field<&Declaration::heading, kText>("heading"),
    field<&Declaration::format>("format"),
    field<&Declaration::help, kText>("help"),
    field<&Declaration::beside, kListOf<Declaration::Beside, kOneOf<Declaration::Beside>>>("beside", if_known),
};
constexpr Shape kDeclaration = on_one_line(record(kDeclarationFields));
constexpr const Shape& kDeclarations = kListOf<Declaration, kDeclaration>;

/// By the name of the scenario.
constexpr Shape kMetricsDeclared{.expected = "an object",
                                 .is_object = true,
                                 .entry = [](Reader& in, void* declared, std::string_view scenario) -> Target {
                                   auto& all = as<MetricsDeclared>(declared);
                                   in.refuse_more_than(kMostEntries, all.size());
                                   constexpr std::size_t kNode = 128;  // of the map, about
                                   in.account_for(kNode);
                                   const auto [entry, is_new] = all.try_emplace(in.kept(std::string(scenario)));
                                   if (!is_new) in.refuse_twice({scenario, scenario});
                                   return {&kDeclarations, &entry->second};
                                 },
                                 .each =
                                     [](const void* declared, const Visit& visit) {
                                       for (const auto& [scenario, metrics] : as<MetricsDeclared>(declared))
                                         visit(scenario, kDeclarations, &metrics);
                                     }};

// --- Fleets ---------------------------------------------------------------------------------------------------------

constexpr std::array kRankFields{
    field<&RankPlace::rank>("rank"),
    field<&RankPlace::node>("node"),
    field<&RankPlace::local_rank>("local_rank"),
    field<&RankPlace::host>("host"),
    field<&RankPlace::tool>("tool", if_known),
    field<&RankPlace::environment, kEnvironment>("environment"),
};
constexpr Shape kRank = record(kRankFields);

constexpr std::size_t kMostRanks = 1'000'000;
constexpr const Shape& kRankNumbers = kListOf<int, kWhole<int>, kMostRanks>;

constexpr std::array kFlaggedFields{
    field<&Flagged::what>("what"),
    field<&Flagged::ranks, kRankNumbers>("ranks"),
    field<&Flagged::name>("name"),
    field<&Flagged::text>("text"),
    field<&Flagged::shortfall>("shortfall", if_known),
    field<&Flagged::tests>("tests", if_known),
};
constexpr Shape kFlagged = record(kFlaggedFields);

/// Ranks are looked up by their numbers, so they ascend.
void check_ranks(Reader& in, std::vector<RankPlace>& ranks) {
  const auto wrong = std::ranges::adjacent_find(ranks, std::ranges::greater_equal{}, &RankPlace::rank);
  if (wrong == ranks.end()) return;
  in.fail(fmt::format("rank {} comes before rank {}, expected each rank once, in their order", wrong->rank,
                      std::next(wrong)->rank));
}

constexpr std::array kJudgementFields{
    field<&FleetJudgement::tests>("tests"),
    field<&FleetJudgement::judged>("judged"),
    field<&FleetJudgement::unresolved>("unresolved"),
};
constexpr Shape kJudgement = record(kJudgementFields);

constexpr std::array kFleetFields{
    field<&Fleet::mpi>("mpi"),
    field<&Fleet::clock_uncertainty>("clocks_off_by"),
    field<&Fleet::missing, kRankNumbers>("missing"),
    field<&Fleet::flagged, kListOf<Flagged, kFlagged, kMostRanks>>("flagged"),
    field<&Fleet::differences>("differences", Rule::optional),
    field<&Fleet::notes>("notes"),
    field<&Fleet::judgement, kJudgement>("judgement", if_known),
    field<&Fleet::ranks, kListOf<RankPlace, kRank, kMostRanks, check_ranks>>("ranks"),
};
constexpr Shape kFleet = record(kFleetFields);

// --- The file -------------------------------------------------------------------------------------------------------

/// Identities tell results apart; a file that has one twice says two things of one case.
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

constexpr const Shape& kResults = kListOf<Result, kResult, kMostResults>;

constexpr std::array kFurtherFields{
    field<&FurtherProcess::started_at>("started_at"),
    field<&FurtherProcess::results, kResults>("results"),
};
constexpr Shape kFurther = record(kFurtherFields);
constexpr std::size_t kMostProcesses = 100;

constexpr std::array kReportFields{
    part("schema", kSchema<kVersion1>),
    field<&Report::complete>("complete"),
    field<&Report::verified>("verified", optional),
    field<&Report::started_at>("started_at"),
    field<&Report::tool, kTool>("tool"),
    field<&Report::command, kRawTexts>("command"),
    field<&Report::environment, kEnvironment>("environment"),
    field<&Report::metrics_declared, kMetricsDeclared>("metrics_declared", optional),
    field<&Report::results, kResults>("results"),
    field<&Report::fleet, kFleet>("fleet", if_known),
    field<&Report::findings, kListOf<Finding, kFinding, kMostResults>>("findings", optional),
    field<&Report::resumed_at>("resumed_at", if_known),
    field<&Report::further_processes, kListOf<FurtherProcess, kFurther, kMostProcesses>>("further_processes", if_known),
};
constexpr Shape kReport{.expected = "a results file, as xferbench --json writes it",
                        .is_object = true,
                        .fields = kReportFields,
                        .end = check_report};

/// A journal has a case once more each time that more is known of it.
constexpr Shape kJournal{.expected = "a journal of xferbench", .is_object = true, .fields = kReportFields};

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
  constexpr std::string_view kList = "\n \"results\": [";  // no text has a line's end in it
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

std::string to_json(const Result& result) { return text_of(kSentResult, &result); }

std::string to_json(const RankPlace& rank) { return text_of(kRank, &rank); }

std::string to_json(const MachineFacts& facts) { return text_of(kFacts, &facts); }

// On one line, for files of which each line is a record.
constexpr Shape json::kToolLine = on_one_line(kTool);
constexpr Shape json::kEnvironmentLine = on_one_line(kEnvironment);
constexpr Shape json::kHealthLine = kHealth;

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
        }};

namespace {

/// Up to where it is damaged, if it is; what is wrong there goes to `damage`.
Report read_journal(const JournalBeside& journal, std::uint64_t bytes, std::string& damage) {
  Report report = empty_report();
  try {
    read_beginning(journal.file(), journal.path(), bytes, kEndOfUnfinished, {&kJournal, &report});
  } catch (const InputError& error) {
    damage = error.what();
    if (!report.results.empty()) report.results.pop_back();  // only a part of it was read
  }
  return report;
}

}  // namespace

StoredReport read_stored(const std::string& path) {
  if (path == "-") return {.report = record_from_file(path, kReport, empty_report())};
  const JournalBeside journal(path);  // before the file, which may become complete in between
  StoredReport stored{.report = record_from_file(path, kReport, empty_report())};
  const std::optional<WholePart> part = journal.whole_part();
  if (!part) return stored;
  if (part->beginning == 0) {  // which a journal is made with
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
