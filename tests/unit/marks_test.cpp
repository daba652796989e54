// Warnings such as SIMULATED or NOT VERIFIED are in every format of every report. Without them a modelled or wrong
// number would pass for a measurement.
#include <gtest/gtest.h>

#include <map>

#include "check/check.hpp"
#include "compare/compare.hpp"
#include "paper/writers.hpp"
#include "report/annotations.hpp"
#include "report/check/check_report.hpp"
#include "report/compare/compare_report.hpp"
#include "report/run/run_report.hpp"
#include "report/soak/soak_report.hpp"
#include "report/trace/timeline.hpp"
#include "results/json.hpp"
#include "unit/report_fixture.hpp"
#include "words/check.hpp"
#include "words/compare.hpp"
#include "words/repeat.hpp"
#include "words/run.hpp"
#include "words/soak.hpp"

namespace xferbench {
namespace {

using Formats = std::map<std::string, std::string>;

void add_document(Formats& formats, const std::string& kind, const Document& document) {
  formats[kind + " on a terminal"] = to_terminal(document, {.columns = 80});
  formats[kind + " in Markdown"] = to_markdown(document);
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// Adds one case with a trace.
Report with_a_case(Report report) {
  Result result(test::copy_case("h2d", "pinned", 1 << 20));
  result.measurements = {test::measured("copy", Clock::event_gated, {1e-3, 1e-3, 1e-3}, 1e-3, {1e-3, 1e-3})};
  result.trace = Trace{.source = "events", .activities = {{.name = "copy", .begin = 0, .end = 1e-3}}};
  report.results = {result};
  return report;
}

/// A run with every reason for a mark: simulated, not verified, incomplete, fault injected.
Report doubtful_run() {
  Report report = with_a_case(test::simulated_report());
  report.verified = false;
  report.complete = false;
  report.environment.profile_changes.push_back({.name = "inject", .value = "corrupt:copy:3"});
  return report;
}

Formats formats_of(const Report& report) {
  const std::array<const ScenarioDescriptor*, 1> scenarios{&test::copy_descriptor()};
  Formats formats;
  add_document(formats, "a run", document_of(report, scenarios));
  add_document(formats, "--repeat", document_of(report, {}, 2));
  formats["CSV"] = to_csv(report, scenarios);
  formats["OpenMetrics"] = to_openmetrics(report, scenarios);
  formats["JSON"] = to_json(report);
  formats["a timeline"] = to_chrome_trace(report);

  const NamedReport named{"r.json", report};
  const auto across = compare::across({&named, 1}, {.allow_simulated = true});
  add_document(formats, "side by side", document_of(across));
  const auto comparison = compare::compare({&named, 1}, {&named, 1}, {.allow_simulated = true});
  add_document(formats, "compare", document_of(comparison));
  formats["compare's JSON"] = to_json(comparison);
  formats["compare's annotations"] = joined(github_lines(annotations_of(comparison)));

  std::vector<NamedReport> nights;
  for (int i = 0; i < 5; ++i) {
    nights.push_back({std::to_string(i) + ".json", report});
    nights.back().report.started_at = "2026-03-0" + std::to_string(i + 1) + "T00:00:00Z";
  }
  add_document(formats, "a trend", document_of(compare::trend(nights, {})));

  const std::array checked{check::check(report, "r.json", {}, {.allow_simulated = true, .scenarios = scenarios})};
  add_document(formats, "check", document_of(AllChecked(checked)));
  formats["check's JSON"] = to_check_json(checked);
  formats["JUnit"] = to_check_junit(checked);
  formats["check's OpenMetrics"] = to_check_openmetrics(checked);
  formats["check's annotations"] = joined(github_lines(annotations_of(AllChecked(checked))));
  return formats;
}

/// Texts that express the mark in formats for programs and for people.
std::vector<std::string> signs_of(const std::string& mark) {
  if (mark == "SIMULATED") {
    return {"SIMULATED",
            ",simulated,h200,",
            "simulated=\"yes\"",
            "\"backend\": \"simulated\"",
            "\"simulated\": true",
            "\"simulated\":true",
            "\"simulated\": \"h200",
            "\"simulated\":\"h200",
            "name=\"simulated\" value=\"h200"};
  }
  if (mark == "NOT VERIFIED") {
    return {"NOT VERIFIED",        ",no,corrupt",        "verified=\"no\"",
            "\"verified\": false", "\"verified\":false", "name=\"verified\" value=\"no\""};
  }
  if (mark == "FAULT INJECTED") return {"corrupt:copy:3"};
  return {"INCOMPLETE",
          "incomplete",
          "xferbench_run_complete 0",
          "xferbench_check_complete{results=\"r.json\"} 0",
          "\"complete\": false",
          "\"complete\":false",
          "is not complete",
          ",corrupt:copy:3,no,"};
}

bool has_any(const std::string& text, const std::vector<std::string>& signs) {
  return std::ranges::any_of(signs, [&](const std::string& sign) { return text.find(sign) != std::string::npos; });
}

TEST(Marks, StandInEveryFormat) {
  for (const auto& [name, text] : formats_of(doubtful_run())) {
    for (const char* mark : {"SIMULATED", "NOT VERIFIED", "FAULT INJECTED"}) {
      EXPECT_TRUE(has_any(text, signs_of(mark))) << mark << " is not in " << name << ":\n" << text;
    }
  }
}

TEST(Marks, SayThatARunIsIncomplete) {
  Formats formats = formats_of(doubtful_run());
  formats.erase("a timeline");  // a timeline is of a single case
  for (const char* name : {"--repeat on a terminal", "--repeat in Markdown"})
    formats.erase(name);  // --repeat merges whole runs only
  for (const auto& [name, text] : formats) {
    EXPECT_TRUE(has_any(text, signs_of("INCOMPLETE"))) << "INCOMPLETE is not in " << name << ":\n" << text;
  }
}

/// Without this test a sign that is always present would pass for a mark above.
TEST(Marks, AreNotThereWithoutAReason) {
  for (const auto& [name, text] : formats_of(with_a_case(test::real_report()))) {
    for (const char* mark : {"SIMULATED", "NOT VERIFIED", "FAULT INJECTED", "INCOMPLETE"}) {
      EXPECT_FALSE(has_any(text, signs_of(mark))) << mark << " is in " << name << ":\n" << text;
    }
  }
}

TEST(Marks, StandOverASoak) {
  SoakHeader header;
  header.environment = doubtful_run().environment;
  SoakInterval last;
  Formats formats;
  add_document(formats, "a soak", document_of(header, last));
  formats["the live table"] = soak_heading(header, {});
  formats["OpenMetrics"] = openmetrics::to_text(soak_metrics(header, last));
  for (const auto& [name, text] : formats) {
    for (const char* mark : {"SIMULATED", "FAULT INJECTED"}) {
      EXPECT_TRUE(has_any(text, signs_of(mark))) << mark << " is not in " << name << ":\n" << text;
    }
  }
}

}  // namespace
}  // namespace xferbench
