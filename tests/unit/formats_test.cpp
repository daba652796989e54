// Results in formats of other programs: Bencher, github-action-benchmark, nvbandwidth.
#include "report/formats/formats.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "core/units.hpp"
#include "scenarios/scenarios.hpp"
#include "unit/report_fixture.hpp"
#include "unit/support.hpp"

namespace xferbench::formats_test {
namespace {

using Json = nlohmann::json;
using test::mentions;
using enum ReportFormat;

std::vector<const ScenarioDescriptor*> all_scenarios() {
  std::vector<const ScenarioDescriptor*> all;
  for (const Scenario* scenario : scenarios()) all.push_back(&scenario->descriptor());
  return all;
}

using Words = std::vector<std::pair<std::string, std::string>>;

Case case_of(const std::string& scenario, const Words& words, std::uint64_t size) {
  Case c(scenario);
  for (const auto& [axis, word] : words) c.set({.name = axis, .kind = AxisKind::text}, word);
  if (size > 0) c.set({.name = "size", .kind = AxisKind::size}, size);
  return c;
}

/// A case whose copy took a second for each of the GB that `bandwidth` names.
Result copied(const std::string& scenario, const Words& words, double bandwidth, std::uint64_t size = MiB) {
  Result result(case_of(scenario, words, size));
  result.measurements = {test::measured("copy", Clock::event_gated, {0.01, 0.02, 0.04}, 0.02, {0.016, 0.025})};
  if (bandwidth > 0) result.add("bandwidth", bandwidth, "GB/s");
  return result;
}

Result host_copy(const std::string& dir, double bandwidth, const std::string& host = "pinned") {
  return copied("memcpy", {{"dir", dir}, {"host", host}, {"engine", "ce"}, {"api", "async"}}, bandwidth);
}

Result peer_copy(const std::string& pair, const std::string& dir, double bandwidth, std::uint64_t size = MiB) {
  return copied("p2p", {{"pairs", pair}, {"op", "copy"}, {"dir", dir}, {"engine", "ce"}, {"access", "peer"}}, bandwidth,
                size);
}

Report report_of(std::vector<Result> results) {
  Report report = test::real_report();
  report.tool = {"0.1.0", "abc", "GNU 12", "13.0", "Release"};
  report.environment.runtime = "13.0";
  report.environment.driver = "580.159.04 (CUDA 13.0)";
  report.results = std::move(results);
  return report;
}

Formatted formatted(ReportFormat format, const Report& report) { return to_format(format, report, all_scenarios()); }
Json parsed(ReportFormat format, const Report& report) { return Json::parse(formatted(format, report).text); }
Json tests_of(const Report& report) { return parsed(nvbandwidth, report)["nvbandwidth"]["testcases"]; }

Report two_gpus(std::vector<Result> results) {
  Report report = report_of(std::move(results));
  report.environment.gpus = {report.environment.gpu, report.environment.gpu};
  report.environment.gpus[0].index = 2;
  report.environment.gpus[1].index = 5;
  return report;
}

// --- Bencher ---------------------------------------------------------------------------------------------------------

TEST(Bmf, HasTheTimeInNanosecondsAndTheRateWithTheirIntervals) {
  const Result copy = host_copy("h2d", 50);
  const Json file = parsed(bmf, report_of({copy}));
  const Json& measures = file.at(copy.config.key());
  EXPECT_EQ(measures.at("latency"), (Json{{"value", 2e7}, {"lower_value", 1.6e7}, {"upper_value", 2.5e7}}));
  // A time at the upper end of its interval means a rate at the lower end.
  EXPECT_EQ(measures.at("bandwidth"), (Json{{"value", 50.0}, {"lower_value", 40.0}, {"upper_value", 62.5}}));
}

TEST(Bmf, HasNoIntervalWhereThereIsNone) {
  Result copy = host_copy("h2d", 50);
  copy.measurements.front().ci95.reset();
  for (const Json& measure : parsed(bmf, report_of({copy})).at(copy.config.key())) EXPECT_EQ(measure.size(), 1);
}

TEST(Bmf, GivesSimulatedNumbersANameOfTheirOwn) {
  Report simulated = report_of({host_copy("h2d", 50)});
  simulated.environment.backend = "simulated";
  simulated.environment.profile = "h200";
  const std::string key = simulated.results.front().config.key();
  EXPECT_TRUE(parsed(bmf, simulated).contains(key + " [SIMULATED]"));
  simulated.environment.variables = {{kInjectVariable, "corrupt"}};
  EXPECT_TRUE(parsed(bmf, simulated).contains(key + " [SIMULATED, FAULT INJECTED]"));
}

// --- All formats -----------------------------------------------------------------------------------------------------

TEST(Formats, HaveNoNumberOfCasesThatFailedWereSkippedOrNotVerified) {
  Result failed = host_copy("h2d", 51);
  failed.status = Status::failed;
  Result skipped = host_copy("d2h", 52);
  skipped.status = Status::skipped;
  Result interrupted = host_copy("d2d", 53);
  interrupted.measurements.front().stop = Stop::interrupted;
  Result infinite = copied("memcpy", {{"dir", "x"}}, 0);
  infinite.measurements.front().median = std::numeric_limits<double>::infinity();
  Report report = report_of({failed, skipped, interrupted, infinite});
  for (const ReportFormat format : {bmf, github_smaller, github_bigger, nvbandwidth}) {
    for (const char* number : {"51", "52", "53"}) EXPECT_FALSE(mentions(formatted(format, report).text, number));
    EXPECT_EQ(formatted(format, report).left_out, 4);
  }
  EXPECT_EQ(parsed(bmf, report), Json::object());
  EXPECT_EQ(parsed(github_bigger, report), Json::array());
  report = report_of({host_copy("h2d", 54)});
  report.verified = false;
  for (const ReportFormat format : {bmf, github_smaller, github_bigger, nvbandwidth}) {
    EXPECT_FALSE(mentions(formatted(format, report).text, "54"));
    EXPECT_EQ(formatted(format, report).left_out, 1);
  }
}

TEST(Formats, TakeACaseThatOccursTwiceOnce) {
  EXPECT_EQ(parsed(github_smaller, report_of({host_copy("h2d", 50), host_copy("h2d", 60)})).size(), 1);
}

// --- github-action-benchmark -----------------------------------------------------------------------------------------

TEST(GithubActionBenchmark, HasTimesInOneFormatAndRatesInTheOther) {
  const Report report = report_of({host_copy("h2d", 50)});
  const std::string key = report.results.front().config.key();
  const Json times = parsed(github_smaller, report);
  ASSERT_EQ(times.size(), 1);
  EXPECT_EQ(times[0].at("name"), key + " copy");
  EXPECT_EQ(times[0].at("unit"), "us");
  EXPECT_EQ(times[0].at("value"), 20000);
  EXPECT_EQ(times[0].at("range"), "± 4500.00");
  EXPECT_EQ(times[0].at("extra"), "95 % interval: 16000 to 25000 us\nGPU: NVIDIA H200");
  const Json rates = parsed(github_bigger, report);
  ASSERT_EQ(rates.size(), 1);
  EXPECT_EQ(rates[0].at("name"), key + " bandwidth");
  EXPECT_EQ(rates[0].at("unit"), "GB/s");
  EXPECT_EQ(rates[0].at("value"), 50);
  EXPECT_EQ(rates[0].at("range"), "± 11.2500");
}

TEST(GithubActionBenchmark, SaysWhatIsWrongWithTheNumbers) {
  Report report = report_of({host_copy("h2d", 50)});
  report.results.front().warnings = {"the GPU was hot"};
  report.environment.backend = "simulated";
  report.environment.profile = "h200";
  const Json entry = parsed(github_smaller, report)[0];
  EXPECT_TRUE(mentions(entry.at("name"), "[SIMULATED]"));
  EXPECT_TRUE(mentions(entry.at("extra"), "SIMULATED by profile h200"));
  EXPECT_TRUE(mentions(entry.at("extra"), "the GPU was hot"));
}

// --- nvbandwidth -----------------------------------------------------------------------------------------------------

TEST(Nvbandwidth, HasCopiesToAndFromTheHostAsRowsOfOneCpu) {
  Result both = host_copy("bidirectional", 90);
  both.add("h2d_beside_bandwidth", 46, "GB/s");
  both.add("d2h_beside_bandwidth", 44, "GB/s");
  const Formatted text = formatted(
      nvbandwidth, report_of({host_copy("h2d", 55.125), host_copy("d2h", 54), host_copy("h2d", 20, "pageable"), both}));
  EXPECT_EQ(text.left_out, 1);  // nvbandwidth copies no pageable memory
  const Json root = Json::parse(text.text).at("nvbandwidth");
  EXPECT_EQ(root.at("CUDA Runtime Version"), 13000);
  EXPECT_EQ(root.at("Driver Version"), "580.159.04");
  EXPECT_FALSE(root.contains("warning"));
  EXPECT_EQ(root.at("testcases").size(), 4);
  const Json first = root.at("testcases").at(0);
  EXPECT_EQ(first, (Json{{"name", "host_to_device_memcpy_ce"},
                         {"status", "Passed"},
                         {"bandwidth_description", "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)"},
                         {"bandwidth_matrix", Json::array({Json::array({"55.125"})})},
                         {"sum", 55.125},
                         {"min", 55.125},
                         {"max", 55.125},
                         {"average", 55.125}}));
  EXPECT_EQ(root.at("testcases").at(2).at("name"), "host_to_device_bidirectional_memcpy_ce");
  EXPECT_EQ(root.at("testcases").at(2).at("sum"), 46);
  EXPECT_EQ(root.at("testcases").at(3).at("name"), "device_to_host_bidirectional_memcpy_ce");
  EXPECT_EQ(root.at("testcases").at(3).at("sum"), 44);
}

TEST(Nvbandwidth, HasCopiesBetweenGpusAsMatricesWhoseRowsRunTheCopy) {
  const Json tests = tests_of(two_gpus({peer_copy("2-5", "write", 100), peer_copy("5-2", "write", 200),
                                        peer_copy("2-5", "read", 300), peer_copy("2-5", "write", 7, KiB)}));
  ASSERT_EQ(tests.size(), 2);
  EXPECT_EQ(tests[0].at("name"), "device_to_device_memcpy_write_ce");
  EXPECT_EQ(tests[0].at("bandwidth_matrix"), Json::parse(R"([["N/A", "100"], ["200", "N/A"]])"));
  EXPECT_EQ(tests[0].at("sum"), 300);
  EXPECT_EQ(tests[0].at("min"), 100);
  EXPECT_EQ(tests[1].at("name"), "device_to_device_memcpy_read_ce");
  EXPECT_EQ(tests[1].at("bandwidth_matrix"), Json::parse(R"([["N/A", "N/A"], ["300", "N/A"]])"));
}

TEST(Nvbandwidth, AppendsTheMatricesOfBothDirectionsAndTheirSum) {
  Result both = peer_copy("2-5", "bidirectional", 390);
  both.add("forward_bandwidth", 190, "GB/s");
  both.add("backward_bandwidth", 210, "GB/s");
  const Json test = tests_of(two_gpus({both}))[0];
  EXPECT_EQ(test.at("name"), "device_to_device_bidirectional_memcpy_write_ce");
  EXPECT_EQ(test.at("bandwidth_matrix"), Json::parse(R"([["N/A", "210"], ["N/A", "N/A"], ["N/A", "190"],
                                                         ["N/A", "N/A"], ["N/A", "400"], ["N/A", "N/A"]])"));
  EXPECT_EQ(test.at("sum"), 400);
}

TEST(Nvbandwidth, HasLatenciesInNanoseconds) {
  Result host(case_of("latency", {{"op", "chase"}, {"memory", "host"}}, 0));
  host.measurements = {test::measured("latency", Clock::device, {6e-7, 7e-7}, 6.5e-7, {6e-7, 7e-7})};
  Result peer(case_of("p2p", {{"pairs", "2-5"}, {"op", "latency"}, {"lies-in", "memory"}}, 0));
  peer.measurements = {test::measured("latency", Clock::device, {8e-7, 9e-7}, 8e-7, {8e-7, 9e-7})};
  const Json tests = tests_of(two_gpus({host, peer}));
  EXPECT_EQ(tests[0].at("name"), "host_device_latency_sm");
  EXPECT_EQ(tests[0].at("bandwidth_matrix"), Json::parse(R"([["650", "N/A"]])"));
  EXPECT_EQ(tests[1].at("name"), "device_to_device_latency_sm");
  EXPECT_EQ(tests[1].at("bandwidth_matrix"), Json::parse(R"([["N/A", "N/A"], ["800", "N/A"]])"));
}

TEST(Nvbandwidth, SaysWhatFailedAndWhatWasSkipped) {
  Result failed = host_copy("h2d", 50);
  failed.status = Status::failed;
  failed.reason = "wrong byte";
  Result skipped = host_copy("d2h", 50);
  skipped.status = Status::skipped;
  EXPECT_EQ(tests_of(report_of({failed, skipped})),
            Json::parse(R"([{"name": "host_to_device_memcpy_ce", "status": "Error", "error": "wrong byte"},
                            {"name": "device_to_host_memcpy_ce", "status": "Waived"}])"));
}

TEST(Nvbandwidth, WarnsOfSimulatedAndIncompleteRuns) {
  Report report = report_of({host_copy("h2d", 50)});
  report.complete = false;
  report.environment.backend = "simulated";
  report.environment.profile = "h200";
  const std::string warning = parsed(nvbandwidth, report)["nvbandwidth"].at("warning");
  EXPECT_TRUE(mentions(warning, "SIMULATED by profile h200"));
  EXPECT_TRUE(mentions(warning, "INCOMPLETE"));
}

TEST(Nvbandwidth, LeavesOutCasesWithoutCounterpartOrWithOddAxes) {
  Result odd(Case("memcpy"));
  Result by_number(Case("p2p"));
  by_number.config.set({.name = "pairs"}, std::uint64_t{3});
  const Formatted text = formatted(nvbandwidth, two_gpus({odd, by_number, peer_copy("2-9", "write", 3),
                                                          peer_copy("all", "write", 3), copied("overlap", {}, 80)}));
  EXPECT_EQ(text.left_out, 5);
  EXPECT_EQ(Json::parse(text.text)["nvbandwidth"].at("testcases"), Json::array());
}

}  // namespace
}  // namespace xferbench::formats_test
