// Results files read back: what the writer wrote, what is kept in docs/results, and what nobody should have written.
#include "results/reader.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "core/error.hpp"
#include "results/writer.hpp"
#include "unit/report_fixture.hpp"
#include "version.hpp"

namespace xferbench {
namespace {

namespace fs = std::filesystem;

Environment every_fact() {
  Environment e = test::simulated_report().environment;
  e.driver = "580.1";
  e.runtime = "13.0";
  e.variables = {{"CUDA_MODULE_LOADING", "EAGER"}, {"CUDA_VISIBLE_DEVICES", ""}};
  e.gpu.index = 1;
  e.gpu.uuid = "GPU-1";
  e.gpu.pci_bus_id = "0000:17:00.0";
  e.gpu.compute_capability = "9.0";
  e.gpu.multiprocessors = 132;
  e.gpu.memory_bytes = 150'000'000'000;
  e.gpu.l2_bytes = 60'000'000;
  e.gpu.copy_engines = 3;
  e.gpu.max_sm_clock_hz = 1.98e9;
  e.gpu.memory_bandwidth = 4.8e12;
  e.gpu.ecc = true;
  e.gpu.pcie = {5, 8, "nvml", 5, 16, true};
  e.host = {"Some CPU \"quoted\"", 64, 1ULL << 40, "6.1", 0, 1, "local", "no memory of its own \\ \t \xC3\xA9"};
  return e;
}

Result every_field() {
  Result r(test::copy_case("h2d", "pinned", 268435456));
  r.config.set({.name = "balance", .kind = AxisKind::real}, 1.0);
  r.warnings = {"drift (copy): the machine was not steady"};
  r.measurements = {
      test::measured("copy", Clock::event_gated, {0.001, 0.002, 0.1 / 3, 0.002, 0.002, 0.003}, 0.002, {0.001, 0.003}),
      test::measured("call", Clock::cpu, {1e-9}, 1e-9, {1e-9, 1e-9}), Measurement{}};
  Measurement& m = r.measurements[0];
  m.batch = 4;
  m.p90 = 0.0025;
  m.p99 = 0.0029;
  m.warmup_runs = 18;
  m.warmup_converged = true;
  m.outliers_mild = 1;
  m.outliers_severe = 2;
  m.gate_timeouts = 3;
  m.flags = {"outliers", "drift"};
  r.measurements[1].ci95.reset();
  r.measurements[2].name = "none";
  r.add("bandwidth", 95.25, "GB/s");
  r.add("saved", -0.125, "1");
  r.labels = {{"limited_by", "link"}};
  return r;
}

Report rich_report() {
  Report report = test::real_report();
  report.command = {"xferbench", "--json", "a b.json"};
  report.environment = every_fact();
  Result skipped(test::copy_case("d2h", "", 1));
  skipped.status = Status::skipped;
  skipped.reason = "no";
  Result failed(test::copy_case("d2d", "", 1));
  failed.status = Status::failed;
  failed.reason = "wrong byte";
  report.results = {every_field(), skipped, failed};
  report.findings = {{"copy", "fit", {{"dir", "h2d"}}, {{"latency", 2e-6, "s"}}, ""}, {"copy", "note", {}, {}, "text"}};
  return report;
}

void expect_same(const Environment& a, const Environment& b) {
  EXPECT_EQ(a.backend, b.backend);
  EXPECT_EQ(a.profile, b.profile);
  EXPECT_EQ(a.driver, b.driver);
  EXPECT_EQ(a.runtime, b.runtime);
  EXPECT_EQ(a.variables, b.variables);
  const auto gpu = [](const Environment& e) {
    return std::tie(e.gpu.name, e.gpu.index, e.gpu.uuid, e.gpu.pci_bus_id, e.gpu.compute_capability,
                    e.gpu.multiprocessors, e.gpu.memory_bytes, e.gpu.l2_bytes, e.gpu.copy_engines,
                    e.gpu.max_sm_clock_hz, e.gpu.memory_bandwidth, e.gpu.ecc);
  };
  EXPECT_EQ(gpu(a), gpu(b));
  const auto link = [](const Environment& e) {
    return std::tie(e.gpu.pcie->generation, e.gpu.pcie->width, e.gpu.pcie->source, e.gpu.pcie->max_generation,
                    e.gpu.pcie->max_width, e.gpu.pcie->under_load);
  };
  ASSERT_EQ(a.gpu.pcie.has_value(), b.gpu.pcie.has_value());
  if (a.gpu.pcie) {
    EXPECT_EQ(link(a), link(b));
  }
  const auto host = [](const Environment& e) {
    return std::tie(e.host.cpu, e.host.logical_cpus, e.host.memory_bytes, e.host.kernel, e.host.numa_node,
                    e.host.gpu_numa_node, e.host.numa_policy, e.host.numa_note);
  };
  EXPECT_EQ(host(a), host(b));
}

void expect_same(const Measurement& a, const Measurement& b) {
  const auto fields = [](const Measurement& m) {
    return std::tie(m.name, m.clock, m.unit, m.samples, m.batch, m.min, m.median, m.max, m.p90, m.p99, m.stop,
                    m.warmup_runs, m.warmup_converged, m.outliers_mild, m.outliers_severe, m.gate_timeouts, m.flags);
  };
  EXPECT_EQ(fields(a), fields(b));
  ASSERT_EQ(a.ci95.has_value(), b.ci95.has_value());
  if (!a.ci95) return;
  EXPECT_EQ(a.ci95->low, b.ci95->low);
  EXPECT_EQ(a.ci95->high, b.ci95->high);
}

void expect_same(const std::vector<Metric>& a, const std::vector<Metric>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(std::tie(a[i].name, a[i].value, a[i].unit), std::tie(b[i].name, b[i].value, b[i].unit));
  }
}

void expect_same(const Result& a, const StoredResult& b) {
  EXPECT_EQ(a.config.scenario(), b.scenario);
  EXPECT_EQ(a.config.key(), b.key);
  ASSERT_EQ(a.config.params().size(), b.params.size());
  for (std::size_t i = 0; i < b.params.size(); ++i) {
    EXPECT_EQ(a.config.params()[i].name, b.params[i].name);
    EXPECT_EQ(a.config.params()[i].value, b.params[i].value);
  }
  EXPECT_EQ(std::tie(a.status, a.reason, a.warnings, a.labels), std::tie(b.status, b.reason, b.warnings, b.labels));
  ASSERT_EQ(a.measurements.size(), b.measurements.size());
  for (std::size_t i = 0; i < a.measurements.size(); ++i) expect_same(a.measurements[i], b.measurements[i]);
  expect_same(a.metrics, b.metrics);
}

/// The message of the error that reading this text is; empty if there is none.
std::string complaint(const std::string& text) {
  try {
    static_cast<void>(parse_report(text, "f.json"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// What is said of the rich report with `from` replaced by `to` at its first place.
std::string complaint_with(const std::string& from, const std::string& to) {
  std::string text = to_json(rich_report());
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return complaint(text.replace(at, from.size(), to));
}

void expect_says(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << "'" << message << "' does not say '" << part << "'";
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_LT(message.size(), 400U) << message;
}

// --- What was written -----------------------------------------------------------------------------------------------

TEST(Reader, ReadsBackAllThatTheWriterWrote) {
  const Report report = rich_report();
  const StoredReport read = parse_report(to_json(report), "a");
  EXPECT_EQ(read.complete, report.complete);
  EXPECT_EQ(read.started_at, report.started_at);
  EXPECT_EQ(read.command, report.command);
  EXPECT_EQ(read.tool, (StoredTool{build::kVersion, build::kGit, build::kCompiler, build::kCuda, build::kType}));
  expect_same(report.environment, read.environment);
  ASSERT_EQ(read.results.size(), report.results.size());
  for (std::size_t i = 0; i < read.results.size(); ++i) expect_same(report.results[i], read.results[i]);
  ASSERT_EQ(read.findings.size(), 2U);
  EXPECT_EQ(read.findings[0].labels, report.findings[0].labels);
  expect_same(report.findings[0].metrics, read.findings[0].metrics);
  EXPECT_EQ(read.findings[1].text, "text");
}

TEST(Reader, ReadsAReportWithNothingInIt) {
  const StoredReport read = parse_report(to_json(test::real_report()), "a");
  EXPECT_TRUE(read.results.empty());
  EXPECT_TRUE(read.environment.gpu.pcie.has_value());
  EXPECT_FALSE(read.environment.gpu.ecc.has_value());
}

TEST(Reader, ReadsEveryResultsFileOfTheDocumentation) {
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(XFERBENCH_SOURCE_DIR) / "docs" / "results")) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path());
    const StoredReport read = read_report(entry.path().string());
    EXPECT_FALSE(read.results.empty());
    ++files;
  }
  EXPECT_GT(files, 20U);
}

TEST(Reader, FindsByName) {
  const StoredReport read = parse_report(to_json(rich_report()), "a");
  const StoredResult& r = read.results[0];
  EXPECT_EQ(r.measurement("call")->clock, Clock::cpu);
  EXPECT_EQ(r.measurement("nothing"), nullptr);
  EXPECT_EQ(r.metric("saved")->value, -0.125);
  EXPECT_EQ(r.metric("nothing"), nullptr);
  EXPECT_EQ(r.label("limited_by"), "link");
  EXPECT_EQ(r.label("nothing"), "");
}

TEST(Reader, IgnoresFieldsThatItDoesNotKnow) {
  EXPECT_EQ(complaint_with("\"complete\"", R"("later": {"a": [1, {"b": null}, true, "x"], "a": {}}, "complete")"), "");
  EXPECT_EQ(complaint_with("\"unit\"", R"("confidence": [[], {}], "unit")"), "");
}

TEST(Reader, ReadsEscapes) {
  const std::string text = complaint_with("\"xferbench/1\"", R"("\ud83d\ude00 \u00e9 \n")");
  expect_says(text, "found '\xF0\x9F\x98\x80 \xC3\xA9 ?'");
}

// --- What is wrong --------------------------------------------------------------------------------------------------

TEST(Reader, SaysWhereWhatIsWrongAndWhatWasExpected) {
  expect_says(complaint_with("0.001,", "\"fast\","),
              "results[0].measurements[0].samples[0]: found 'fast', expected a number");
  expect_says(complaint_with("0.001,", "-1,"),
              "results[0].measurements[0].samples[0]: found the number -1, expected a number of 0 or more");
  expect_says(complaint_with("0.001,", "NaN,"), "samples[0]: found 'N', expected a number");
  expect_says(complaint_with("0.001,", "1e999,"), "samples[0]: the number 1e999 is beyond what can be computed with");
  expect_says(complaint_with("\"n\": 6", "\"n\": 5"), "results[0].measurements[0]: n is 5, but there are 6 samples");
  expect_says(complaint_with("\"n\": 6", "\"n\": -6"), "found the number -6, expected a whole number of 0 or more");
  expect_says(complaint_with("\"n\": 6", "\"n\": 6.5"), "expected a whole number");
  expect_says(complaint_with("\"batch\": 4", "\"batch\": 99999999999"), "4294967295 at most");
  expect_says(complaint_with("\"event-gated\"", "\"sundial\""), "found 'sundial', expected one of event-gated, event");
  expect_says(complaint_with("\"complete\": true", "\"complete\": 1"),
              "complete: found the number 1, expected true or false");
  expect_says(complaint_with("\"median\": 0.002,", ""), "has samples, but not min, median and max");
  expect_says(complaint_with("\"key\"", "\"kez\""), "results[0]: has no 'key'");
  expect_says(complaint_with("\"backend\": \"simulated\"", "\"backend\": \"guessed\""), "environment.backend");
  expect_says(complaint_with("\"warnings\": [", "\"warnings\": [[[[["), "expected a text");
}

TEST(Reader, SaysTheLine) { expect_says(complaint("{\n\n \"schema\": 5}"), "f.json:3: schema: found the number 5"); }

TEST(Reader, RefusesAnotherSchema) {
  expect_says(complaint_with("xferbench/1", "xferbench/2"), "schema: found 'xferbench/2', expected 'xferbench/1'");
  expect_says(complaint("{}"), "has no 'schema'");
  expect_says(complaint(R"({"traceEvents": [{"ph": "X"}]})"), "has no 'schema'");
}

TEST(Reader, RefusesWhatIsThereTwice) {
  expect_says(complaint_with("\"complete\": true", "\"complete\": true, \"complete\": true"),
              "complete: this field is there twice");
  expect_says(complaint_with("\"size\": 268435456", "\"size\": 1, \"size\": 2"),
              "results[0].params.size: this name is there twice");
  Report report = rich_report();
  report.results.push_back(report.results[1]);
  expect_says(complaint(to_json(report)), "results[1] and results[3] have the same key 'copy/dir=d2h/size=1B'");
}

TEST(Reader, RefusesWhatIsNoResultsFile) {
  expect_says(complaint(""), "found the end of the file, expected a results file, as xferbench --json writes it");
  expect_says(complaint("hello"), "found 'h', expected a results file");
  expect_says(complaint(std::string("\0\x7F"
                                    "ELF",
                                    5)),
              "found the byte 0x00");
  expect_says(complaint("[1]"), "found a list");
  expect_says(complaint("{\"schema\": \"\xFF\xFE\"}"), "not UTF-8");
  expect_says(complaint(to_json(rich_report()) + "{}"), "found an object, expected the end of the file");
  expect_says(complaint(R"({"schema": "a\qb"})"), "followed by what JSON does not know");
  expect_says(complaint(R"({"schema": "\ud800"})"), "surrogate");
  expect_says(complaint("{\"schema\": \"a\nb\"}"), "0x0A within a text");
}

TEST(Reader, NeverBreaksHoweverAFileIsCutOff) {
  const std::string text = to_json(rich_report());
  const std::size_t end = text.rfind('}');
  for (std::size_t size = 0; size <= end; ++size) expect_says(complaint(text.substr(0, size)), "f.json:");
  EXPECT_EQ(complaint(text), "");
}

TEST(Reader, DoesNotFollowNestingDown) {
  const std::string deep(1'000'000, '[');
  expect_says(complaint(deep), "found a list");
  expect_says(complaint("{\"later\": " + deep), "later: nested more than 64 deep");
  std::string objects = "{\"later\": ";
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  expect_says(complaint(objects), "nested more than 64 deep");
}

TEST(Reader, RefusesTextsThatNobodyWrites) {
  expect_says(complaint("{\"schema\": \"" + std::string(2'000'000, 'x') + "\"}"), "more than 1 MiB");
  expect_says(complaint("{\"later\": " + std::string(2'000'000, '1') + "}"), "more than 1 MiB");
  expect_says(complaint("{\"schema\": \"" + std::string(1'000'000, 'x') + "\"}"), "xxx...'");
}

TEST(Reader, SaysWhyAFileCannotBeRead) {
  const auto complaint_of = [](const std::string& path) -> std::string {
    try {
      static_cast<void>(read_report(path));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint_of("/nowhere/base.json"), "cannot read /nowhere/base.json: No such file or directory");
  EXPECT_EQ(complaint_of("/"), "cannot read /: Is a directory");
  expect_says(complaint_of("/dev/null"), "found the end of the file");
  expect_says(complaint_of("/dev/zero"), "found the byte 0x00");
}

}  // namespace
}  // namespace xferbench
