#include "results/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

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
};
constexpr Shape kGpu = record(kGpuFields);

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

constexpr Shape kLabel{
    .expected = "a text",
    .text = [](Reader&, void* into, std::string& text) { as<Labels::value_type>(into).second = text; },
    .write = [](const void* from, Json& json) { json = as<Labels::value_type>(from).second; }};
constexpr const Shape& kLabels = kEntriesOf<Labels::value_type, &Labels::value_type::first, kLabel>;

constexpr Shape kBackend{.expected = "a text",
                         .text =
                             [](Reader& in, void* into, std::string& text) {
                               const std::array<std::string, 2> known{"cuda", "simulated"};
                               if (std::ranges::find(known, text) == known.end())
                                 in.refuse_unknown("found", text, known);
                               as<std::string>(into) = text;
                             },
                         .write = [](const void* from, Json& json) { json = as<std::string>(from); }};

constexpr std::array kEnvironmentFields{
    field<&Environment::backend, kBackend>("backend"),
    field<&Environment::profile>("profile", if_known),
    field<&Environment::gpu, kGpu>("gpu"),
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

constexpr Shape kInterval{.expected = "two numbers, low and high",
                          .item = [](Reader& in, void* interval, std::size_t index) -> Target {
                            in.refuse_more_than(2, index);
                            auto& [low, high] = as<Interval>(interval);
                            return {&kNumber, index == 0 ? &low : &high};
                          },
                          .end =
                              [](Reader& in, void* interval) {
                                const auto& [low, high] = as<Interval>(interval);
                                if (in.items() != 2) in.fail("expected two numbers, low and high");
                                if (low > high) in.fail("found low above high");
                              },
                          .write =
                              [](const void* from, Json& json) {
                                json = {as<Interval>(from).low, as<Interval>(from).high};
                              }};

/// How many samples there are: said beside them, so that a file that was cut by hand is noticed.
constexpr Shape kSampleCount{
    .expected = "a whole number of 0 or more",
    .whole = [](Reader& in, void*, std::uint64_t n) { in.note(n); },
    .write = [](const void* measurement, Json& json) { json = as<Measurement>(measurement).samples.size(); }};

constexpr const Shape& kSamples = kListOf<double, kAmount, std::numeric_limits<std::size_t>::max()>;

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

constexpr std::array kClocks{Clock::event_gated, Clock::event, Clock::host, Clock::cpu, Clock::device};
constexpr std::array kStops{Stop::ci, Stop::budget, Stop::max_samples, Stop::interrupted};

constexpr std::array kMeasurementFields{
    field<&Measurement::name>("name"),
    field<&Measurement::clock, kOneOf<Clock, kClocks>>("clock"),
    field<&Measurement::unit>("unit"),
    field<&Measurement::samples, kSamples>("samples"),
    part("n", kSampleCount),
    summary<&Measurement::min>("min"),
    summary<&Measurement::median>("median"),
    summary<&Measurement::max>("max"),
    field<&Measurement::ci95, kInterval>("ci95", if_known),
    field<&Measurement::p90>("p90", if_known),
    field<&Measurement::p99>("p99", if_known),
    field<&Measurement::stop, kOneOf<Stop, kStops>>("stop"),
    field<&Measurement::batch, kWhole<unsigned, 1>>("batch"),
    part("warmup", kWarmup),
    part("outliers", kOutliers),
    field<&Measurement::gate_timeouts>("gate_timeouts", if_known),
    field<&Measurement::flags>("flags"),
};
constexpr Shape kMeasurement = record(kMeasurementFields, check_measurement);

void check_names(Reader& in, std::vector<Measurement>& measurements) {
  std::vector<std::string_view> names;
  for (const Measurement& m : measurements) names.push_back(m.name);
  in.refuse_twice(std::move(names));
}

// --- Results --------------------------------------------------------------------------------------------------------

constexpr std::array kMetricFields{
    field<&Metric::value, kNumber>("value"),
    field<&Metric::unit>("unit"),
};
constexpr Shape kMetric{
    .expected = "an object", .is_object = true, .fields = kMetricFields, .write = [](const void* from, Json& json) {
      if (std::isfinite(as<Metric>(from).value)) {
        write_fields(kMetricFields, from, json);
      } else {
        json = Json(Json::value_t::discarded);
      }
    }};
constexpr const Shape& kMetrics = kEntriesOf<Metric, &Metric::name, kMetric>;

using Param = Case::Param;
constexpr Shape kParam{
    .expected = "a number or a text",
    .text =
        [](Reader&, void* into, std::string& text) {
          as<Param>(into) = {as<Param>(into).name, AxisKind::choice, text};
        },
    .whole = [](Reader&, void* into, std::uint64_t value) { as<Param>(into).value = value; },
    .number =
        [](Reader&, void* into, double value) {
          as<Param>(into) = {as<Param>(into).name, AxisKind::real, value};
        },
    .write = [](const void* from,
                Json& json) { std::visit([&](const auto& value) { json = value; }, as<Param>(from).value); }};

/// A field that is kept in the result's case.
template <auto part_of_case, const Shape& shape>
constexpr Field case_field(std::string_view name) {
  return {name, required, &shape, [](void* result) -> void* { return &part_of_case(as<Result>(result).config); },
          // Nothing is changed: the reference is for reading, which goes the same way.
          [](const void* result, bool) -> const void* {
            return &part_of_case(const_cast<Case&>(as<Result>(result).config));
          }};
}

constexpr std::array kStatuses{Status::ok, Status::failed, Status::skipped};

constexpr std::array kResultFields{
    case_field<&StoredCase::scenario, kWord>("scenario"),
    case_field<&StoredCase::key, kWord>("key"),
    case_field<&StoredCase::params, kEntriesOf<Param, &Param::name, kParam>>("params"),
    field<&Result::status, kOneOf<Status, kStatuses>>("status"),
    field<&Result::reason, kText>("reason"),
    field<&Result::warnings>("warnings"),
    field<&Result::measurements, kListOf<Measurement, kMeasurement, kMostEntries, check_names>>("measurements"),
    field<&Result::metrics, kMetrics>("metrics"),
    field<&Result::labels, kLabels>("labels", optional),
};
constexpr Shape kResult = record(kResultFields);

constexpr std::array kFindingFields{
    field<&Finding::scenario>("scenario"),      field<&Finding::kind>("kind"),
    field<&Finding::labels, kLabels>("labels"), field<&Finding::metrics, kMetrics>("metrics"),
    field<&Finding::text>("text", if_known),
};
constexpr Shape kFinding = record(kFindingFields);

// --- Declarations ---------------------------------------------------------------------------------------------------

using Declaration = MetricDeclaration;
constexpr std::array kBetter{Better::lower, Better::higher, Better::neither};
constexpr std::array kKinds{Declaration::Kind::measurement, Declaration::Kind::metric, Declaration::Kind::label};
constexpr std::array kFormats{Declaration::Format::number, Declaration::Format::seconds, Declaration::Format::percent,
                              Declaration::Format::ratio, Declaration::Format::word};
constexpr std::array kBesides{Declaration::Beside::interval, Declaration::Beside::clock, Declaration::Beside::p90,
                              Declaration::Beside::p99};

constexpr std::array kDeclarationFields{
    field<&Declaration::name>("name"),
    field<&Declaration::kind, kOneOf<Declaration::Kind, kKinds>>("kind"),
    field<&Declaration::unit>("unit", if_known),
    field<&Declaration::better, kOneOf<Better, kBetter>>("better"),
    field<&Declaration::headline>("headline"),
    field<&Declaration::heading, kText>("heading"),
    field<&Declaration::format, kOneOf<Declaration::Format, kFormats>>("format"),
    field<&Declaration::help, kText>("help"),
    field<&Declaration::beside, kListOf<Declaration::Beside, kOneOf<Declaration::Beside, kBesides>>>("beside",
                                                                                                     if_known),
};
constexpr Shape kDeclaration = record(kDeclarationFields);
constexpr const Shape& kDeclarations = kListOf<Declaration, kDeclaration>;

/// By the name of the scenario.
constexpr Shape kMetricsDeclared{.expected = "an object",
                                 .is_object = true,
                                 .entry = [](Reader& in, void* declared, std::string_view scenario) -> Target {
                                   auto& all = as<MetricsDeclared>(declared);
                                   in.refuse_more_than(kMostEntries, all.size());
                                   const auto [entry, is_new] = all.try_emplace(std::string(scenario));
                                   if (!is_new) in.refuse_twice({scenario, scenario});
                                   return {&kDeclarations, &entry->second};
                                 },
                                 .write =
                                     [](const void* declared, Json& json) {
                                       begin_object(json);
                                       for (const auto& [scenario, metrics] : as<MetricsDeclared>(declared)) {
                                         add_entry(json, scenario, kDeclarations, &metrics);
                                       }
                                     }};

// --- The file -------------------------------------------------------------------------------------------------------

/// Keys identify cases; a file that has one twice says two things of one case.
void check_keys(Reader& in, void* report) {
  const std::vector<Result>& results = as<Report>(report).results;
  std::unordered_map<std::string_view, std::size_t> seen;
  seen.reserve(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto [first, is_new] = seen.emplace(results[i].config.key(), i);
    if (is_new) continue;
    in.fail(fmt::format("results[{}] and results[{}] have the same key {}, expected one result for each case",
                        first->second, i, in_quotes(results[i].config.key())));
  }
}

constexpr std::array kReportFields{
    part("schema", kSchema<kVersion1>),
    field<&Report::complete>("complete"),
    field<&Report::started_at>("started_at"),
    field<&Report::tool, kTool>("tool"),
    field<&Report::command>("command"),
    field<&Report::environment, kEnvironment>("environment"),
    field<&Report::metrics_declared, kMetricsDeclared>("metrics_declared", optional),
    field<&Report::results, kListOf<Result, kResult, kMostResults>>("results"),
    field<&Report::findings, kListOf<Finding, kFinding, kMostResults>>("findings", optional),
    field<&Report::resumed_at>("resumed_at", if_known),
};
constexpr Shape kReport{.expected = "a results file, as xferbench --json writes it",
                        .is_object = true,
                        .fields = kReportFields,
                        .end = check_keys};

Report empty_report() {
  Report report;
  report.tool = {};
  return report;
}

// --- How it is laid out ---------------------------------------------------------------------------------------------

/// Names from the machine may hold any bytes; what is not UTF-8 becomes a replacement character, not an exception.
std::string in_one_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// On one line is what holds only single values, and what lies as deep as a measurement.
void lay_out(const Json& json, std::size_t level, std::string& text) {
  constexpr std::size_t kMeasurementLevel = 4;
  const auto holds_more = [](const Json& value) { return value.is_structured(); };
  if (level == kMeasurementLevel || std::ranges::none_of(json, holds_more)) {
    text += in_one_line(json);
    return;
  }
  const std::string indented = "\n" + std::string(level + 1, ' ');
  text += json.is_object() ? '{' : '[';
  bool first = true;
  for (const auto& [name, value] : json.items()) {
    text += (first ? "" : ",") + indented;
    if (json.is_object()) text += in_one_line(name) + ": ";
    lay_out(value, level + 1, text);
    first = false;
  }
  text += "\n" + std::string(level, ' ') + (json.is_object() ? '}' : ']');
}

}  // namespace

std::string to_json(const Report& report) {
  Json json;
  write(kReport, &report, json);
  std::string text;
  lay_out(json, 0, text);
  return text + "\n";
}

Report read_report(const std::string& path) {
  Report report = empty_report();
  read_file(path, {&kReport, &report});
  return report;
}

Report parse_report(std::string_view text, std::string_view name) {
  Report report = empty_report();
  read_text(text, name, {&kReport, &report});
  return report;
}

}  // namespace xferbench
