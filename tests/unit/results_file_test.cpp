// The results file: round trip, schema and layout, and refusal of damaged files.
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "results/json.hpp"
#include "support/golden.hpp"
#include "support/schema.hpp"
#include "support/stored_results.hpp"
#include "unit/report_fixture.hpp"
#include "unit/support.hpp"

namespace xferbench {
namespace {

// --- Random reports -------------------------------------------------------------------------------------------------

/// Generators for the parts of a report; RapidCheck shrinks a counterexample.
namespace any {

std::string text() {
  const auto piece = rc::gen::oneOf(
      rc::gen::map(rc::gen::inRange(0x20, 0x7F), [](int c) { return std::string(1, static_cast<char>(c)); }),
      rc::gen::element<std::string>("\xC3\xA9", "\xF0\x9F\x98\x80", "\"", "\\"));
  std::string all;
  for (const std::string& one : *rc::gen::container<std::vector<std::string>>(piece)) all += one;
  return all;
}
std::string word() { return text() + "x"; }
/// A text that may be empty, for a field that is then omitted.
std::string known() { return *rc::gen::arbitrary<bool>() ? word() : ""; }

template <class Number>
Number whole(Number least = 0) {
  return *rc::gen::inRange<Number>(least, std::numeric_limits<Number>::max());
}
/// Any finite double.
double number() {
  const auto finite = [](std::uint64_t bits) { return std::isfinite(std::bit_cast<double>(bits)); };
  return std::bit_cast<double>(*rc::gen::suchThat(rc::gen::resize(64, rc::gen::arbitrary<std::uint64_t>()), finite));
}
double amount() { return std::abs(number()); }
bool boolean() { return *rc::gen::arbitrary<bool>(); }

template <class Draw>
auto maybe(const Draw& draw) {
  return boolean() ? std::optional(draw()) : std::nullopt;
}
template <class Draw>
auto several(const Draw& draw) {
  std::vector<decltype(draw(std::size_t{}))> all;
  const auto size = *rc::gen::inRange<std::size_t>(0, 4);
  for (std::size_t i = 0; i < size; ++i) all.push_back(draw(i));
  return all;
}
std::vector<std::string> texts() {
  return several([](std::size_t) { return text(); });
}
/// A name that is unique for each i.
std::string name(std::size_t i) { return std::to_string(i) + text(); }

Labels labels() {
  return several([](std::size_t i) { return std::pair(name(i), text()); });
}
std::vector<Metric> metrics() {
  return several([](std::size_t i) { return Metric{name(i), number(), word()}; });
}

Environment::Gpu gpu() {
  Environment::Gpu gpu{word(),
                       maybe([] { return whole<int>(); }),
                       known(),
                       known(),
                       known(),
                       whole<unsigned>(),
                       whole<std::uint64_t>(),
                       whole<std::uint64_t>(),
                       whole<unsigned>(),
                       amount(),
                       amount(),
                       maybe(boolean),
                       {},
                       maybe([] { return whole<int>(); }),
                       several([](std::size_t) { return word(); }),
                       whole<unsigned>(),
                       amount(),
                       boolean()};
  if (boolean()) {
    gpu.pcie = {whole<unsigned>(), whole<unsigned>(), word(),           whole<unsigned>(), whole<unsigned>(),
                boolean(),         whole<unsigned>(), whole<unsigned>()};
  }
  return gpu;
}

Environment environment() {
  Environment e;
  e.backend = *rc::gen::element<std::string>("cuda", "simulated");
  e.profile = known();
  e.driver = known();
  e.runtime = known();
  e.variables = labels();
  e.gpu = gpu();
  e.gpus = several([](std::size_t) { return gpu(); });
  e.links = several([](std::size_t) {
    return Environment::PeerLink{whole<int>(), whole<int>(), boolean(), boolean(), whole<unsigned>(), amount()};
  });
  e.host = {known(),
            whole<unsigned>(),
            whole<std::uint64_t>(),
            known(),
            maybe([] { return whole<int>(); }),
            maybe([] { return whole<int>(); }),
            known(),
            known(),
            several([](std::size_t) { return whole<int>(); })};
  return e;
}

Measurement measurement(std::size_t i) {
  Measurement m;
  m.name = name(i);
  m.clock = *rc::gen::element(Clock::event_gated, Clock::event, Clock::host, Clock::cpu, Clock::device);
  m.unit = word();
  m.samples = several([](std::size_t) { return amount(); });
  m.batch = whole<unsigned>(1);
  if (!m.samples.empty()) {
    std::array summary{amount(), amount(), amount()};
    std::ranges::sort(summary);
    m.min = summary[0];
    m.median = summary[1];
    m.max = summary[2];
  }
  m.ci95 = maybe([] {
    const double low = number();
    return Interval{low, std::max(low, number())};
  });
  m.p90 = maybe(amount);
  m.p99 = maybe(amount);
  m.stop = *rc::gen::element(Stop::ci, Stop::budget, Stop::max_samples, Stop::interrupted, Stop::others);
  m.warmup_runs = whole<std::size_t>();
  m.warmup_converged = boolean();
  m.outliers_mild = whole<std::size_t>();
  m.outliers_severe = whole<std::size_t>();
  m.gate_timeouts = whole<std::size_t>();
  if (boolean()) m.checked = whole<std::size_t>();
  m.flags = texts();
  return m;
}

Health health() {
  const auto count = [] { return whole<std::uint64_t>(); };
  return {maybe(count),
          maybe(count),
          maybe(count),
          maybe([] { return whole<unsigned>(); }),
          maybe([] { return whole<unsigned>(); }),
          maybe(texts),
          maybe([] { return amount(); }),
          maybe([] { return amount(); }),
          maybe([] { return amount(); }),
          maybe([&] { return several([&](std::size_t) { return count(); }); })};
}

Result result(std::size_t i) {
  Case c(name(i));
  for (const std::string& axis : several(name)) {
    switch (*rc::gen::inRange(0, 3)) {
      case 0: c.set({.name = axis, .kind = AxisKind::count}, whole<std::uint64_t>()); break;
      case 1: c.set({.name = axis, .kind = AxisKind::real}, number()); break;
      default: c.set({.name = axis, .kind = AxisKind::choice}, text()); break;
    }
  }
  Result r(c);
  r.status = *rc::gen::element(Status::ok, Status::failed, Status::skipped);
  r.reason = text();
  r.warnings = texts();
  r.measurements = several(measurement);
  r.metrics = metrics();
  for (const int gpu : several([](std::size_t place) { return static_cast<int>(place); })) {
    r.gpus.push_back(gpu);
    r.measurements.push_back(measurement(0));
    r.measurements.back().name = "each";
    r.measurements.back().gpu = gpu;
    r.add("each", number(), word(), gpu);
  }
  r.labels = labels();
  r.health = maybe([] { return HealthRecord{health(), health()}; });
  return r;
}

InFleet in_fleet() {
  return {whole<int>(),
          *rc::gen::element(RankConcurrency::all, RankConcurrency::node, RankConcurrency::one),
          whole<unsigned>(1),
          *rc::gen::element(DataPath::link, DataPath::gpu, DataPath::mixed),
          amount(),
          whole<std::size_t>(),
          whole<std::size_t>()};
}

Fleet fleet() {
  const auto rank_numbers = [] { return several([](std::size_t i) { return static_cast<int>(i); }); };
  Fleet fleet{.mpi = word(),
              .differences = texts(),
              .clock_uncertainty = amount(),
              .missing = rank_numbers(),
              .notes = texts()};
  fleet.ranks = several([](std::size_t i) {
    return RankPlace{static_cast<int>(i), whole<int>(), whole<int>(), word(), environment(), known()};
  });
  fleet.flagged = several([&](std::size_t) {
    return Flagged{*rc::gen::element(Flagged::What::gpu, Flagged::What::link, Flagged::What::host, Flagged::What::pair,
                                     Flagged::What::rank),
                   rank_numbers(),
                   word(),
                   amount(),
                   texts(),
                   word()};
  });
  fleet.judgement = maybe([] {
    return FleetJudgement{whole<std::size_t>(), whole<std::size_t>(), whole<std::size_t>()};
  });
  return fleet;
}

Report report() {
  Report report;
  report.complete = boolean();
  report.verified = boolean();
  report.started_at = word();
  report.resumed_at = texts();
  report.tool = {word(), known(), word(), known(), known()};
  report.command = texts();
  report.environment = environment();
  report.results = several(result);
  report.fleet = maybe(fleet);
  if (report.fleet) {
    for (Result& r : report.results) r.in_fleet = in_fleet();
  }
  report.findings = several([](std::size_t) { return Finding{word(), word(), labels(), metrics(), known()}; });
  return report;
}

}  // namespace any

RC_GTEST_PROP(ResultsFile, SaysAllOfAnyReport, ()) {
  const Report report = any::report();
  RC_ASSERT(parse_report(to_json(report), "a") == report);
}

RC_GTEST_PROP(ResultsFile, SaysAllOfAResultFromProcessToProcess, ()) {
  Result result = any::result(0);
  result.in_fleet = any::maybe(any::in_fleet);
  for (Measurement& m : result.measurements) m.auxiliary = any::boolean();
  RC_ASSERT(parse_result(to_json(result), "a") == result);
}

RC_GTEST_PROP(ResultsFile, HasNoTextThatATerminalWouldObey, ()) {
  Report report = any::report();
  report.command.clear();  // its words keep control characters
  const auto with = [json = to_json(report)](const std::string& instead) {
    std::string text = json;
    for (std::size_t at = 0; (at = text.find("\xC3\xA9", at)) != std::string::npos;) text.replace(at, 2, instead);
    return parse_report(text, "a");
  };
  for (const char* control : {"\\u001b", "\\n", "\\u009b", "\xC2\x9B", "\\u202e", "\xE2\x80\xAE", "\x7F"}) {
    RC_ASSERT(with(control) == with("?"));
  }
}

TEST(ResultsFile, KeepsTheWordsOfItsCommandAndWritesThemByTheirNumbers) {
  Report report = test::real_report();
  report.command = {"xferbench", "--csv", "a\x1b[2J\n\x7f\xC2\x9B\xE2\x80\xAE.csv"};
  const std::string text = to_json(report);
  EXPECT_NE(text.find("a\\u001b[2J\\n\\u007f\\u009b\\u202e.csv"), std::string::npos) << text;
  EXPECT_EQ(parse_report(text, "a").command, report.command);
}

// --- A fixed report -------------------------------------------------------------------------------------------------

Result every_field() {
  Result r(test::copy_case("h2d", "pinned", 268435456));
  r.config.set({.name = "balance", .kind = AxisKind::real}, 1.0);
  r.warnings = {"drift (copy): the machine was not steady"};
  r.measurements = {
      test::measured("copy", Clock::event_gated, {0.001, 0.002, 0.1 / 3, 0.002, 0.002, 0.003}, 0.002, {0.001, 0.003}),
      test::measured("call", Clock::cpu, {1e-9}, 1e-9, {1e-9, 1e-9}), Measurement{}};
  Measurement& m = r.measurements[0];
  m.max = 0.1 / 3;
  m.batch = 4;
  m.p90 = 0.0025;
  m.p99 = 0.0029;
  m.warmup_runs = 18;
  m.warmup_converged = true;
  m.outliers_mild = 1;
  m.outliers_severe = 2;
  m.gate_timeouts = 3;
  m.checked = 11;
  m.flags = {"outliers", "drift"};
  r.measurements[1].ci95.reset();
  r.measurements[2].name = "none";
  r.add("bandwidth", 95.25, "GB/s");
  r.add("saved", -0.125, "1");
  r.labels = {{"limited_by", "link"}};
  return r;
}

/// A report with every field.
Report rich_report() {
  Report report = test::simulated_report();
  report.tool = {"0.1.0", "abc1234", "GNU 12.2.0", "13.0", "Release"};
  report.command = {"xferbench", "--json", "a b.json"};
  report.resumed_at = {"2026-11-21T11:00:00Z"};
  Environment& e = report.environment;
  e.driver = "580.1";
  e.runtime = "13.0";
  e.variables = {{"CUDA_MODULE_LOADING", "EAGER"}, {"CUDA_VISIBLE_DEVICES", ""}};
  e.gpu = {"NVIDIA H200",
           1,
           "GPU-1",
           "0000:17:00.0",
           "9.0",
           132,
           150'000'000'000,
           60'000'000,
           3,
           1.98e9,
           4.8e12,
           true,
           Environment::Pcie{5, 8, "nvml", 5, 16, true},
           0,
           {"0000:16:01.0", "0000:15:00.0"},
           18,
           478.125e9,
           false};
  Environment::Gpu part;
  part.name = "NVIDIA H200 MIG 1g.18gb";
  part.index = 0;
  part.mig = true;
  part.confidential = true;
  e.gpus = {e.gpu, part};
  e.links = {{1, 0, true, true, 18, 478.125e9}, {0, 1}};
  e.host = {"Some CPU \"quoted\"", 64, 1ULL << 40, "6.1", 0, 1, "local", "no memory of its own \\ \t \xC3\xA9", {0, 1}};
  Result skipped(test::copy_case("d2h", "", 1));
  skipped.status = Status::skipped;
  skipped.reason = "no";
  Result failed(test::copy_case("d2d", "", 1));
  failed.status = Status::failed;
  failed.reason = "wrong byte";
  report.metrics_declared = {{"copy", test::copy_descriptor().metrics}, {"other", {label("limited_by", "a word")}}};
  report.results = {every_field(), skipped, failed};
  report.findings = {{"copy", "fit", {{"dir", "h2d"}}, {{"latency", 2e-6, "s"}}, ""}, {"copy", "note", {}, {}, "text"}};
  return report;
}

/// One case on two GPUs: measurements and metrics for the case and for each GPU.
Result on_two_gpus() {
  Result r(test::copy_case("h2d", "pinned", 4096));
  r.gpus = {0, 3};
  r.measurements = {test::measured("copy", Clock::event, {0.002}, 0.002, {0.002, 0.002})};
  for (const int gpu : r.gpus) {
    r.measurements.push_back(r.measurements.front());
    r.measurements.back().gpu = gpu;
    r.add("bandwidth", 50 + gpu, "GB/s", gpu);
  }
  for (Measurement& m : r.measurements) m.ci95.reset();
  r.add("bandwidth", 103, "GB/s");
  return r;
}

nlohmann::json written(const Report& report) { return nlohmann::json::parse(to_json(report)); }

TEST(ResultsFile, HasItsLayout) { test::expect_golden("results.json", to_json(rich_report())); }

TEST(ResultsFile, HasWhatScenariosDeclareAndWhichProgramMadeIt) {
  EXPECT_EQ(parse_report(to_json(rich_report()), "a").metrics_declared, rich_report().metrics_declared);
  EXPECT_EQ(parse_report(to_json(test::real_report()), "a").tool, this_tool());
}

TEST(ResultsFile, SaysWhetherItWasVerifiedAndOlderOnesNeedNot) {
  Report report = rich_report();
  EXPECT_NE(to_json(report).find("\"verified\": true"), std::string::npos);
  report.verified = false;
  std::string text = to_json(report);
  const std::string field = " \"verified\": false,\n";
  ASSERT_NE(text.find(field), std::string::npos);
  EXPECT_FALSE(parse_report(text, "a").verified);
  EXPECT_TRUE(parse_report(text.erase(text.find(field), field.size()), "a").verified) << "not known to be unverified";
}

TEST(ResultsFile, SaysHowManyPassesWereCheckedWhereAnyCouldBe) {
  Report report = rich_report();
  Measurement& m = report.results.front().measurements.front();
  for (const auto& [checked, said] : {std::pair<std::optional<std::size_t>, bool>{11, true}, {0, true}, {{}, false}}) {
    m.checked = checked;
    const std::string text = to_json(report);
    EXPECT_EQ(text.find("\"checked\"") != std::string::npos, said);
    EXPECT_EQ(parse_report(text, "a").results.front().measurements.front().checked, checked);
  }
}

TEST(ResultsFile, SaysWhichGpusTookPartAndWhatEachOfThemDid) {
  Report report = test::real_report();
  report.results = {on_two_gpus()};
  const nlohmann::json result = written(report)["results"][0];
  EXPECT_EQ(result["gpus"], nlohmann::json({0, 3}));
  EXPECT_FALSE(result["measurements"][0].contains("gpu"));
  EXPECT_EQ(result["measurements"][2]["gpu"], 3);
  EXPECT_EQ(result["metrics"], nlohmann::json::parse(R"({"bandwidth": {"value": 103, "unit": "GB/s"}})"));
  EXPECT_EQ(result["gpu_metrics"][1],
            nlohmann::json::parse(R"({"name": "bandwidth", "gpu": 3, "value": 53, "unit": "GB/s"})"));
  const Result read = parse_report(to_json(report), "a").results.front();
  EXPECT_EQ(read.gpus, (std::vector{0, 3}));
  EXPECT_EQ(read.value("bandwidth"), 103);
  ASSERT_NE(read.metric("bandwidth", 3), nullptr);
  EXPECT_EQ(read.metric("bandwidth", 3)->value, 53);
  EXPECT_EQ(read.metric("bandwidth", 1), nullptr);
  EXPECT_EQ(read.measurements, on_two_gpus().measurements);
  EXPECT_EQ(read.measurement("copy", 0)->gpu, 0);
}

TEST(ResultsFile, SaysNothingOfGpusWhereThereIsOne) {
  Report report = rich_report();
  report.environment.gpus.clear();
  const std::string text = to_json(report);
  for (const char* field : {"\"gpus\"", "\"gpu_metrics\""}) EXPECT_EQ(text.find(field), std::string::npos) << field;
}

TEST(ResultsFile, IsAboutWhatAllItsGpusDid) {
  Result r = on_two_gpus();
  std::rotate(r.measurements.begin(), r.measurements.begin() + 1, r.measurements.end());
  ASSERT_TRUE(r.measurements.front().gpu);
  EXPECT_EQ(headline_of(r, {}), &r.measurements.back());
  EXPECT_EQ(headline_of(r, test::copy_descriptor().metrics), &r.measurements.back());
  std::erase_if(r.measurements, [](const Measurement& m) { return !m.gpu; });
  EXPECT_EQ(headline_of(r, test::copy_descriptor().metrics), nullptr);
}

TEST(ResultsFile, IsWrittenInPieces) {
  Report report = rich_report();
  report.results.resize(1000, report.results[0]);
  std::size_t longest = 0;
  write_json(report, [&](std::string_view piece) { longest = std::max(longest, piece.size()); });
  EXPECT_LT(longest, 1U << 20U) << "of " << to_json(report).size();
}

TEST(ResultsFile, LeavesOutWhatIsUnknownInsteadOfWritingZero) {
  Report report = test::real_report();
  report.environment.gpu = {};
  report.environment.gpu.name = "Some GPU";
  report.environment.driver.clear();
  report.environment.host = {};
  report.results = {Result(test::copy_case("d2d", "", 1))};
  report.results[0].measurements = {Measurement{}};
  report.results[0].measurements[0].name = "copy";
  const auto json = written(report);
  EXPECT_EQ(json["environment"]["gpu"].size(), 1U) << "only its name";
  EXPECT_FALSE(json["environment"].contains("driver"));
  EXPECT_EQ(json["environment"]["host"].size(), 0U);
  EXPECT_FALSE(json.contains("resumed_at"));
  const auto measurement = json["results"][0]["measurements"][0];
  for (const char* name : {"min", "median", "max", "ci95", "p90", "p99", "gate_timeouts", "checked"}) {
    EXPECT_FALSE(measurement.contains(name)) << name;
  }
}

TEST(ResultsFile, LeavesOutMetricsThatAreNoNumber) {
  Report report = rich_report();
  const std::size_t numbers = report.results[0].metrics.size();
  report.results[0].add("nan", std::numeric_limits<double>::quiet_NaN(), "1");
  report.results[0].add("infinite", std::numeric_limits<double>::infinity(), "1");
  report.findings[0].metrics.push_back({"nan", std::numeric_limits<double>::quiet_NaN(), "1"});
  const Report read = parse_report(to_json(report), "a");
  EXPECT_EQ(read.results[0].metrics.size(), numbers);
  EXPECT_EQ(read.findings[0].metrics.size(), 1U);
}

TEST(ResultsFile, SurvivesBytesThatAreNoUtf8) {
  Report report = rich_report();
  report.command = {"xferbench", "--json", "r\xE9sultats.json"};  // Latin-1, no UTF-8
  report.environment.host.cpu = "CPU\xFF";
  const Report read = parse_report(to_json(report), "a");
  EXPECT_EQ(read.command[2], "r\xEF\xBF\xBDsultats.json") << "U+FFFD in its place";
  EXPECT_EQ(read.environment.host.cpu, "CPU\xEF\xBF\xBD");
}

TEST(ResultsFile, KeepsToItsSchema) {
  Report report = rich_report();
  Measurement& m = report.results[0].measurements[0];
  m.samples = std::vector<double>(100, 0.002);  // enough samples for all percentiles
  report.results[0].health = HealthRecord{{.ecc_corrected = 1,
                                           .ecc_uncorrected = 0,
                                           .pcie_replays = 0,
                                           .link_generation = 1,
                                           .link_width = 16,
                                           .throttle = std::vector<std::string>{"idle"},
                                           .xids = std::vector<std::uint64_t>{}},
                                          {}};
  EXPECT_TRUE(test::text_keeps_to("results-schema.json", to_json(report)));
  EXPECT_TRUE(test::text_keeps_to("results-schema.json", to_json(test::real_report())));
  report.results[1].reason.clear();  // a skipped case needs a reason
  EXPECT_FALSE(test::text_keeps_to("results-schema.json", to_json(report)))
      << "a file that breaks the contract must be noticed";
}

// --- Reading --------------------------------------------------------------------------------------------------------

/// The message of the InputError for this text; empty if it can be read.
std::string complaint(const std::string& text) {
  try {
    static_cast<void>(parse_report(text, "f.json"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// The error for the rich report after replacing the first `from` by `to`.
std::string complaint_with(const std::string& from, const std::string& to) {
  std::string text = to_json(rich_report());
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return complaint(text.replace(at, from.size(), to));
}

void expect_says(const std::string& message, const std::string& part) {
  EXPECT_TRUE(test::mentions(message, part));
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_LT(message.size(), 400U) << message;
}

TEST(ResultsFile, OfTheDocumentationIsRead) {
  const std::vector<std::string> names = test::stored_results(12'000);  // larger ones are read by tests in Python
  EXPECT_GT(names.size(), 50U);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(read_report(test::stored_result(name)).results.empty());
  }
}

TEST(ResultsFile, MayHaveFieldsThatNobodyKnowsAndAMarkAtItsFront) {
  EXPECT_EQ(complaint_with("\"complete\"", R"("later": {"a": [1, {"b": null}, true, "x"], "a": {}}, "complete")"), "");
  EXPECT_EQ(complaint_with("\"unit\"", R"("confidence": [[], {}], "unit")"), "");
  EXPECT_EQ(complaint("\xEF\xBB\xBF" + to_json(rich_report())), "");
}

TEST(ResultsFile, HasEachNumberOfAGpuOnce) {
  Report report = test::real_report();
  report.results = {on_two_gpus()};
  const auto complaint_of = [&report] { return complaint(to_json(report)); };
  EXPECT_EQ(complaint_of(), "");
  report.results[0].measurements[2].gpu = 0;
  expect_says(complaint_of(), "results[0].measurements: 'copy of GPU 0' occurs twice");
  report.results[0] = on_two_gpus();
  report.results[0].metrics[1].gpu = 0;
  expect_says(complaint_of(), "results[0].gpu_metrics: 'bandwidth of GPU 0' occurs twice");
}

// --- Fleets ---------------------------------------------------------------------------------------------------------

/// One case on each of two ranks, and a second round on rank 1.
Report ranks_report() {
  Report report = test::simulated_report();
  report.tool = {"0.1.0", "abc1234", "GNU 12.2.0", "13.0", "Release"};
  report.fleet = Fleet{.mpi = "Open MPI 4.1.4",
                       .differences = {"drivers differ"},
                       .clock_uncertainty = 2e-6,
                       .missing = {7},
                       .notes = {"small"}};
  for (const int rank : {0, 1}) {
    report.fleet->ranks.push_back({rank, rank, 0, rank == 0 ? "a" : "b", report.environment, "0.1.0 abc1234"});
  }
  report.fleet->flagged = {
      {Flagged::What::link, {1}, "link of GPU 0 of host b", 0.1, {"copy pace=all"}, "is 10 % below"}};
  for (const auto& [rank, round] : {std::pair{0, 1U}, {1, 1U}, {1, 2U}}) {
    Result r(test::copy_case("h2d", "pinned", 4096));
    r.measurements = {test::measured("copy", Clock::host, {0.002}, 0.002, {0.002, 0.002})};
    r.measurements.front().ci95.reset();
    r.in_fleet = InFleet{.rank = rank, .round = round, .clock_uncertainty = 1e-6, .passes = 40, .void_passes = 2};
    report.results.push_back(std::move(r));
  }
  return report;
}

TEST(FleetsFile, HasItsLayout) { test::expect_golden("fleet.json", to_json(ranks_report())); }

TEST(FleetsFile, KeepsToTheSchema) {
  Report report = ranks_report();
  EXPECT_TRUE(test::text_keeps_to("results-schema.json", to_json(report)));
  report.results[0].in_fleet->round = 0;
  EXPECT_FALSE(test::text_keeps_to("results-schema.json", to_json(report))) << "rounds are counted from 1";
}

TEST(FleetsFile, HasEachCaseOnceForEachRankPaceAndRound) {
  Report report = ranks_report();
  const Report read = parse_report(to_json(report), "a");
  EXPECT_EQ(read.fleet, report.fleet);
  EXPECT_EQ(read.results[2].in_fleet, report.results[2].in_fleet);
  report.results[2].in_fleet->round = 1;
  expect_says(complaint(to_json(report)),
              "results[1] and results[2] have the same key 'copy/dir=h2d/host=pinned/size=4KiB pace=all rank=1'");
  report.results[2].in_fleet->pace = RankConcurrency::one;
  EXPECT_EQ(complaint(to_json(report)), "");
}

TEST(FleetsFile, SaysOfEveryResultWhoseItIs) {
  Report report = ranks_report();
  report.results[1].in_fleet.reset();
  expect_says(complaint(to_json(report)), "results[1] has no 'fleet', expected the rank");
  report.fleet.reset();
  expect_says(complaint(to_json(report)), "results[0] belongs to a rank, but the file has no 'fleet'");
}

TEST(FleetsFile, HasRanksInTheirOrderByWhichTheyAreLookedUp) {
  Report report = ranks_report();
  report.fleet->ranks[0].rank = 1;
  expect_says(complaint(to_json(report)), "fleet.ranks: rank 1 comes before rank 1");
  report.fleet->ranks[1].rank = 5;
  ASSERT_EQ(complaint(to_json(report)), "");
  EXPECT_EQ(report.fleet->place(5)->host, "b");
  EXPECT_EQ(report.fleet->place(2), nullptr);
  EXPECT_EQ(report.fleet->place(6), nullptr);
}

/// A replacement in the text, and the expected message.
struct Damage {
  const char* from;
  const char* to;
  const char* says;
};

constexpr Damage kDamages[]{
    {"0.001,", "\"fast\",", "results[0].measurements[0].samples[0]: found 'fast', expected a number of 0 or more"},
    {"0.002,", "-1,", "results[0].measurements[0].samples[1]: found the number -1, expected a number of 0 or more"},
    {"0.002,", "-1.5,", "samples[1]: found the number -1.5, expected a number of 0 or more"},
    {"0.001,", "null,", "samples[0]: found null, expected a number"},
    {"0.001,", "NaN,", "results[0].measurements[0].samples: syntax error"},
    {"0.001,", "1e999,", "results[0].measurements[0].samples: number overflow"},
    {"\"n\":6", "\"n\":5", "results[0].measurements[0]: n is 5, but there are 6 samples"},
    {"\"n\":6", "\"n\":-6", "n: found the number -6, expected a whole number of 0 or more"},
    {"\"n\":6", "\"n\":6.5", "expected a whole number"},
    {"\"n\":6", "\"n\":18446744073709551616", "expected a whole number"},
    {"\"batch\":4", "\"batch\":99999999999", "to 4294967295"},
    {"\"batch\":4", "\"batch\":0", "expected a whole number from 1"},
    {"\"event-gated\"", "\"event-gate\"",
     "expected one of event-gated, event, host, cpu, device; did you mean 'event-gated'?"},
    {"\"median\":0.002,", "", "has samples, but not min, median and max"},
    {"\"median\":0.002,", "\"median\":1,", "median does not lie between"},
    {"[0.001,0.003]", "[0.003,0.001]", "ci95: found low above high"},
    {"[0.001,0.003]", "[0.003]", "ci95: expected two numbers"},
    {"[0.001,0.003]", "[1,2,3]", "ci95[2]: more than 2 entries"},
    {"\"call\"", "\"copy\"", "results[0].measurements: 'copy' occurs twice"},
    {"\"complete\": true", "\"complete\": 1", "complete: found the number 1, expected true or false"},
    {"\"complete\": true", "\"complete\": true, \"complete\": true", "complete: this field occurs twice"},
    {"\"size\":268435456", "\"size\":1,\"size\":2", "results[0].params: 'size' occurs twice"},
    {"\"key\"", "\"kez\"", "results[0]: has no 'key'"},
    {"\"backend\": \"simulated\"", "\"backend\": \"guessed\"", "environment.backend: found 'guessed'"},
    {"\"warnings\": [", "\"warnings\": [[[[[", "results[0].warnings[0]: found a list, expected a text"},
    {"copy/dir=d2d/size=1B", "copy/dir=d2h/size=1B",
     "results[1] and results[2] have the same key 'copy/dir=d2h/size=1B'"},
    {"xferbench/1", "xferbench/2", "schema: found 'xferbench/2', expected 'xferbench/1'"},
    {"\"xferbench/1\"", R"("\ud83d\ude00 \u00e9 \n")", "found '\xF0\x9F\x98\x80 \xC3\xA9 ?'"},
};

class Damaged : public testing::TestWithParam<Damage> {};

TEST_P(Damaged, IsRefusedWithWhereAndWhy) {
  const Damage& damage = GetParam();
  const std::string message = complaint_with(damage.from, damage.to);
  EXPECT_TRUE(message.starts_with("f.json:")) << message;
  expect_says(message, damage.says);
}

INSTANTIATE_TEST_SUITE_P(ResultsFile, Damaged, testing::ValuesIn(kDamages));

TEST(ResultsFile, HasLinesThatMessagesName) {
  expect_says(complaint("{\n\n \"schema\": 5}"), "f.json:3: schema: found the number 5");
  expect_says(complaint("{\n \"schema\": 5\n\n}"), "f.json:2: schema: found the number 5");
  expect_says(complaint("{\n \"schema\": \"xferbench/1\",\n}"), "f.json:3: ");
}

TEST(ResultsFile, ThatIsEmptySaysOnceWhatWasExpected) {
  for (const char* text : {"", " ", "\n\n"}) {
    const std::string message = complaint(text);
    expect_says(message, "found the end of the file, expected a results file of xferbench --json");
    EXPECT_EQ(message.find("expected"), message.rfind("expected")) << message;
  }
  const std::string other = complaint("hello");
  EXPECT_EQ(other.find("expected"), other.rfind("expected")) << other;
}

TEST(ResultsFile, IsNotWhatElseIsThere) {
  const char* const kWhatItShouldBe = "expected a results file of xferbench --json";
  for (const std::string& text : {std::string(), std::string("hello"), std::string("\0\x7F ELF", 6), std::string("[1]"),
                                  std::string("5"), std::string(1'000'000, '[')}) {
    expect_says(complaint(text), kWhatItShouldBe);
  }
  expect_says(complaint("{}"), "has no 'schema'");
  expect_says(complaint(R"({"traceEvents": [{"ph": "X"}]})"), "has no 'schema'");
  expect_says(complaint("{\"schema\": \"\xFF\xFE\"}"), "UTF-8");
  expect_says(complaint(to_json(rich_report()) + "{}"), "expected end of input");
  expect_says(complaint(R"({"schema": "a\qb"})"), "backslash");
  expect_says(complaint(R"({"schema": "\ud800"})"), "surrogate");
  expect_says(complaint("{\"schema\": \"a\nb\"}"), "control character");
}

TEST(ResultsFile, NeverBreaksTheReaderHoweverItIsCutOff) {
  const std::string text = to_json(rich_report());
  const std::size_t end = text.rfind('}');
  for (std::size_t size = 0; size <= end; ++size) {
    expect_says(complaint(text.substr(0, size)),
                size == 0 ? "found the end of the file, expected a" : "the file is truncated");
  }
  EXPECT_EQ(complaint(text), "");
}

std::string times(std::size_t n, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i) all += text;
  return all;
}

TEST(ResultsFile, IsNotFollowedWhereItNestsWithoutEnd) {
  expect_says(complaint("{\"later\": " + times(1'000'000, "[")), "later: nested more than 64 deep");
  expect_says(complaint("{\"later\": " + times(100'000, "{\"a\":")), "nested more than 64 deep");
}

TEST(ResultsFile, HasNoTextsNamesAndNumbersThatNobodyWrites) {
  expect_says(complaint("{\"schema\": \"" + times(2'000'000, "x") + "\"}"), "longer than 1 MiB");
  expect_says(complaint("{\"later\": " + times(2'000'000, "1") + "}"), "longer than 1 MiB");
  expect_says(complaint("{\"schema\": \"" + times(1'000'000, "x") + "\"}"), "xxx...xxx");
  expect_says(complaint("{\"schema\": \"" + times(1'000'000, "x")), "the file is truncated");
  std::string names = "\"limited_by\":\"link\"";
  for (int i = 0; i < 20'000; ++i) names += ",\"" + std::to_string(i) + "\":\"\"";
  expect_says(complaint_with("\"limited_by\":\"link\"", names), "results[0].labels.9999: more than 10000 entries");
}

TEST(ResultsFile, TakesLittleMoreMemoryThanItsText) {
  const std::string says = "MiB of memory, more than twice the size of their text";
  const std::string flags = R"({"name":"m","clock":"cpu","unit":"s","samples":[],"n":0,"stop":"ci","batch":1,
    "warmup":{"runs":0,"converged":true},"outliers":{"mild":0,"severe":0},"flags":[)";
  const std::string many = flags + times(9'999, "\"\",") + "\"\"]},";
  expect_says(complaint_with("\"measurements\": [", "\"measurements\": [" + times(100, many)), says);
}

TEST(ResultsFile, ThatCannotBeReadSaysWhy) {
  const auto complaint_of = [](const std::string& path) {
    return test::message_of<InputError>([&] { static_cast<void>(read_report(path)); });
  };
  EXPECT_EQ(complaint_of("/nowhere/base.json"), "cannot read /nowhere/base.json: No such file or directory");
  EXPECT_EQ(complaint_of("/"), "cannot read /: Is a directory");
  const std::string stored = std::string(XFERBENCH_SOURCE_DIR) + "/docs/results/h200-calibrate.json.xz";
  EXPECT_EQ(test::message_of<InputError>([&] { static_cast<void>(read_stored(stored)); }),
            stored + " is compressed; xz -dk unpacks it to a file that xferbench can read")
      << "as a run that goes on would write over it";
  expect_says(complaint_of("/dev/null"), "expected a results file");
  expect_says(complaint_of("/dev/zero"), "/dev/zero:1: ");
}

}  // namespace
}  // namespace xferbench
