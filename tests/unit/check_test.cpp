// `xferbench check`: which cases an expectation selects, its verdict, and the command that measures missing cases.
#include "check/check.hpp"
#include "check/command.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/session.hpp"
#include "core/error.hpp"
#include "paper/writers.hpp"
#include "parsing.hpp"
#include "report/check/check_report.hpp"
#include "results/json.hpp"
#include "support/golden.hpp"
#include "support/stored_results.hpp"
#include "unit/support.hpp"

namespace xferbench::check {
namespace {

using test::expect_golden;

Result copy(const std::string& dir, std::uint64_t size, double bandwidth) {
  Case c("memcpy");
  c.set({.name = "dir", .kind = AxisKind::choice}, dir);
  c.set({.name = "size", .kind = AxisKind::size}, size);
  Result r(c);
  r.metrics = {{"bandwidth", bandwidth, "GB/s"}, {"of_limit", bandwidth / 57.6, "1"}, {"limit", 57.6, "GB/s"}};
  Measurement m;
  m.name = "copy";
  m.samples = {1e-6, 2e-6, 9e-6};
  m.median = 2e-6;
  m.max = 9e-6;
  r.measurements = {m};
  return r;
}

Report report_of_three() {
  Report report;
  report.complete = true;
  report.started_at = "2026-11-21T10:00:00Z";
  report.command = {"xferbench", "memcpy"};
  report.environment.backend = "cuda";
  report.environment.gpu.name = "NVIDIA H200";
  report.environment.gpu.pcie = Environment::Pcie{5, 16, "nvml"};
  report.environment.gpu.memory_bandwidth = 4.8e12;
  report.results = {copy("h2d", 1 << 20, 40), copy("h2d", 256 << 20, 55), copy("d2h", 256 << 20, 54)};
  return report;
}

/// A stand-in for scenario memcpy, so that check can suggest the command that measures a missing case.
const ScenarioDescriptor& copying() {
  static const ScenarioDescriptor scenario{
      .name = "memcpy",
      .summary = "copies",
      .axes = {choice_axis("dir", {"h2d", "d2h", "d2d"}, {.defaults = "all"}),
               only_with("dir", {"h2d", "d2h"},
                         choice_axis("host", {"pinned", "pageable", "pageable-huge"}, {.defaults = "pinned"})),
               size_axis("size", {.defaults = "256M", .max = 1e12})},
      .metrics = {derived("bandwidth", "GB/s", Better::higher, "payload over time")}};
  return scenario;
}

Checked checked(const std::string& expectations, const Report& report = report_of_three(), bool simulated = false) {
  static const std::vector<const ScenarioDescriptor*> scenarios{&copying()};
  const std::string text = R"({"schema": "xferbench-expect/1", "gpu": "*H200", "expect": [)" + expectations + "]}";
  return check(report, "r.json", parse_expectations(text, "e.json"),
               {.allow_simulated = simulated, .scenarios = scenarios});
}

Row row(const std::string& expectation, const Report& report = report_of_three()) {
  return checked(expectation, report).rows.at(0);
}

TEST(Check, TheWorstCaseDecidesOrTheBestOrTheMedian) {
  const Row fails = row(R"({"metric": "bandwidth", "at_least": "50 GB/s"})");
  EXPECT_EQ(fails.verdict, Verdict::fails);
  EXPECT_EQ(fails.key, "memcpy/dir=h2d/size=1MiB");
  EXPECT_EQ(fails.found->value, 40);
  EXPECT_EQ(fails.cases, 3U);
  EXPECT_EQ(row(R"({"metric": "bandwidth", "at_most": "50 GB/s"})").key, "memcpy/dir=h2d/size=256MiB");
  const Row best = row(R"({"metric": "bandwidth", "at_least": "55 GB/s", "aggregate": "best"})");
  EXPECT_EQ(best.verdict, Verdict::holds);
  EXPECT_EQ(best.key, "memcpy/dir=h2d/size=256MiB");
  const Row median = row(R"({"metric": "bandwidth", "at_least": "54 GB/s", "aggregate": "median"})");
  EXPECT_EQ(median.verdict, Verdict::holds);
  EXPECT_EQ(median.found->value, 54);
  EXPECT_EQ(median.key, "");
}

TEST(Check, LimitsAreOfAllGpusTogether) {
  Report report = report_of_three();
  for (Result& r : report.results) {
    r.gpus = {0, 1};
    Measurement own = r.measurements.front();
    own.gpu = 1;
    own.median = 1;
    r.measurements.insert(r.measurements.begin(), own);
    r.metrics.insert(r.metrics.begin(), {"bandwidth", 1, "GB/s", 1});
  }
  EXPECT_EQ(row(R"({"metric": "bandwidth", "at_least": "40 GB/s"})", report).verdict, Verdict::holds);
  EXPECT_EQ(row(R"({"measurement": "copy", "at_most": "2us"})", report).verdict, Verdict::holds);
}

TEST(Check, LimitsMayBeOfMeasurementsAndSharesOfTheLinkTheMemoryOrAMetric) {
  const std::string large = R"("case": {"size": "256MiB"}, "metric": "bandwidth", )";
  const std::vector<std::pair<std::string, Verdict>> verdicts{
      {large + R"("at_least": "54 GB/s")", Verdict::holds},
      {large + R"("at_least": "54.1 GB/s", "aggregate": "median")", Verdict::holds},
      {large + R"("at_least": "55 GB/s", "aggregate": "median")", Verdict::fails},
      {large + R"("at_least": {"of": "link", "share": 0.93})", Verdict::holds},
      {large + R"("at_least": {"of": "link", "share": 0.95})", Verdict::fails},
      {large + R"("at_least": {"of": "memory", "share": 0.01})", Verdict::holds},
      {large + R"("at_least": {"of": "limit", "share": "90 %"})", Verdict::holds},
      {large + R"("at_least": {"of": "nothing", "share": 0.9})", Verdict::fails},  // no such metric
      {R"("metric": "of_limit", "at_least": 0.5)", Verdict::holds},
      {R"("measurement": "copy", "at_most": "2us")", Verdict::holds},
      {R"("measurement": "copy", "statistic": "min", "at_least": "0.5us")", Verdict::fails},
      {R"("measurement": "copy", "statistic": "max", "at_most": "2us")", Verdict::fails},
      {R"("measurement": "copy", "statistic": "p90", "at_most": "2us")", Verdict::no_case},
      {R"("measurement": "copy", "statistic": "p99", "at_most": "2us")", Verdict::no_case}};
  for (const auto& [expectation, verdict] : verdicts) {
    EXPECT_EQ(row("{" + expectation + "}").verdict, verdict) << expectation;
  }
  for (const char* limit : {"50", "\"50 us\"", R"({"of": "of_limit", "share": 1})"}) {
    EXPECT_THROW(row(R"({"metric": "bandwidth", "at_least": )" + std::string(limit) + "}"), UsageError) << limit;
  }
}

TEST(Check, CasesAreChosenByKeyScenarioAndAxes) {
  const auto cases = [](const std::string& which) {
    return row(R"({"metric": "bandwidth", "optional": true, "at_least": "1 GB/s", "case": )" + which + "}").cases;
  };
  EXPECT_EQ(cases("\"memcpy/dir=h2d/*\""), 2U);
  EXPECT_EQ(cases(R"({"scenario": "mem*"})"), 3U);
  EXPECT_EQ(cases(R"({"scenario": "overlap"})"), 0U);
  EXPECT_EQ(cases(R"({"dir": "d?h"})"), 1U);
  EXPECT_EQ(cases(R"({"dir": ["h2d", "d2h"], "size": "1MiB"})"), 1U);
  EXPECT_EQ(cases(R"({"size": "<256MiB"})"), 1U);
  EXPECT_EQ(cases(R"({"size": ">1MiB"})"), 2U);
  EXPECT_EQ(cases(R"({"size": 1048576})"), 1U);
}

TEST(Check, WhatConcernsNoCaseFailsUnlessItMay) {
  const Row none = row(R"({"case": "smem/*", "metric": "bandwidth", "at_least": "1 GB/s"})");
  EXPECT_EQ(none.verdict, Verdict::no_case);
  const Row misspelt = row(R"({"metric": "bandwith", "at_least": "1 GB/s"})");
  EXPECT_EQ(misspelt.note, "no matching case has 'bandwith'; did you mean 'bandwidth'?");
  const Row axis = row(R"({"case": {"dirr": "h2d"}, "metric": "bandwidth", "at_least": "1 GB/s"})");
  EXPECT_EQ(axis.note, "no case matches: no case has the axis 'dirr'; did you mean 'dir'?");
  const Checked optional = checked(R"({"case": "x", "metric": "bandwidth", "at_least": "1 GB/s", "optional": true})");
  EXPECT_EQ(optional.rows[0].verdict, Verdict::not_measured);
  EXPECT_FALSE(optional.all_hold()) << "nothing was looked at";
}

TEST(Check, OptionalExcusesCasesThatAreNotThereAndNothingElse) {
  const Row misspelt = row(R"({"metric": "bandwith", "optional": true, "at_least": "1 GB/s"})");
  EXPECT_EQ(misspelt.verdict, Verdict::no_case);
  EXPECT_EQ(misspelt.note, "no matching case has 'bandwith'; did you mean 'bandwidth'?");
  const auto refused = [](const std::string& size) {
    return R"({"case": {"dir": "h2d", "size": )" + size + R"(}, "metric": "bandwidth", "optional": true,
              "at_least": "1 GB/s"})";
  };
  EXPECT_THROW(row(refused(R"("256MIX")")), UsageError);
  EXPECT_THROW(row(refused(R"(["1MiB", "256 us"])")), UsageError);
  EXPECT_THROW(row(refused(R"("big")")), UsageError);
  EXPECT_EQ(row(refused(R"(["1MiB", "*"])")).cases, 2U);
  EXPECT_EQ(row(refused(R"("2MiB")")).verdict, Verdict::not_measured);
}

TEST(Check, EveryCaseIsOneWithoutTheNumberToo) {
  Report report = report_of_three();
  report.results[1].metrics.clear();
  const auto judged = [&](const std::string& aggregate) {
    return row(R"({"metric": "bandwidth", "at_least": "1 GB/s", "aggregate": ")" + aggregate + "\"}", report);
  };
  EXPECT_EQ(judged("every").verdict, Verdict::fails);
  EXPECT_EQ(judged("every").key, report.results[1].config.key());
  EXPECT_EQ(judged("every").note, "has no 'bandwidth'");
  EXPECT_EQ(judged("every").cases, 3U);
  EXPECT_EQ(judged("best").verdict, Verdict::holds);
  EXPECT_EQ(judged("median").verdict, Verdict::holds);
}

TEST(Check, ARunThatWasCutOffDoesNotPass) {
  Report report = report_of_three();
  report.complete = false;
  const std::array c{checked(R"({"metric": "bandwidth", "at_least": "1 GB/s"})", report)};
  EXPECT_EQ(c[0].count(Verdict::holds), 1U);
  EXPECT_FALSE(c[0].all_hold());
  EXPECT_TRUE(
      test::mentions(to_terminal(document_of(AllChecked(c)), Style{}), "; continue: xferbench --resume r.json\n"));
  report.command = {"xferbench", "tune", "overlap"};
  EXPECT_EQ(checked(R"({"metric": "bandwidth", "at_least": "1 GB/s"})", report).continued_by, "")
      << "a search begins anew";
}

TEST(Check, FailedCasesFailAndSkippedOnesDoNotCount) {
  Report report = report_of_three();
  report.results[0].status = Status::skipped;
  const std::string expectation = R"({"metric": "bandwidth", "at_least": "50 GB/s"})";
  EXPECT_EQ(row(expectation, report).verdict, Verdict::holds);
  report.results[0].status = Status::failed;
  report.results[0].reason = "wrong byte";
  const Row failed = row(expectation, report);
  EXPECT_EQ(failed.verdict, Verdict::fails);
  EXPECT_EQ(failed.note, "failed: wrong byte");
}

TEST(Check, RefusesOtherGpusAndSimulatedResults) {
  const std::string any = R"({"metric": "bandwidth", "at_least": "1 GB/s"})";
  Report other = report_of_three();
  other.environment.gpu.name = "NVIDIA A100";
  EXPECT_TRUE(
      test::mentions(test::message_of<UsageError>([&] { static_cast<void>(checked(any, other)); }), "is for '*H200'"));
  Report simulated = report_of_three();
  simulated.environment.backend = "simulated";
  simulated.environment.profile = "h200";
  EXPECT_TRUE(test::mentions(test::message_of<UsageError>([&] { static_cast<void>(checked(any, simulated)); }),
                             "--allow-simulated"));
  EXPECT_EQ(checked(any, simulated, true).simulated, "h200");
}

TEST(CheckReport, IsTheseTexts) {
  const std::array c{checked(R"({"name": "fast", "metric": "bandwidth", "at_least": "50 GB/s"},
                 {"name": "ratio", "metric": "of_limit", "at_least": 0.5, "aggregate": "median"},
                 {"name": "of the link", "metric": "bandwidth", "at_least": {"of": "link", "share": "60 %"}},
                 {"name": "time", "measurement": "copy", "at_most": "2500 ns", "at_least": "1 us"},
                 {"name": "other", "case": "x", "metric": "m", "at_least": 1, "optional": true},
                 {"name": "inside", "case": {"scenario": "memcpy", "dir": "d2d"}, "metric": "bandwidth",
                  "at_least": "2 TB/s", "optional": true})")};
  expect_golden("check/table.txt", to_terminal(document_of(AllChecked(c)), Style{}));
  expect_golden("check/markdown.md", to_markdown(document_of(AllChecked(c))));
  expect_golden("check/json.json", to_check_json(c));
}

TEST(CheckReport, OfSeveralFilesHasATableForEachAndOneSummary) {
  const std::string expectations =
      R"({"name": "fast", "metric": "bandwidth", "at_least": "30 GB/s"},
         {"name": "inside", "case": {"dir": "d2d"}, "metric": "bandwidth", "at_least": "2 TB/s", "optional": true},
         {"name": "out", "case": {"dir": "d2h"}, "metric": "bandwidth", "at_least": "1 GB/s", "optional": true})";
  Report slow = report_of_three();
  slow.results.pop_back();
  slow.results[0].metrics[0].value = 20;
  std::vector<Checked> two{checked(expectations), checked(expectations, slow)};
  two[1].results = "slow.json";
  EXPECT_FALSE(all_hold(two));
  const std::string table = to_terminal(document_of(AllChecked(two)), Style{});
  EXPECT_TRUE(test::mentions(table, "r.json: NVIDIA H200"));
  EXPECT_TRUE(test::mentions(table, "slow.json: NVIDIA H200"));
  EXPECT_TRUE(test::mentions(table, "2 files: 1 passes, 1 fails: slow.json\n"));
  EXPECT_TRUE(test::mentions(table, "Not measured in any file"));
  EXPECT_TRUE(test::mentions(table, "  inside        xferbench memcpy --dir d2d\n"));
  EXPECT_FALSE(test::contains(table, "  out           xferbench")) << "one of the files has it";
  const auto json = nlohmann::json::parse(to_check_json(two));
  EXPECT_EQ(json["files"][1]["results"], "slow.json");
  EXPECT_EQ(json["files"][1]["all_hold"], false);
  ASSERT_EQ(json["checks"].size(), 6U);
  EXPECT_EQ(json["checks"][3]["results"], "slow.json") << "each says which file it is about";
  EXPECT_TRUE(test::mentions(to_markdown(document_of(AllChecked(two))), "2 files: 1 passes, 1 fails: slow.json"));
}

TEST(Check, FoundNumbersAreInTheUnitOfTheirLimitAndSayHowFarInsideTheyAre) {
  const Row rate = row(R"({"case": {"size": "256MiB"}, "metric": "bandwidth", "at_least": "0.052 TB/s"})");
  EXPECT_EQ(rate.expected, "at least 0.052 TB/s");
  EXPECT_EQ(rate.shown, "0.05400 TB/s");
  EXPECT_NEAR(*rate.margin, 54.0 / 52 - 1, 1e-12);
  EXPECT_DOUBLE_EQ(rate.limit->value, 52);
  const Row time = row(R"({"measurement": "copy", "at_most": "1600 ns"})");
  EXPECT_EQ(time.shown, "2000 ns");
  EXPECT_NEAR(*time.margin, -0.25, 1e-12) << "outside";
  const Row share =
      row(R"({"case": {"size": "256MiB"}, "metric": "bandwidth", "at_least": {"of": "limit", "share": "90 %"}})");
  EXPECT_EQ(share.shown, "93.75 % (54.00 GB/s)");
  EXPECT_NEAR(share.limit->value, 0.9 * 57.6, 1e-9);
  const Row both =
      row(R"({"case": {"dir": "d2h"}, "metric": "bandwidth", "at_least": "40 GB/s", "at_most": "60 GB/s"})");
  EXPECT_NEAR(*both.margin, 0.1, 1e-12) << "of the limit that is nearer";
  const Row median = row(R"({"metric": "bandwidth", "at_least": "50 GB/s", "aggregate": "median"})");
  EXPECT_EQ(median.shown, "54.00 GB/s");
  EXPECT_NEAR(*median.margin, 0.08, 1e-12);
}

TEST(Check, RefusesUnknownUnitsAndListsTheKnownOnes) {
  for (const char* limit : {R"("at_least": "52 GBs")", R"("at_least": 52, "unit": "GBs")", R"("at_most": "52 GBs")"}) {
    // An unknown unit is an error even if the case was not measured: the limit could never hold.
    const std::string expectation = R"({"case": "x", "optional": true, "metric": "m", )" + std::string(limit) + "}";
    const std::string message = test::message_of<UsageError>([&] { static_cast<void>(checked(expectation)); });
    EXPECT_TRUE(test::mentions(message, "e.json: m of x: unknown unit 'GBs', expected one of s, ms, us, ns, MB/s,"));
    EXPECT_TRUE(test::mentions(message, "; did you mean 'GB/s'?"));
  }
  EXPECT_EQ(
      row(R"({"case": "x", "optional": true, "metric": "m", "at_least": "12 wheels"})",
          [] {
            Report report = report_of_three();
            report.metrics_declared["memcpy"] = {derived("wheels", "wheels", Better::higher, "declared in a file")};
            return report;
          }())
          .verdict,
      Verdict::not_measured);
}

TEST(Check, NamesTheCommandThatWouldMeasureWhatIsMissing) {
  const auto command = [](const std::string& which) {
    return row(R"({"metric": "bandwidth", "optional": true, "at_least": "1 GB/s", "case": )" + which + "}").command;
  };
  EXPECT_EQ(command(R"({"scenario": "memcpy", "dir": "d2h", "host": "page*", "size": ">=1GiB"})"),
            "xferbench memcpy --dir d2h --host pageable,pageable-huge --size 1GiB");
  EXPECT_EQ(command(R"({"dir": "d2h", "size": ["<512KiB", "2MB"]})"),
            "xferbench memcpy --dir d2h --size 256KiB,2000000B");
  EXPECT_EQ(command(R"("memcpy/dir=d2d/size=1GiB")"), "xferbench memcpy --dir d2d --size 1GiB");
  EXPECT_EQ(command(R"({"scenario": "memcpy", "dir": "d2d", "host": "pinned"})"), "") << "copies inside have no host";
  EXPECT_EQ(command(R"({"scenario": "elsewhere"})"), "");
  EXPECT_EQ(command(R"({"scenario": "memcpy", "dir": "up"})"), "");
  Report simulated = report_of_three();
  simulated.environment.backend = "simulated";
  simulated.environment.profile = "h200-one-engine";
  const std::string inside = R"({"case": {"dir": "d2d"}, "metric": "bandwidth", "at_least": "1 GB/s"})";
  EXPECT_EQ(checked(inside, simulated, true).rows[0].command, "xferbench memcpy --dir d2d --simulate h200-one-engine");
}

TEST(Check, CommandsForWhatWasNotMeasuredMeasureIt) {
  const Expectations h200 = read_expectations(XFERBENCH_SOURCE_DIR "/scenarios/expectations/h200.json");
  const Report quick = read_report(test::stored_result("h200-quick.json"));
  std::size_t commands = 0;
  for (const Row& missing : check(quick, "r.json", h200, {.scenarios = app::descriptors()}).rows) {
    if (missing.command.empty()) continue;
    ++commands;
    std::vector<std::string> words = test::words_of(missing.command);
    words.erase(words.begin());
    // Keep only the cases that the suggested command measures, without numbers. If the command missed the expectation,
    // the verdict would be "not measured" again.
    Report then = quick;
    then.results.clear();
    for (const PlannedCase& planned : test::cases_of(words)) then.results.emplace_back(planned.config);
    const std::vector<Row> rows = check(then, "r.json", h200, {.scenarios = app::descriptors()}).rows;
    EXPECT_EQ(std::ranges::find(rows, missing.name, &Row::name)->verdict, Verdict::no_case) << missing.command;
  }
  EXPECT_EQ(commands, 12U) << "every expectation that was not measured has one";
}

TEST(Check, WhatSeveralGpusReachMeetsNoLimitOfOne) {
  Report report = report_of_three();
  Result both = copy("h2d", 256 << 20, 110);
  both.config =
      both.config.with("size", std::array{*both.config.find("size"), Case::Param{"gpus", AxisKind::gpus, "0+1"}});
  report.results = {copy("h2d", 256 << 20, 40), both};
  const auto verdict = [&report](const std::string& which) {
    return checked(R"({"case": )" + which + R"(, "metric": "bandwidth", "at_least": "50 GB/s", "aggregate": "best"})",
                   report)
        .rows[0]
        .verdict;
  };
  EXPECT_EQ(verdict(R"({"dir": "h2d"})"), Verdict::fails);
  EXPECT_EQ(verdict(R"("memcpy/*")"), Verdict::fails);
  EXPECT_EQ(verdict(R"({"dir": "h2d", "gpus": "*"})"), Verdict::holds);
  EXPECT_EQ(verdict(R"("memcpy/*/gpus=0+1")"), Verdict::holds);
}

TEST(Check, NamesTheCommandForCasesOnSeveralGpus) {
  static const ScenarioDescriptor pipelines{
      .name = "pipelines",
      .summary = "on one GPU or several",
      .axes = {size_axis("size", {.defaults = "1M", .max = 1e12}), choice_axis("split", {"each", "shared"}, {})},
      .metrics = {derived("bandwidth", "GB/s", Better::higher, "payload over time")},
      .gpus = UsesGpus::one_or_several};
  static const std::vector<const ScenarioDescriptor*> scenarios{&copying(), &pipelines};
  const auto command = [](const std::string& which) {
    const std::string text =
        R"({"schema": "xferbench-expect/1", "expect": [{"metric": "bandwidth", "at_least": "1 GB/s", "case": )" +
        which + "}]}";
    return measuring_command(parse_expectations(text, "e.json").all.front(), scenarios);
  };
  EXPECT_EQ(command(R"("pipelines/size=8MiB/split=each/gpus=0+1")"),
            "xferbench pipelines --size 8MiB --split each --gpus 0,1");
  EXPECT_EQ(command(R"({"scenario": "pipelines", "gpus": ["4+0", "0+1+2"]})"), "xferbench pipelines --gpus 4,0");
  EXPECT_EQ(command(R"("pipelines/*/gpus=*")"), "xferbench pipelines --gpus all");
  EXPECT_EQ(command(R"("memcpy/dir=h2d/gpus=0+1")"), "") << "copies are of one GPU";
  EXPECT_EQ(command(R"("pipelines/gpus=both")"), "");
}

TEST(Check, FindsCasesThatAreNamedByTheirKeysWithoutLookingAtAll) {
  constexpr std::uint64_t kMany = 18'000;  // cases of each kind: check() would refuse to try all pairs
  Report report = report_of_three();
  Expectations expectations{.source = "e.json"};
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    report.results.push_back(copy("d2d", i, 50));
    const std::string key =
        i % 2 == 0 ? report.results.back().config.key() : "memcpy/of=others/size=" + std::to_string(i);
    Expectation& e = expectations.all.emplace_back();
    e.name = e.cases = key;
    e.number = "bandwidth";
    e.at_least = Limit{.amount = {.value = 1, .unit = "GB/s"}, .of = ""};
  }
  const Checked c = check(report, "r.json", expectations);
  EXPECT_EQ(c.count(Verdict::holds), kMany / 2);
  EXPECT_EQ(c.count(Verdict::no_case), kMany / 2);
}

TEST(Check, RefusesWhatWouldKeepItBusyForDays) {
  Report report = report_of_three();
  const std::string key(10'000, 'a');
  for (std::size_t i = 0; i < 100; ++i) {
    Case c("memcpy");
    c.set({.name = "dir", .kind = AxisKind::choice}, key + std::to_string(i));
    report.results.emplace_back(c);
  }
  std::string stars;
  for (std::size_t i = 0; i < 1000; ++i) stars += "*a";
  std::string all;
  for (std::size_t i = 0; i < 1000; ++i) {
    all += (i == 0 ? "" : ",") + std::string(R"({"case": ")") + stars + R"(b", "metric": "bandwidth", "at_least": 1})";
  }
  EXPECT_THROW(checked(all, report), UsageError);
}

}  // namespace
}  // namespace xferbench::check
