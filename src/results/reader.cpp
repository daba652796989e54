#include "results/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cerrno>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "core/error.hpp"
#include "results/json_cursor.hpp"

namespace xferbench {

namespace {

constexpr std::string_view kSchema = "xferbench/1";
constexpr std::size_t kMostResults = 1'000'000;  // more than all scenarios can plan together
constexpr std::size_t kMostEntries = 10'000;     // of the smaller lists, such as metrics and warnings

// --- Fields of an object --------------------------------------------------------------------------------------------

enum class Need { optional, required };

/// A field of an object, and what reads its value into a T.
template <class T>
struct Field {
  std::string_view name;
  Need need;
  void (*read)(JsonCursor& in, T& into);
};

/// Reads an object by its fields. Others are read over; none may be there twice, and none that is required may lack.
template <class T, std::size_t n>
void read_object(JsonCursor& in, const std::array<Field<T>, n>& fields, T& into) {
  std::bitset<n> seen;
  std::size_t expected = 0;  // most files have the fields in this order
  in.object([&](std::string_view name) {
    std::size_t i = expected;
    for (std::size_t tried = 0; tried < n && fields[i % n].name != name; ++tried) ++i;
    i %= n;
    if (fields[i].name != name) return in.skip();
    if (seen[i]) in.fail("this field is there twice");
    seen[i] = true;
    expected = (i + 1) % n;
    fields[i].read(in, into);
  });
  for (std::size_t i = 0; i < n; ++i) {
    if (fields[i].need == Need::required && !seen[i]) in.fail(fmt::format("has no '{}'", fields[i].name));
  }
}

/// A text that says something.
std::string word(JsonCursor& in) {
  std::string text = in.text();
  if (text.empty()) in.fail("found an empty text, expected one that says something");
  return text;
}

void check_entries(JsonCursor& in, std::size_t entries) {
  if (entries == kMostEntries) in.fail(fmt::format("more than {} entries", kMostEntries));
}

std::vector<std::string> texts(JsonCursor& in) {
  std::vector<std::string> all;
  in.array([&](std::size_t) {
    check_entries(in, all.size());
    all.push_back(in.text());
  });
  return all;
}

/// An object whose names are not known beforehand; `read` makes the entry of a name. `name_of` says it again.
template <class Entry, class NameOf, class Read>
std::vector<Entry> entries(JsonCursor& in, const NameOf& name_of, const Read& read) {
  std::vector<Entry> all;
  in.object([&](std::string_view name) {
    check_entries(in, all.size());
    const bool twice = std::ranges::any_of(all, [&](const Entry& e) { return name_of(e) == name; });
    if (twice) in.fail("this name is there twice");
    all.push_back(read(std::string(name)));
  });
  return all;
}

using Words = std::vector<std::pair<std::string, std::string>>;

Words words(JsonCursor& in) {
  using Entry = std::pair<std::string, std::string>;
  return entries<Entry>(
      in, [](const Entry& e) { return std::string_view(e.first); },
      [&in](std::string name) {
        return Entry{std::move(name), in.text()};
      });
}

/// One of the values of an enumeration, by its text.
template <class Enumeration, std::size_t n>
Enumeration one_of(JsonCursor& in, const std::array<Enumeration, n>& values) {
  const std::string text = in.text();
  for (const Enumeration value : values) {
    if (to_text(value) == text) return value;
  }
  std::string known;
  for (const Enumeration value : values) known += (known.empty() ? "" : ", ") + std::string(to_text(value));
  in.fail(fmt::format("found {}, expected one of {}", quoted(text), known));
}

template <class Number>
Number small_count(JsonCursor& in) {
  return static_cast<Number>(in.count(static_cast<std::uint64_t>(std::numeric_limits<Number>::max())));
}

// --- The tool and the machine ---------------------------------------------------------------------------------------

constexpr std::array<Field<StoredTool>, 3> kBuild{{
    {"compiler", Need::required, [](JsonCursor& in, StoredTool& tool) { tool.compiler = word(in); }},
    {"cuda", Need::optional, [](JsonCursor& in, StoredTool& tool) { tool.cuda = word(in); }},
    {"type", Need::optional, [](JsonCursor& in, StoredTool& tool) { tool.type = word(in); }},
}};

constexpr std::array<Field<StoredTool>, 3> kTool{{
    {"version", Need::required, [](JsonCursor& in, StoredTool& tool) { tool.version = word(in); }},
    {"git", Need::optional, [](JsonCursor& in, StoredTool& tool) { tool.git = word(in); }},
    {"build", Need::required, [](JsonCursor& in, StoredTool& tool) { read_object(in, kBuild, tool); }},
}};

using Pcie = Environment::Pcie;
constexpr std::array<Field<Pcie>, 6> kPcie{{
    {"generation", Need::required, [](JsonCursor& in, Pcie& link) { link.generation = small_count<unsigned>(in); }},
    {"width", Need::required, [](JsonCursor& in, Pcie& link) { link.width = small_count<unsigned>(in); }},
    {"source", Need::required, [](JsonCursor& in, Pcie& link) { link.source = word(in); }},
    {"max_generation", Need::optional,
     [](JsonCursor& in, Pcie& link) { link.max_generation = small_count<unsigned>(in); }},
    {"max_width", Need::optional, [](JsonCursor& in, Pcie& link) { link.max_width = small_count<unsigned>(in); }},
    {"under_load", Need::optional, [](JsonCursor& in, Pcie& link) { link.under_load = in.boolean(); }},
}};

using Gpu = Environment::Gpu;
constexpr std::array<Field<Gpu>, 13> kGpu{{
    {"name", Need::required, [](JsonCursor& in, Gpu& gpu) { gpu.name = word(in); }},
    {"index", Need::optional, [](JsonCursor& in, Gpu& gpu) { gpu.index = small_count<int>(in); }},
    {"uuid", Need::optional, [](JsonCursor& in, Gpu& gpu) { gpu.uuid = word(in); }},
    {"pci_bus_id", Need::optional, [](JsonCursor& in, Gpu& gpu) { gpu.pci_bus_id = word(in); }},
    {"compute_capability", Need::optional, [](JsonCursor& in, Gpu& gpu) { gpu.compute_capability = word(in); }},
    {"multiprocessors", Need::optional,
     [](JsonCursor& in, Gpu& gpu) { gpu.multiprocessors = small_count<unsigned>(in); }},
    {"memory_bytes", Need::optional, [](JsonCursor& in, Gpu& gpu) { gpu.memory_bytes = in.count(); }},
    {"l2_bytes", Need::optional, [](JsonCursor& in, Gpu& gpu) { gpu.l2_bytes = in.count(); }},
    {"copy_engines", Need::optional, [](JsonCursor& in, Gpu& gpu) { gpu.copy_engines = small_count<unsigned>(in); }},
    {"max_sm_clock_hz", Need::optional, [](JsonCursor& in, Gpu& gpu) { gpu.max_sm_clock_hz = in.amount(); }},
    {"memory_bandwidth", Need::optional, [](JsonCursor& in, Gpu& gpu) { gpu.memory_bandwidth = in.amount(); }},
    {"ecc", Need::optional, [](JsonCursor& in, Gpu& gpu) { gpu.ecc = in.boolean(); }},
    {"pcie", Need::optional, [](JsonCursor& in, Gpu& gpu) { read_object(in, kPcie, *(gpu.pcie = Pcie())); }},
}};

using Host = Environment::Host;
constexpr std::array<Field<Host>, 8> kHost{{
    {"cpu", Need::optional, [](JsonCursor& in, Host& host) { host.cpu = word(in); }},
    {"logical_cpus", Need::optional, [](JsonCursor& in, Host& host) { host.logical_cpus = small_count<unsigned>(in); }},
    {"memory_bytes", Need::optional, [](JsonCursor& in, Host& host) { host.memory_bytes = in.count(); }},
    {"kernel", Need::optional, [](JsonCursor& in, Host& host) { host.kernel = word(in); }},
    {"numa_node", Need::optional, [](JsonCursor& in, Host& host) { host.numa_node = small_count<int>(in); }},
    {"gpu_numa_node", Need::optional, [](JsonCursor& in, Host& host) { host.gpu_numa_node = small_count<int>(in); }},
    {"numa_policy", Need::optional, [](JsonCursor& in, Host& host) { host.numa_policy = word(in); }},
    {"numa_note", Need::optional, [](JsonCursor& in, Host& host) { host.numa_note = word(in); }},
}};

std::string backend(JsonCursor& in) {
  std::string name = in.text();
  if (name != "cuda" && name != "simulated") {
    in.fail(fmt::format("found {}, expected one of cuda, simulated", quoted(name)));
  }
  return name;
}

constexpr std::array<Field<Environment>, 7> kEnvironment{{
    {"backend", Need::required, [](JsonCursor& in, Environment& e) { e.backend = backend(in); }},
    {"profile", Need::optional, [](JsonCursor& in, Environment& e) { e.profile = word(in); }},
    {"gpu", Need::required, [](JsonCursor& in, Environment& e) { read_object(in, kGpu, e.gpu); }},
    {"driver", Need::optional, [](JsonCursor& in, Environment& e) { e.driver = word(in); }},
    {"runtime", Need::optional, [](JsonCursor& in, Environment& e) { e.runtime = word(in); }},
    {"host", Need::required, [](JsonCursor& in, Environment& e) { read_object(in, kHost, e.host); }},
    {"variables", Need::required, [](JsonCursor& in, Environment& e) { e.variables = words(in); }},
}};

// --- Results --------------------------------------------------------------------------------------------------------

constexpr std::array<Field<Measurement>, 2> kWarmup{{
    {"runs", Need::required, [](JsonCursor& in, Measurement& m) { m.warmup_runs = in.count(); }},
    {"converged", Need::required, [](JsonCursor& in, Measurement& m) { m.warmup_converged = in.boolean(); }},
}};

constexpr std::array<Field<Measurement>, 2> kOutliers{{
    {"mild", Need::required, [](JsonCursor& in, Measurement& m) { m.outliers_mild = in.count(); }},
    {"severe", Need::required, [](JsonCursor& in, Measurement& m) { m.outliers_severe = in.count(); }},
}};

/// A measurement, and what the file says beside it that must agree with it.
struct ReadMeasurement : Measurement {
  std::uint64_t n = 0;
  bool has_min = false;
  bool has_median = false;
  bool has_max = false;
};

void read_interval(JsonCursor& in, ReadMeasurement& m) {
  std::array<double, 2> ends{};
  std::size_t count = 0;
  in.array([&](std::size_t i) {
    if (i == ends.size()) in.fail("found a third number, expected two: low and high");
    ends[i] = in.number();
    count = i + 1;
  });
  if (count != ends.size()) in.fail(fmt::format("found {} numbers, expected two: low and high", count));
  if (ends[0] > ends[1]) in.fail("found low above high");
  m.ci95 = Interval{ends[0], ends[1]};
}

void read_samples(JsonCursor& in, ReadMeasurement& m) {
  in.array([&](std::size_t) { m.samples.push_back(in.amount()); });
  m.samples.shrink_to_fit();
}

unsigned batch(JsonCursor& in) {
  const auto count = small_count<unsigned>(in);
  if (count == 0) in.fail("found the number 0, expected 1 or more");
  return count;
}

constexpr std::array kClocks{Clock::event_gated, Clock::event, Clock::host, Clock::cpu, Clock::device};
constexpr std::array kStops{Stop::ci, Stop::budget, Stop::max_samples, Stop::interrupted};
constexpr std::array kStatuses{Status::ok, Status::failed, Status::skipped};

using M = ReadMeasurement;
constexpr std::array<Field<M>, 17> kMeasurement{{
    {"name", Need::required, [](JsonCursor& in, M& m) { m.name = word(in); }},
    {"clock", Need::required, [](JsonCursor& in, M& m) { m.clock = one_of(in, kClocks); }},
    {"unit", Need::required, [](JsonCursor& in, M& m) { m.unit = word(in); }},
    {"samples", Need::required, read_samples},
    {"n", Need::required, [](JsonCursor& in, M& m) { m.n = in.count(); }},
    {"min", Need::optional, [](JsonCursor& in, M& m) { m.has_min = true, m.min = in.amount(); }},
    {"median", Need::optional, [](JsonCursor& in, M& m) { m.median = in.amount(), m.has_median = true; }},
    {"max", Need::optional, [](JsonCursor& in, M& m) { m.max = in.amount(), m.has_max = true; }},
    {"ci95", Need::optional, read_interval},
    {"p90", Need::optional, [](JsonCursor& in, M& m) { m.p90 = in.amount(); }},
    {"p99", Need::optional, [](JsonCursor& in, M& m) { m.p99 = in.amount(); }},
    {"stop", Need::required, [](JsonCursor& in, M& m) { m.stop = one_of(in, kStops); }},
    {"batch", Need::required, [](JsonCursor& in, M& m) { m.batch = batch(in); }},
    {"warmup", Need::required, [](JsonCursor& in, M& m) { read_object<Measurement>(in, kWarmup, m); }},
    {"outliers", Need::required, [](JsonCursor& in, M& m) { read_object<Measurement>(in, kOutliers, m); }},
    {"gate_timeouts", Need::optional, [](JsonCursor& in, M& m) { m.gate_timeouts = in.count(); }},
    {"flags", Need::required, [](JsonCursor& in, M& m) { m.flags = texts(in); }},
}};

Measurement read_measurement(JsonCursor& in) {
  ReadMeasurement m;
  read_object(in, kMeasurement, m);
  if (m.n != m.samples.size()) in.fail(fmt::format("n is {}, but there are {} samples", m.n, m.samples.size()));
  if (m.n > 0 && !(m.has_min && m.has_median && m.has_max)) in.fail("has samples, but not min, median and max");
  if (m.n > 0 && !(m.min <= m.median && m.median <= m.max)) in.fail("its median does not lie between its min and max");
  return m;
}

constexpr std::array<Field<Metric>, 2> kMetric{{
    {"value", Need::required, [](JsonCursor& in, Metric& metric) { metric.value = in.number(); }},
    {"unit", Need::required, [](JsonCursor& in, Metric& metric) { metric.unit = word(in); }},
}};

std::vector<Metric> metrics(JsonCursor& in) {
  return entries<Metric>(
      in, [](const Metric& metric) { return std::string_view(metric.name); },
      [&in](std::string name) {
        Metric metric;
        metric.name = std::move(name);
        read_object(in, kMetric, metric);
        return metric;
      });
}

using Param = StoredResult::Param;

Param param(JsonCursor& in, std::string name) {
  if (in.kind() == JsonCursor::Kind::text) return {std::move(name), in.text()};
  if (in.kind() != JsonCursor::Kind::number) in.wrong("a number or a text");
  std::uint64_t whole = 0;
  double real = 0;
  const bool is_whole = in.count_or_number(whole, real);
  return is_whole ? Param{std::move(name), whole} : Param{std::move(name), real};
}

std::vector<Param> params(JsonCursor& in) {
  return entries<Param>(
      in, [](const Param& p) { return std::string_view(p.name); },
      [&in](std::string name) { return param(in, std::move(name)); });
}

void read_measurements(JsonCursor& in, StoredResult& result) {
  in.array([&](std::size_t) {
    check_entries(in, result.measurements.size());
    Measurement m = read_measurement(in);
    if (result.measurement(m.name) != nullptr) in.fail(fmt::format("a second measurement {}", quoted(m.name)));
    result.measurements.push_back(std::move(m));
  });
  result.measurements.shrink_to_fit();
}

using R = StoredResult;
constexpr std::array<Field<R>, 9> kResult{{
    {"scenario", Need::required, [](JsonCursor& in, R& r) { r.scenario = word(in); }},
    {"key", Need::required, [](JsonCursor& in, R& r) { r.key = word(in); }},
    {"params", Need::required, [](JsonCursor& in, R& r) { r.params = params(in); }},
    {"status", Need::required, [](JsonCursor& in, R& r) { r.status = one_of(in, kStatuses); }},
    {"reason", Need::required, [](JsonCursor& in, R& r) { r.reason = in.text(); }},
    {"warnings", Need::required, [](JsonCursor& in, R& r) { r.warnings = texts(in); }},
    {"measurements", Need::required, read_measurements},
    {"metrics", Need::required, [](JsonCursor& in, R& r) { r.metrics = metrics(in); }},
    {"labels", Need::optional, [](JsonCursor& in, R& r) { r.labels = words(in); }},
}};

constexpr std::array<Field<Finding>, 5> kFinding{{
    {"scenario", Need::required, [](JsonCursor& in, Finding& f) { f.scenario = word(in); }},
    {"kind", Need::required, [](JsonCursor& in, Finding& f) { f.kind = word(in); }},
    {"labels", Need::required, [](JsonCursor& in, Finding& f) { f.labels = words(in); }},
    {"metrics", Need::required, [](JsonCursor& in, Finding& f) { f.metrics = metrics(in); }},
    {"text", Need::optional, [](JsonCursor& in, Finding& f) { f.text = word(in); }},
}};

// --- The file -------------------------------------------------------------------------------------------------------

void read_schema(JsonCursor& in, StoredReport&) {
  const std::string schema = in.text();
  if (schema == kSchema) return;
  in.fail(fmt::format("found {}, expected '{}': a file of another kind or of another version of xferbench",
                      quoted(schema), kSchema));
}

void read_results(JsonCursor& in, StoredReport& report) {
  in.array([&](std::size_t i) {
    if (i == kMostResults) in.fail(fmt::format("more than {} results", kMostResults));
    read_object(in, kResult, report.results.emplace_back());
  });
}

void read_findings(JsonCursor& in, StoredReport& report) {
  in.array([&](std::size_t i) {
    if (i == kMostResults) in.fail(fmt::format("more than {} findings", kMostResults));
    read_object(in, kFinding, report.findings.emplace_back());
  });
}

constexpr std::array<Field<StoredReport>, 9> kReport{{
    {"schema", Need::required, read_schema},
    {"complete", Need::required, [](JsonCursor& in, StoredReport& r) { r.complete = in.boolean(); }},
    {"started_at", Need::required, [](JsonCursor& in, StoredReport& r) { r.started_at = word(in); }},
    {"resumed_at", Need::optional, [](JsonCursor& in, StoredReport& r) { r.resumed_at = texts(in); }},
    {"tool", Need::required, [](JsonCursor& in, StoredReport& r) { read_object(in, kTool, r.tool); }},
    {"command", Need::required, [](JsonCursor& in, StoredReport& r) { r.command = texts(in); }},
    {"environment", Need::required,
     [](JsonCursor& in, StoredReport& r) { read_object(in, kEnvironment, r.environment); }},
    {"results", Need::required, read_results},
    {"findings", Need::optional, read_findings},
}};

/// Keys identify cases; a file that has one twice says two things of one case.
void check_keys(const JsonCursor& in, const std::vector<StoredResult>& results) {
  std::unordered_map<std::string_view, std::size_t> seen;
  seen.reserve(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto [first, is_new] = seen.emplace(results[i].key, i);
    if (is_new) continue;
    in.fail(fmt::format("results[{}] and results[{}] have the same key {}, expected one result for each case",
                        first->second, i, quoted(results[i].key)));
  }
}

StoredReport read_from(JsonCursor& in) {
  if (in.kind() != JsonCursor::Kind::object) in.wrong("a results file, as xferbench --json writes it");
  StoredReport report;
  read_object(in, kReport, report);
  in.end();
  check_keys(in, report.results);
  return report;
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

const Measurement* StoredResult::measurement(std::string_view name) const {
  const auto found = std::ranges::find(measurements, name, &Measurement::name);
  return found == measurements.end() ? nullptr : &*found;
}

const Metric* StoredResult::metric(std::string_view name) const {
  const auto found = std::ranges::find(metrics, name, &Metric::name);
  return found == metrics.end() ? nullptr : &*found;
}

std::string StoredResult::label(std::string_view name) const {
  const auto found = std::ranges::find(labels, name, &std::pair<std::string, std::string>::first);
  return found == labels.end() ? "" : found->second;
}

StoredReport read_report(const std::string& path) {
  if (path == "-") {
    JsonCursor in(stdin, "standard input");
    return read_from(in);
  }
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (!file) throw InputError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  JsonCursor in(file.get(), path);
  return read_from(in);
}

StoredReport parse_report(std::string_view text, std::string_view name) {
  JsonCursor in(text, name);
  return read_from(in);
}

}  // namespace xferbench
