// Explanations as tables, Markdown and JSON.
#include "report/explain/explain_report.hpp"

#include <nlohmann/json.hpp>
#include <numeric>
#include <regex>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/units.hpp"
#include "explain/explain.hpp"
#include "paper/text.hpp"
#include "paper/writers.hpp"
#include "support/golden.hpp"
#include "support/schema.hpp"
#include "support/synthetic_recording.hpp"
#include "unit/explanations.hpp"
#include "unit/support.hpp"
#include "words/explain.hpp"
#include "words/explain_text.hpp"

namespace xferbench::explain {
namespace {

using recording::CopyKind;
using recording::Memory;
using test::expect_golden;

const Style kUsual{.columns = 100};

std::string drawn(const Explanation& explanation, bool all, const Style& style) {
  return to_terminal(document_of(explanation, {.all_processes = all,
                                               .all_copies = all,
                                               .whole_stacks = all,
                                               .bars = style.columns == 0 || style.columns >= 90 ? 30U : 0U}),
                     style);
}
std::string table(const Explanation& explanation, bool all = false) { return drawn(explanation, all, kUsual); }

TEST(ExplainReport, SaysWhatMendingATorchLoopGains) {
  expect_golden("explain/torch.txt", table(test::torch_loop()));
  expect_golden("explain/torch.md", to_markdown(document_of(test::torch_loop())));
  expect_golden("explain/torch.json", to_json(test::torch_loop()));
}

TEST(ExplainReport, IsReadableInNarrowTerminals) {
  const std::string text = drawn(test::torch_loop(), false, Style{.columns = 60});
  EXPECT_TRUE(test::mentions(text, "\nnot in 60 columns: each, total, pinned, size, reachable;"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(width(line), 60U) << line;
}

TEST(ExplainReport, PaintsWhatMattersWhereColoursAreWanted) {
  const std::string painted = drawn(test::torch_loop(), false, Style{.color = true, .columns = 100});
  EXPECT_EQ(std::regex_replace(painted, std::regex("\x1b\\[[0-9;]*m"), ""), table(test::torch_loop()));
  for (const char* part :
       {"\x1b[1mTransfers take 45 %", "\x1b[2mwhere the time went\x1b[0m", "\x1b[2m% of time\x1b[0m"}) {
    EXPECT_TRUE(test::mentions(painted, part));
  }
}

TEST(ExplainReport, SaysWhyGainsAreWithheld) {
  Explanation e = test::torch_loop();
  ProcessExplanation& process = e.processes.front();
  process.gains_unavailable = "the unchanged replay takes 40.2 ms, the program took 54.5 ms";
  process.window_summary.replayed = 40.2e-3;
  process.findings.clear();
  expect_golden("explain/withheld.txt", table(e));
  EXPECT_TRUE(
      test::mentions(to_markdown(document_of(e)), "**Transfers take 45 % of 53.0 ms; possible gains are unknown.**\n"));
}

TEST(ExplainReport, IsKindToProgramsWithoutAGpu) {
  Explanation e;
  e.command = {"./sort"};
  expect_golden("explain/no_gpu.txt", table(e));
  expect_golden("explain/no_gpu.md", to_markdown(document_of(e)));
  expect_golden("explain/no_gpu.json", to_json(e));
}

Explanation several_processes() {
  Explanation e = test::torch_loop();
  e.processes.push_back(test::fixed_loop().processes.front());
  e.processes.back().pid = 4712;
  e.processes.back().command = "python3 worker.py";
  e.processes.back().ending = "The process was killed: this analysis covers only the time before";
  return e;
}

TEST(ExplainReport, TellsOtherProcessesInALineEach) {
  EXPECT_EQ(table(several_processes()),
            table(test::torch_loop()) +
                "\nprocess 4712 (python3 worker.py): Transfers take 22 % of 22.4 ms; no "
                "fix found that gains more than\n  1 %.\n--all shows all processes in full\n");
  expect_golden("explain/several_all.txt", table(several_processes(), true));
  const std::string markdown = to_markdown(document_of(several_processes()));
  EXPECT_TRUE(test::mentions(markdown, "\n## python3 worker.py, process 4712"));
  EXPECT_TRUE(test::mentions(markdown, "The process was killed: this analysis covers only the time before"));
}

TEST(ExplainReport, MarksWhatIsSimulated) {
  Explanation e = test::fixed_loop();
  e.simulated = true;
  e.profile = "h200";
  e.limits_of.clear();
  e.warnings = {"the limits of this machine are 90 days old; --calibrate measures them anew"};
  EXPECT_TRUE(test::mentions(table(e), "\nwarning: the limits of this machine are 90 days old; --calibrate"));
  EXPECT_TRUE(test::mentions(table(e), "\nThis machine's limits are unknown: "));
  EXPECT_TRUE(table(e).starts_with("SIMULATED by profile h200"));
  EXPECT_TRUE(to_markdown(document_of(e)).find("**SIMULATED by profile h200") != std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(to_json(e))["profile"], "h200");
}

// --- Untrusted names from a recording -------------------------------------------------------------------------------

Explanation hostile() {
  const std::string evil =
      "a\x1b]0;renamed\x07|b\n# c <img src=x> [l](javascript:0) *d* \xC2\x9B"
      "31m\xFF";
  Explanation e = several_processes();
  e.profile = evil;
  e.simulated = true;
  e.limits_of = evil;
  e.warnings = {evil};
  for (ProcessExplanation& process : e.processes) {
    process.command = evil;
    process.gpus = {evil};
    process.ending = evil;
    process.notes = {evil};
    process.window_summary.range = evil;
    process.small_findings = 2;
  }
  Finding& first = e.processes.front().findings.front();
  first.what = first.fix = first.assumption = evil;
  first.place = {evil, evil, evil, evil, {evil, evil}};
  e.processes.back().gains_unavailable = evil;
  e.processes.front().timeline.spans.front().name = evil;
  return e;
}

TEST(ExplainReport, KeepsHostileNamesInTheirPlace) {
  for (const std::size_t columns : {60U, 100U}) {
    const std::string text = drawn(hostile(), true, Style{.columns = columns});
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_EQ(find_control(line).bytes, 0U) << line;
  }
  EXPECT_TRUE(test::mentions(drawn(hostile(), true, kUsual), "a?]0;renamed?"));
  const std::string markdown = to_markdown(document_of(hostile()));
  expect_golden("explain/hostile.md", markdown);
  EXPECT_EQ(markdown.find("<img"), std::string::npos);
  std::istringstream json(to_json(hostile()));
  for (std::string line; std::getline(json, line);) EXPECT_EQ(find_control(line).bytes, 0U) << line;
  EXPECT_TRUE(nlohmann::json::accept(to_json(hostile())));
}

// --- Numbers --------------------------------------------------------------------------------------------------------

TEST(ExplainReport, SharesAddUpToAWhole) {
  const std::vector<std::vector<double>> all{{1, 1, 1}, {1, 2, 3, 1e-9}, {0.3334, 0.3333, 0.3333}, {5}, {0, 7, 0}};
  for (const auto& parts : all) {
    const std::vector<int> tenths = explain_text::tenths_of_percent(parts);
    EXPECT_EQ(std::accumulate(tenths.begin(), tenths.end(), 0), 1000);
  }
  EXPECT_EQ(explain_text::tenths_of_percent({1, 1, 1}), (std::vector<int>{334, 333, 333}));
  EXPECT_EQ(explain_text::tenths_of_percent({0, 0}), (std::vector<int>{0, 0}));
}

TEST(ExplainReport, TimesHaveThreeDigits) {
  EXPECT_EQ(explain_text::time_text(53.02e-3), "53.0 ms");
  EXPECT_EQ(explain_text::time_text(1.7e-6), "1.70 us");
  EXPECT_EQ(explain_text::time_text(12345), "12345 s");
  EXPECT_EQ(explain_text::time_text(0), "0 ns");
  EXPECT_EQ(explain_text::time_text(999.96e-6), "1.00 ms");
  EXPECT_EQ(explain_text::change_text(53e-3, 31.2e-3), "53.0 -> 31.2 ms");
  EXPECT_EQ(explain_text::change_text(1.2, 0.9), "1.20 s -> 900 ms");
  EXPECT_EQ(explain_text::speedup_text(53, 31.2, true), "at most 1.7 times as fast");
  EXPECT_EQ(explain_text::speedup_text(53, 50, false), "about 1.06 times as fast");
  EXPECT_EQ(explain_text::share_text(0.004), "0.4 %");
}

TEST(ExplainReport, ARangeSaysWhatItsEndsAssume) {
  const Finding finding{
      .count = 64, .at_most = true, .seconds_after = 38e-3, .seconds_after_least = 20e-3, .work_around = 18e-3};
  EXPECT_EQ(
      explain_text::speedup_text(53e-3, finding),
      "1.4 to 2.6 times as fast (the more of the 18.0 ms of own work around these copies goes with them, the faster)");
  Finding by_cpu = finding;
  by_cpu.work_around = 0;
  EXPECT_EQ(explain_text::speedup_text(53e-3, by_cpu),
            "1.4 to 2.6 times as fast (the CPU copies faster in some processes than in others)");
}

TEST(ExplainReport, ThePlanHasTheTimeAfterEachFixThatGains) {
  ProcessExplanation process = test::torch_loop().processes.front();
  EXPECT_EQ(explain_text::plan_text(process),
            "One after the other, at best: now 53.0 ms; pageable 31.2 ms, result-wait 23.0 ms, no-overlap 19.1 ms");
  process.findings[2].kind = FindingKind::pageable;
  EXPECT_EQ(
      explain_text::plan_text(process),
      "One after the other, at best: now 53.0 ms; pageable (1.) 31.2 ms, result-wait 23.0 ms, pageable (3.) 19.1 ms");
  process.findings[2].kind = FindingKind::no_overlap;
  process.findings[1].seconds_after_all = 31.2e-3;
  process.findings[2].at_most = false;
  EXPECT_EQ(explain_text::plan_text(process), "One after the other: now 53.0 ms; pageable 31.2 ms, no-overlap 19.1 ms");
  process.findings.resize(2);
  EXPECT_EQ(explain_text::plan_text(process), "") << "one step is no plan";
}

TEST(ExplainReport, AFindingMayGainOnlyAfterThoseAboveIt) {
  ProcessExplanation process = test::torch_loop().processes.front();
  process.findings[1].seconds_after = process.window_summary.reference();
  EXPECT_EQ(explain_text::gain_text(process, 1),
            "53.0 -> 53.0 ms alone, but 31.2 -> 23.0 ms after the fixes above: about 1.4 times as fast");
  process.findings[1].seconds_after.reset();
  EXPECT_EQ(explain_text::gain_text(process, 1), "");
}

TEST(ExplainReport, SaysWhereInTheProgramSomethingIs) {
  using explain_text::place_text;
  EXPECT_EQ(place_text({}), "");
  EXPECT_EQ(place_text({.call = "cudaMemcpy", .range = "load"}), "cudaMemcpy in range load");
  EXPECT_EQ(place_text({.kernel_before = "a", .kernel_after = "b"}), "after kernel a and before b");
  EXPECT_EQ(place_text({.call = "cudaMemcpy", .kernel_after = "b"}), "cudaMemcpy before kernel b");
  EXPECT_EQ(place_text({.kernel_before = "a", .kernel_after = "a"}), "between runs of kernel a");
}

TEST(ExplainReport, TellsTheTimeWithWhatWasChosenMended) {
  Explanation e = test::torch_loop();
  EXPECT_EQ(table(e).find("chosen"), std::string::npos);
  e.processes.front().fixed = {"pageable", "setup"};
  e.processes.front().fixes_missing = {"setup"};
  e.processes.front().seconds_fixed = 26.5e-3;
  const std::string sentence = "With pageable fixed: 53.0 -> 26.5 ms, about 2.0 times as fast";
  EXPECT_NE(table(e).find(sentence), std::string::npos);
  EXPECT_NE(to_markdown(document_of(e)).find("With pageable fixed: 53.0 -> 26.5 ms"), std::string::npos);
}

// --- The JSON schema ------------------------------------------------------------------------------------------------

/// The explanation of a program that copies from pageable memory and waits each time.
Explanation of_recording() {
  SyntheticRecording made;
  const std::uint32_t s = made.stream(recording::StreamFlag::non_blocking);
  made.begin_range("steps");
  for (int step = 0; step < 8; ++step) {
    made.work(20e-6);
    made.copy(CopyKind::h2d, Memory::pageable, 4 * MiB, s);
    made.kernel("gemm", 200e-6, s);
    made.copy(CopyKind::d2h, Memory::pageable, 4, s);
    made.wait(s);
  }
  made.end_range();
  return test::of_machine(explain(made.finish(), SyntheticRecording::costs(), {}, std::nullopt, {.range = "steps"}));
}

TEST(ExplainReport, TellsOfARecording) {
  const Explanation e = of_recording();
  EXPECT_TRUE(test::mentions(table(e), "made, process 7, on Made GPU; range steps\n"));
  EXPECT_TRUE(test::mentions(table(e), "\nreplay without changes 5.41 ms: +0.0 %\n"));
  const nlohmann::json process = nlohmann::json::parse(to_json(e))["processes"][0];
  double whole = 0;
  for (const auto& [name, seconds] : process["shares"].items()) whole += seconds.get<double>();
  EXPECT_NEAR(whole, process["stretch"]["seconds"], 1e-9);
  EXPECT_EQ(process["cloud"].size(), 2U);
  EXPECT_GT(process["timeline"]["spans"].size(), 30U);
}

TEST(ExplainReport, IsReadAgainAsItWasWritten) {
  const std::string path = testing::TempDir() + "explain.json";
  for (const Explanation& e : {test::torch_loop(), several_processes(), of_recording(), Explanation{}}) {
    test::write_file(path, to_json(e));
    const Explanation again = read_explanation(path);
    EXPECT_EQ(to_json(again), to_json(e));
    EXPECT_EQ(to_html(document_of(again)), to_html(document_of(e)));
  }
  test::write_file(path, R"({"schema": "xferbench-explain/1", "command": 7})");
  EXPECT_TRUE(
      test::mentions(test::message_of<InputError>([&] { static_cast<void>(read_explanation(path)); }), "command"));
}

TEST(ExplainReport, IsDrawnOnPages) {
  const Explanation e = of_recording();
  const ProcessExplanation& process = e.processes.front();
  const Bars shares = explain_text::bars_of_shares(process.shares);
  double end = 0;
  for (const Bars::Bar& bar : shares.bars) {
    EXPECT_EQ(bar.begin, end) << "parts add up to the whole";
    end = bar.end;
  }
  EXPECT_NEAR(end, process.shares.total(), 1e-3 * end);
  const std::string page = to_html(document_of(e));
  for (const char* title : {"Where the time went", "Timeline", "Copies: rate over size"}) {
    EXPECT_TRUE(test::mentions(page, std::string("<figcaption>") + title)) << title;
  }
  EXPECT_FALSE(test::mentions(page, "where the time went</th>")) << "the bars have its numbers";
}

TEST(ExplainReport, HasTheLongestBarForTheLargestGain) {
  const Explanation e = test::torch_loop();
  ProcessExplanation process = e.processes.front();
  process.findings.resize(3, process.findings.front());
  process.findings[1].seconds_after = process.window_summary.reference() * 0.5;
  process.findings[2].seconds_after =
      process.window_summary.reference();  // no gain by itself, only after the other fixes
  process.findings[1].seconds_after_all = process.window_summary.reference() * 0.4;
  process.findings[2].seconds_after_all = process.window_summary.reference() * 0.3;
  const std::vector<Bars::Bar> bars = explain_text::bars_of_gains(process).bars;
  ASSERT_EQ(bars.size(), 3U);
  EXPECT_NEAR(bars[1].end, process.window_summary.reference() * 0.5, 1e-9);
  EXPECT_NEAR(bars[2].end, process.window_summary.reference() * 0.1, 1e-9);
  process.findings.resize(2);
  EXPECT_TRUE(explain_text::bars_of_gains(process).bars.empty()) << "two are compared by their numbers";
}

TEST(ExplainReport, JsonKeepsToItsSchema) {
  for (const Explanation& e : {test::torch_loop(), hostile(), Explanation{}, of_recording()}) {
    EXPECT_TRUE(test::text_keeps_to("explain-schema.json", to_json(e)));
  }
  nlohmann::json odd = nlohmann::json::parse(to_json(test::torch_loop()));
  odd["processes"][0]["shares"]["surprise"] = 1;
  EXPECT_FALSE(test::text_keeps_to("explain-schema.json", odd.dump())) << "what breaks the contract must be noticed";
}

}  // namespace
}  // namespace xferbench::explain
