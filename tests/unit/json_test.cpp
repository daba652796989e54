// The results file: read back by a parser of its own, because what it says counts and not how it is laid out.
#include "results/writer.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "unit/report_fixture.hpp"
#include "unit/support.hpp"
#include "version.hpp"

namespace xferbench {
namespace {

// --- A small JSON reader --------------------------------------------------------------------------------------------

/// One JSON value. Numbers keep their text, so that a whole number can be told from a fraction.
struct Json {
  struct Number {
    std::string text;
  };
  using Array = std::vector<Json>;
  using Object = std::map<std::string, Json>;
  std::variant<std::nullptr_t, bool, Number, std::string, Array, Object> value;

  [[nodiscard]] const Json& operator[](const std::string& key) const { return std::get<Object>(value).at(key); }
  [[nodiscard]] const Json& operator[](std::size_t i) const { return std::get<Array>(value).at(i); }
  [[nodiscard]] bool has(const std::string& key) const { return std::get<Object>(value).contains(key); }
  [[nodiscard]] std::size_t size() const {
    const auto* array = std::get_if<Array>(&value);
    return array != nullptr ? array->size() : std::get<Object>(value).size();
  }
  [[nodiscard]] const std::string& text() const { return std::get<std::string>(value); }
  [[nodiscard]] bool boolean() const { return std::get<bool>(value); }
  [[nodiscard]] double number() const { return std::stod(std::get<Number>(value).text); }
  /// As written: "8", not "8.0" or "\"8\"".
  [[nodiscard]] const std::string& digits() const { return std::get<Number>(value).text; }
};

/// Reads what RFC 8259 allows and throws at anything else (NaN, trailing commas, duplicate keys, what follows the end).
class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}
  Json read() {
    Json json = value();
    skip_blanks();
    if (at_ != text_.size()) fail();
    return json;
  }

 private:
  [[noreturn]] void fail() const { throw std::runtime_error("no JSON at " + text_.substr(at_, 20)); }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \n\t\r", at_), text_.size()); }
  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(const std::string& word) {
    skip_blanks();
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }
  void expect(const std::string& word) {
    if (!take(word)) fail();
  }

  Json value() {
    if (take("null")) return {nullptr};
    if (take("true")) return {true};
    if (take("false")) return {false};
    switch (peek()) {
      case '"': return {string()};
      case '[': return {array()};
      case '{': return {object()};
      default: return {number()};
    }
  }

  Json::Number number() {
    const std::size_t end = text_.find_first_not_of("+-.0123456789eE", at_);
    Json::Number number{text_.substr(at_, end - at_)};
    if (number.text.empty()) fail();
    at_ += number.text.size();
    return number;
  }

  std::string string() {
    expect("\"");
    std::string text;
    while (at_ < text_.size() && text_[at_] != '"') text += text_[at_] == '\\' ? escaped() : text_[at_++];
    expect("\"");
    return text;
  }
  char escaped() {
    const char kind = text_.at(at_ + 1);
    at_ += 2;
    if (kind == 'n') return '\n';
    if (kind == '"' || kind == '\\') return kind;
    fail();
  }

  Json::Array array() {
    Json::Array array;
    expect("[");
    if (take("]")) return array;
    do {
      array.push_back(value());
    } while (take(","));
    expect("]");
    return array;
  }

  Json::Object object() {
    Json::Object object;
    expect("{");
    if (take("}")) return object;
    do {
      skip_blanks();
      std::string key = string();
      expect(":");
      if (!object.emplace(std::move(key), value()).second) fail();
    } while (take(","));
    expect("}");
    return object;
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

Json written(const Report& report) { return Reader(to_json(report)).read(); }

/// One good result with everything that a result can have.
Report full_report() {
  Report report = test::simulated_report();
  report.environment.variables = {{"CUDA_MODULE_LOADING", "EAGER"}};
  report.environment.gpu.multiprocessors = 132;
  report.environment.gpu.memory_bytes = 150'000'000'000;
  Result r(test::copy_case("h2d", "pinned", 268435456));
  r.config.set({.name = "balance", .kind = AxisKind::real}, 0.5);
  r.warnings = {"drift (copy): the machine was not steady"};
  r.measurements = {
      test::measured("copy", Clock::event_gated, {0.001, 0.002, 0.002, 0.002, 0.002, 0.003}, 0.002, {0.001, 0.003})};
  r.measurements[0].batch = 4;
  r.measurements[0].warmup_runs = 18;
  r.measurements[0].warmup_converged = true;
  r.measurements[0].outliers_mild = 1;
  r.measurements[0].outliers_severe = 2;
  r.measurements[0].gate_timeouts = 3;
  r.measurements[0].flags = {"outliers"};
  r.add("bandwidth", 95.25, "GB/s");
  report.results = {r};
  return report;
}

Finding a_finding() { return {"copy", "fit", {{"stream-kind", "default"}}, {{"latency", 2e-6, "s"}}, ""}; }

// --- What the file says ---------------------------------------------------------------------------------------------

TEST(Json, NamesItsSchemaAndWhatMadeIt) {
  const Json json = written(full_report());
  EXPECT_EQ(json["schema"].text(), "xferbench/1");
  EXPECT_TRUE(json["complete"].boolean());
  EXPECT_EQ(json["started_at"].text(), "2026-11-21T10:00:00Z");
  EXPECT_EQ(json["tool"]["version"].text(), build::kVersion);
  EXPECT_EQ(json["tool"]["build"]["compiler"].text(), build::kCompiler);
  EXPECT_EQ(json["command"][1].text(), "copy");
}

TEST(Json, SaysWhetherTheRunIsComplete) {
  Report report = full_report();
  report.complete = false;
  EXPECT_FALSE(written(report)["complete"].boolean());
}

TEST(Json, SaysSimulatedAndByWhichProfile) {
  const Json environment = written(full_report())["environment"];
  EXPECT_EQ(environment["backend"].text(), "simulated");
  EXPECT_EQ(environment["profile"].text(), "h200");
  const Json real = written(test::real_report())["environment"];
  EXPECT_EQ(real["backend"].text(), "cuda");
  EXPECT_FALSE(real.has("profile"));
}

TEST(Json, KeepsNumbersNumbersAndWholeNumbersWhole) {
  const Json json = written(full_report());
  const Json result = json["results"][0];
  EXPECT_EQ(result["params"]["size"].digits(), "268435456");
  EXPECT_EQ(result["params"]["balance"].digits(), "0.5");
  EXPECT_EQ(result["params"]["dir"].text(), "h2d");
  EXPECT_EQ(json["environment"]["gpu"]["memory_bytes"].digits(), "150000000000");
  EXPECT_EQ(json["environment"]["gpu"]["pcie"]["generation"].digits(), "5");
}

TEST(Json, WritesAMeasurementWithItsSamplesInOrder) {
  const Json m = written(full_report())["results"][0]["measurements"][0];
  EXPECT_EQ(m["name"].text(), "copy");
  EXPECT_EQ(m["clock"].text(), "event-gated");
  EXPECT_EQ(m["unit"].text(), "s");
  EXPECT_EQ(m["n"].digits(), "6");
  ASSERT_EQ(m["samples"].size(), 6U);
  EXPECT_EQ(m["samples"][0].number(), 0.001);
  EXPECT_EQ(m["samples"][5].number(), 0.003);
  EXPECT_EQ(m["min"].number(), 0.001);
  EXPECT_EQ(m["median"].number(), 0.002);
  EXPECT_EQ(m["max"].number(), 0.003);
  EXPECT_EQ(m["ci95"].size(), 2U);
  EXPECT_EQ(m["ci95"][1].number(), 0.003);
  EXPECT_EQ(m["stop"].text(), "ci");
  EXPECT_EQ(m["batch"].digits(), "4");
  EXPECT_EQ(m["warmup"]["runs"].digits(), "18");
  EXPECT_TRUE(m["warmup"]["converged"].boolean());
  EXPECT_EQ(m["outliers"]["mild"].digits(), "1");
  EXPECT_EQ(m["outliers"]["severe"].digits(), "2");
  EXPECT_EQ(m["gate_timeouts"].digits(), "3");
  EXPECT_EQ(m["flags"][0].text(), "outliers");
}

TEST(Json, WritesSamplesToTheLastBit) {
  Report report = full_report();
  const double exact = 0.1 + 0.2;  // 0.30000000000000004: one bit away from 0.3
  report.results[0].measurements[0].samples = {exact};
  EXPECT_EQ(written(report)["results"][0]["measurements"][0]["samples"][0].number(), exact);
}

TEST(Json, WritesMetricsWithTheirUnits) {
  const Json metric = written(full_report())["results"][0]["metrics"]["bandwidth"];
  EXPECT_EQ(metric["value"].number(), 95.25);
  EXPECT_EQ(metric["unit"].text(), "GB/s");
}

TEST(Json, WritesFindings) {
  Report report = full_report();
  EXPECT_EQ(written(report)["findings"].size(), 0U);
  report.findings = {a_finding()};
  report.findings[0].metrics.push_back({"nan", std::numeric_limits<double>::quiet_NaN(), "1"});
  const Json finding = written(report)["findings"][0];
  EXPECT_EQ(finding["scenario"].text(), "copy");
  EXPECT_EQ(finding["kind"].text(), "fit");
  EXPECT_EQ(finding["labels"]["stream-kind"].text(), "default");
  EXPECT_EQ(finding["metrics"].size(), 1U) << "what is no number is left out";
  EXPECT_EQ(finding["metrics"]["latency"]["value"].number(), 2e-6);
  EXPECT_EQ(finding["metrics"]["latency"]["unit"].text(), "s");
  EXPECT_FALSE(finding.has("text"));
  report.findings[0].text = "a sentence";
  EXPECT_EQ(written(report)["findings"][0]["text"].text(), "a sentence");
}

TEST(Json, WritesStatusAndReason) {
  Report report = full_report();
  const Json good = written(report)["results"][0];
  EXPECT_EQ(good["status"].text(), "ok");
  EXPECT_EQ(good["reason"].text(), "");
  EXPECT_EQ(good["key"].text(), "copy/dir=h2d/host=pinned/size=256MiB/balance=0.5");
  EXPECT_EQ(good["warnings"].size(), 1U);
  report.results[0] = Result(test::copy_case("d2d", "", 4096));
  report.results[0].status = Status::skipped;
  report.results[0].reason = "not modelled";
  const Json skipped = written(report)["results"][0];
  EXPECT_EQ(skipped["status"].text(), "skipped");
  EXPECT_EQ(skipped["reason"].text(), "not modelled");
  EXPECT_EQ(skipped["measurements"].size(), 0U);
  EXPECT_EQ(skipped["metrics"].size(), 0U);
  EXPECT_FALSE(skipped["params"].has("host"));
  report.results[0].status = Status::failed;
  EXPECT_EQ(written(report)["results"][0]["status"].text(), "failed");
}

TEST(Json, WritesEveryClockAndEveryReasonToStop) {
  EXPECT_EQ(to_text(Clock::event_gated), "event-gated");
  EXPECT_EQ(to_text(Clock::event), "event");
  EXPECT_EQ(to_text(Clock::host), "host");
  EXPECT_EQ(to_text(Stop::ci), "ci");
  EXPECT_EQ(to_text(Stop::budget), "budget");
  EXPECT_EQ(to_text(Stop::max_samples), "max-samples");
  EXPECT_EQ(to_text(Stop::interrupted), "interrupted");
}

// --- What it leaves out ---------------------------------------------------------------------------------------------

TEST(Json, LeavesOutWhatIsUnknownInsteadOfWritingZero) {
  Report report = test::real_report();
  report.environment.gpu = {};
  report.environment.gpu.name = "Some GPU";
  report.environment.driver.clear();
  report.environment.host = {};
  const Json environment = written(report)["environment"];
  EXPECT_EQ(environment["gpu"].size(), 1U) << "only its name";
  EXPECT_FALSE(environment.has("driver"));
  EXPECT_FALSE(environment.has("runtime"));
  EXPECT_EQ(environment["host"].size(), 0U);
}

TEST(Json, KeepsAZeroThatIsKnown) {
  Report report = test::real_report();
  report.environment.gpu.index = 0;
  report.environment.gpu.ecc = false;
  report.environment.host.numa_node = 0;
  const Json environment = written(report)["environment"];
  EXPECT_EQ(environment["gpu"]["index"].digits(), "0");
  EXPECT_FALSE(environment["gpu"]["ecc"].boolean());
  EXPECT_EQ(environment["host"]["numa_node"].digits(), "0");
}

TEST(Json, WritesTheLinkAsItIsUnderLoadBesideWhatTheGpuCanDo) {
  Report report = test::real_report();
  report.environment.gpu.pcie = Environment::Pcie{4, 8, "nvml", 5, 16, true};
  const Json link = written(report)["environment"]["gpu"]["pcie"];
  EXPECT_EQ(link["generation"].digits(), "4");
  EXPECT_EQ(link["width"].digits(), "8");
  EXPECT_EQ(link["max_generation"].digits(), "5");
  EXPECT_EQ(link["max_width"].digits(), "16");
  EXPECT_TRUE(link["under_load"].boolean());
  report.environment.gpu.pcie = Environment::Pcie{4, 8, "profile"};
  const Json bare = written(report)["environment"]["gpu"]["pcie"];
  EXPECT_FALSE(bare.has("max_generation") || bare.has("max_width"));
  EXPECT_FALSE(bare["under_load"].boolean());
}

TEST(Json, WritesWhereTheProcessWasAskedToRunAndWhyItDoesNot) {
  Report report = test::real_report();
  report.environment.host.numa_policy = "local";
  EXPECT_FALSE(written(report)["environment"]["host"].has("numa_note"));
  report.environment.host.numa_note = "the GPU's NUMA node is not known";
  const Json host = written(report)["environment"]["host"];
  EXPECT_EQ(host["numa_policy"].text(), "local");
  EXPECT_EQ(host["numa_note"].text(), "the GPU's NUMA node is not known");
}

TEST(Json, LeavesOutAnIntervalThatDoesNotExist) {
  Report report = full_report();
  report.results[0].measurements[0].ci95.reset();
  report.results[0].measurements[0].gate_timeouts = 0;
  const Json m = written(report)["results"][0]["measurements"][0];
  EXPECT_FALSE(m.has("ci95"));
  EXPECT_FALSE(m.has("gate_timeouts"));
}

TEST(Json, WritesPercentilesWhereThereAreAny) {
  Report report = full_report();
  Measurement& m = report.results[0].measurements[0];
  EXPECT_FALSE(written(report)["results"][0]["measurements"][0].has("p90"));
  m.p90 = 0.0025;
  EXPECT_EQ(written(report)["results"][0]["measurements"][0]["p90"].number(), 0.0025);
  EXPECT_FALSE(written(report)["results"][0]["measurements"][0].has("p99"));
  m.p99 = 0.0029;
  EXPECT_EQ(written(report)["results"][0]["measurements"][0]["p99"].number(), 0.0029);
}

TEST(Json, LeavesOutTheSummaryOfNoSamples) {
  Report report = full_report();
  report.results[0].measurements[0].samples.clear();
  const Json m = written(report)["results"][0]["measurements"][0];
  EXPECT_EQ(m["n"].digits(), "0");
  for (const char* name : {"min", "median", "max"}) EXPECT_FALSE(m.has(name)) << name;
}

TEST(Json, LeavesOutMetricsThatAreNoNumber) {
  Report report = full_report();
  report.results[0].add("nan", std::numeric_limits<double>::quiet_NaN(), "1");
  report.results[0].add("infinite", std::numeric_limits<double>::infinity(), "1");
  const Json metrics = written(report)["results"][0]["metrics"];
  EXPECT_EQ(metrics.size(), 1U);
  EXPECT_TRUE(metrics.has("bandwidth"));
}

// --- What it survives -----------------------------------------------------------------------------------------------

TEST(Json, SurvivesBytesThatAreNoUtf8) {
  Report report = full_report();
  report.command = {"xferbench", "--json", "r\xE9sultats.json"};  // Latin-1
  report.environment.host.cpu = "CPU\xFF";
  const Json json = written(report);
  EXPECT_EQ(json["command"][2].text(), "r\xEF\xBF\xBDsultats.json") << "U+FFFD in its place";
  EXPECT_EQ(json["environment"]["host"]["cpu"].text(), "CPU\xEF\xBF\xBD");
}

TEST(Json, EscapesQuotesAndLineBreaks) {
  Report report = full_report();
  report.results[0].reason = "a \"quoted\" word\nand a \\ line";
  EXPECT_EQ(written(report)["results"][0]["reason"].text(), report.results[0].reason);
}

TEST(Json, IsValidWithoutAnyResult) {
  Report report = test::real_report();
  report.results.clear();
  EXPECT_EQ(written(report)["results"].size(), 0U);
  EXPECT_TRUE(to_json(report).ends_with("}\n"));
}

TEST(Json, IsTheSameForTheSameReport) { EXPECT_EQ(to_json(full_report()), to_json(full_report())); }

// --- Its contract ---------------------------------------------------------------------------------------------------

/// Exit code of scripts/validate-results for that text.
int validate(const std::string& text) {
  std::string path = (std::filesystem::temp_directory_path() / "xferbench-json-XXXXXX").string();
  const int file = mkstemp(path.data());
  if (file < 0) return -1;
  close(file);
  std::ofstream(path, std::ios::binary) << text;
  const std::string script = std::string(XFERBENCH_SOURCE_DIR) + "/scripts/validate-results";
  const int status = std::system(("'" + script + "' '" + path + "'").c_str());
  std::filesystem::remove(path);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Json, KeepsToItsSchema) {
  if (std::system("/usr/bin/python3 -c 'import jsonschema' 2> /dev/null") != 0) {
    GTEST_SKIP() << "Python's jsonschema is not installed (on Debian: apt install python3-jsonschema)";
  }
  Report report = full_report();
  report.results.emplace_back(test::copy_case("d2d", "", 4096));
  report.results.back().status = Status::skipped;
  report.results.back().reason = "not modelled";
  report.results.push_back(report.results[0]);
  report.results.back().status = Status::failed;
  report.results.back().reason = "wrong byte";
  report.results.back().measurements[0].samples.clear();
  report.results.back().measurements[0].ci95.reset();
  report.results.push_back(report.results[0]);
  Measurement& many = report.results.back().measurements[0];
  many.samples.assign(100, 0.002);
  many.p90 = 0.002;
  many.p99 = 0.002;
  report.findings = {a_finding(), a_finding()};
  report.findings[1].text = "a sentence";
  EXPECT_EQ(validate(to_json(report)), 0);
  Report placed = test::real_report();
  placed.environment.host.numa_policy = "node";
  placed.environment.gpu.pcie = Environment::Pcie{4, 8, "nvml", 5, 16, true};
  EXPECT_EQ(validate(to_json(placed)), 0);
  placed.environment.host.numa_policy = "somewhere";
  EXPECT_EQ(validate(to_json(placed)), 1);

  report.results[1].reason.clear();  // skipped for no reason
  EXPECT_EQ(validate(to_json(report)), 1) << "a file that breaks the contract must be noticed";
}

}  // namespace
}  // namespace xferbench
